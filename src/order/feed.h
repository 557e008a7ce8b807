/*
 * feed: what the streaming orders have in common: the detector's state, and the loop over a run of
 * events, which each order completes by what it does at an access and at a synchronisation. Private
 * to detect.c and the orders.
 *
 * The loop is inlined into each order four times, with and without an outlook, with and without
 * objects, so that an access that an outlook says to be of no interest costs one byte looked up, and
 * no call, and traces without objects pay nothing for them.
 */
#ifndef MR_ORDER_FEED_H
#define MR_ORDER_FEED_H

#include "c17.h"
#include "detector.h"
#include "edges.h"
#include "hybrid.h"
#include "lives.h"
#include "variable.h"
#include "wcp.h"

/* What c17 keeps beside the order in `wcp.hb` and `edges`, which is its own. */
typedef struct mr_c17_feeding {
    mr_c17 order;
    mr_wcp shb; /* shb.hb alone: the order of SHB */
    mr_edges edges;
    mr_lives lives;
} mr_c17_feeding;

struct mr_detector {
    mr_relation relation;
    mr_detect_options options;
    mr_wcp wcp; /* hb, fhb, shb, c17 and hybrid use wcp.hb alone */
    mr_edges edges;
    mr_c17_feeding c17;
    mr_lock_sets lock_sets; /* hybrid */
    mr_lives lives;
    struct mr_screen *screen; /* the screen (screen.h) whose detector this is, else NULL */
    mr_variables variables;
    mr_race_list list;
    bool knows_calls;  /* their edges, or that they do not count */
    bool knows_allocs; /* their edges are among those of the calls */
    bool failed;
};

/* MR_FEED_UNKNOWN: the event is a call or about an object, and what it orders is not known. */
typedef enum mr_feed_stop { MR_FEED_DONE, MR_FEED_NO_MEMORY, MR_FEED_UNKNOWN } mr_feed_stop;

/* Why the loop ended, and before which row. */
typedef struct mr_feed_end {
    mr_feed_stop stop;
    uint32_t row;
} mr_feed_end;

/* One for each order. The numbers in `events` are within what the detector was grown to. */
mr_feed_end mr_hb_feed(mr_detector *detector, const mr_events *events);
mr_feed_end mr_screen_feed_run(mr_detector *detector, const mr_events *events);
mr_feed_end mr_fhb_feed(mr_detector *detector, const mr_events *events);
mr_feed_end mr_shb_feed(mr_detector *detector, const mr_events *events);
mr_feed_end mr_wcp_feed(mr_detector *detector, const mr_events *events);
mr_feed_end mr_c17_feed(mr_detector *detector, const mr_events *events);
mr_feed_end mr_hybrid_feed(mr_detector *detector, const mr_events *events);

bool mr_c17_feed_fence(mr_detector *detector, uint32_t thread, mr_memory_order order);

/* NULL: no memory. */
static inline mr_variable *mr_detector_variable(mr_detector *detector, uint32_t variable)
{
    return detector->options.outlook ? mr_variables_find(&detector->variables, variable)
                                     : mr_variables_get(&detector->variables, variable);
}

/* Before a plain access is judged: a write ends the edges from atomic ones. */
static inline void mr_detector_plain(mr_detector *detector, const mr_access *access,
                                     const mr_variable *variable)
{
    if (mr_op_writes(access->op) && variable->is_atomic)
        mr_edges_plain_write(&detector->edges, &detector->wcp, access->variable);
}

/* Skips the variables of an object that cannot have races: `variable` + 1 or a later one of the
 * list, 0: there is none. */
static inline uint32_t mr_detector_contended(const mr_detector *detector, uint32_t variable)
{
    const mr_outlook *outlook = detector->options.outlook;
    while (outlook && variable && !outlook->contended[variable - 1])
        variable = mr_lives_next(&detector->lives, variable);
    return variable;
}

/* The contended variables of an object, + 1, 0: no more. */
static inline uint32_t mr_detector_first_freed(const mr_detector *detector, uint32_t object)
{
    return mr_detector_contended(detector, mr_lives_first(&detector->lives, object));
}

static inline uint32_t mr_detector_next_freed(const mr_detector *detector, uint32_t variable)
{
    return mr_detector_contended(detector, mr_lives_next(&detector->lives, variable));
}

/* The free as an access of one of these variables. */
static inline mr_access mr_free_of(const mr_access *access, uint32_t variable)
{
    mr_access one = *access;
    one.variable = variable - 1;
    return one;
}

/* A write of each variable of the object. `ends`: no access before it races with one after it (rule
 * 7 of docs/semantics.md 2). False: no memory. */
static inline bool mr_feed_write_freed(mr_detector *detector, const mr_access *access, bool ends)
{
    const mr_hb_thread *thread = &detector->wcp.hb.threads[access->thread];
    uint32_t at = mr_detector_first_freed(detector, access->variable);
    for (; at; at = mr_detector_next_freed(detector, at)) {
        mr_access one = mr_free_of(access, at);
        mr_variable *variable = mr_detector_variable(detector, one.variable);
        if (!variable || !mr_variable_free(&detector->variables, variable, &one,
                                           (mr_knowledge){{thread->clock, NULL}}, thread->local,
                                           ends, &detector->list))
            return false;
    }
    return true;
}

#define MR_INLINE static inline __attribute__((always_inline))

/* What an order does; false: no memory. */
typedef bool mr_access_step(mr_detector *detector, const mr_access *access);
/* An atomic access. It may order events even when its variable is not contended. */
typedef bool mr_atomic_step(mr_detector *detector, const mr_access *access, bool contended);
typedef bool mr_sync_step(mr_detector *detector, mr_op op, uint32_t thread, uint32_t operand);
/* A free, with the object in the place of the variable. */
typedef bool mr_free_step(mr_detector *detector, const mr_access *access);

/* The synchronisation of happens-before: acquires and releases come outermost only. */
MR_INLINE bool mr_feed_hb_sync(mr_detector *detector, mr_op op, uint32_t thread, uint32_t operand)
{
    return mr_hb_sync(&detector->wcp.hb, op, thread, operand);
}

/* A racq or rrel; at_sync gets the outermost ones. */
MR_INLINE bool mr_feed_shared(mr_detector *detector, mr_op op, uint32_t thread, uint32_t lock,
                              mr_sync_step *at_sync)
{
    mr_hb *hb = &detector->wcp.hb;
    bool outermost;
    if (!(mr_op_acquires((uint8_t)op) ? mr_hb_enters_shared(hb, thread, lock, &outermost)
                                      : mr_hb_leaves_shared(hb, thread, lock, &outermost)))
        return false;
    return !outermost || at_sync(detector, op, thread, lock);
}

/* Units of semaphores; a fence. */
static inline bool mr_feed_post(mr_detector *detector, uint32_t thread, uint32_t semaphore)
{
    mr_c17_feeding *c17 = &detector->c17;
    return mr_edges_post(&detector->edges, &detector->wcp, thread, semaphore) &&
           (detector->relation != MR_RELATION_C17 ||
            mr_edges_post(&c17->edges, &c17->shb, thread, semaphore));
}

static inline bool mr_feed_wait(mr_detector *detector, uint32_t thread, uint32_t semaphore)
{
    mr_c17_feeding *c17 = &detector->c17;
    return mr_edges_wait(&detector->edges, &detector->wcp, thread, semaphore) &&
           (detector->relation != MR_RELATION_C17 ||
            mr_edges_wait(&c17->edges, &c17->shb, thread, semaphore));
}

/* The alloc of an object; an event that is about it, or about a variable. */
static inline void mr_feed_alloc(mr_detector *detector, uint32_t thread, uint32_t object)
{
    mr_c17_feeding *c17 = &detector->c17;
    mr_lives_alloc(&detector->lives, &detector->wcp, thread, object);
    if (detector->relation == MR_RELATION_C17)
        mr_lives_alloc(&c17->lives, &c17->shb, thread, object);
}

static inline bool mr_feed_free(mr_detector *detector, uint32_t thread, uint32_t object)
{
    mr_c17_feeding *c17 = &detector->c17;
    return mr_lives_follow(&detector->lives, &detector->wcp, thread, object) &&
           (detector->relation != MR_RELATION_C17 ||
            mr_lives_follow(&c17->lives, &c17->shb, thread, object));
}

static inline bool mr_feed_member(mr_detector *detector, uint32_t thread, uint32_t variable)
{
    mr_c17_feeding *c17 = &detector->c17;
    return mr_lives_access(&detector->lives, &detector->wcp, thread, variable) &&
           (detector->relation != MR_RELATION_C17 ||
            mr_lives_access(&c17->lives, &c17->shb, thread, variable));
}

/* How many events before an access its variable is asked for, where every access needs it: about
 * what main memory takes. Where an outlook lets most be skipped, asking costs more than waiting. */
enum { AHEAD = 16 };

/* An alloc or a free, with the object in the place of the variable. */
MR_INLINE bool mr_feed_life(mr_detector *detector, const mr_access *access, mr_free_step *at_free)
{
    uint32_t thread = access->thread, object = access->variable;
    if (mr_op_starts_life(access->op)) {
        if (!detector->knows_allocs)
            mr_feed_alloc(detector, thread, object);
        return true;
    }
    bool done = mr_feed_free(detector, thread, object) && at_free(detector, access);
    detector->lives.first[object] = (uint32_t)MR_LIVES_OVER;
    return done;
}

/* Any operation but r and w. */
MR_INLINE mr_feed_stop mr_feed_operation(mr_detector *detector, const mr_events *events,
                                         uint32_t row, bool has_outlook, mr_atomic_step *at_atomic,
                                         mr_sync_step *at_sync, mr_free_step *at_free)
{
    const uint8_t *contended = has_outlook ? detector->options.outlook->contended : NULL;
    const uint8_t *shared = has_outlook ? detector->options.outlook->lock_shared : NULL;
    const uint8_t *orders = events->memory_order;
    uint8_t op = events->op[row];
    uint32_t thread = events->thread[row], operand = events->operand[row];
    bool ok = true;
    switch ((mr_op)op) {
    case MR_OP_ACQUIRE:
        if ((!has_outlook || shared[operand]) && mr_hb_enters(&detector->wcp.hb, operand))
            ok = at_sync(detector, MR_OP_ACQUIRE, thread, operand);
        break;
    case MR_OP_RELEASE:
        if ((!has_outlook || shared[operand]) && mr_hb_leaves(&detector->wcp.hb, operand))
            ok = at_sync(detector, MR_OP_RELEASE, thread, operand);
        break;
    case MR_OP_SHARED_ACQUIRE:
    case MR_OP_SHARED_RELEASE:
        if (!has_outlook || shared[operand])
            ok = mr_feed_shared(detector, (mr_op)op, thread, operand, at_sync);
        break;
    case MR_OP_FORK:
        ok = at_sync(detector, MR_OP_FORK, thread, operand);
        break;
    case MR_OP_JOIN:
        ok = at_sync(detector, MR_OP_JOIN, thread, operand);
        break;
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE: {
        mr_access access = {events->first + row, thread, operand, events->location[row], op, 0};
        access.memory_order = orders ? orders[row] : MR_ORDER_SC;
        ok = at_atomic(detector, &access, !has_outlook || contended[operand]);
        break;
    }
    case MR_OP_POST:
        ok = mr_feed_post(detector, thread, operand);
        break;
    case MR_OP_WAIT:
        ok = mr_feed_wait(detector, thread, operand);
        break;
    case MR_OP_CALL_BEGIN:
        if (!detector->knows_calls)
            return MR_FEED_UNKNOWN;
        break;
    case MR_OP_ALLOC:
    case MR_OP_FREE: {
        mr_access access = {events->first + row, thread, operand, events->location[row], op, 0};
        if (!events->knows_members)
            return MR_FEED_UNKNOWN;
        ok = mr_feed_life(detector, &access, at_free);
        break;
    }
    case MR_OP_READ:
    case MR_OP_WRITE:
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_CALL_END:
    case MR_OP_BRANCH:
    case MR_OP_DEREF:
        break;
    case MR_OP_FENCE:
        if (detector->relation == MR_RELATION_C17)
            ok = mr_c17_feed_fence(detector, thread,
                                   (mr_memory_order)(orders ? orders[row] : MR_ORDER_SC));
        break;
    }
    return ok ? MR_FEED_DONE : MR_FEED_NO_MEMORY;
}

MR_INLINE mr_feed_end mr_feed_loop(mr_detector *detector, const mr_events *events, bool has_outlook,
                                   bool has_allocs, mr_access_step *at_access,
                                   mr_atomic_step *at_atomic, mr_sync_step *at_sync,
                                   mr_free_step *at_free)
{
    const uint8_t *ops = events->op;
    const uint32_t *operands = events->operand, *threads = events->thread;
    const uint32_t *locations = events->location;
    const uint8_t *contended = has_outlook ? detector->options.outlook->contended : NULL;
    uint32_t count = events->count, row;
    for (row = 0; row < count; row++) {
        uint8_t op = ops[row];
        uint32_t operand = operands[row];
        if (!has_outlook && row + AHEAD < count && mr_op_is_plain(ops[row + AHEAD]))
            __builtin_prefetch(mr_variables_get(&detector->variables, operands[row + AHEAD]));
        if (has_allocs && mr_op_is_access(op) && !mr_feed_member(detector, threads[row], operand))
            return (mr_feed_end){MR_FEED_NO_MEMORY, row};
        /* Before the switch: most events end here. */
        if (mr_op_is_plain(op)) {
            if (has_outlook && !contended[operand])
                continue;
            mr_access access = {events->first + row, threads[row], operand, locations[row], op, 0};
            if (!at_access(detector, &access))
                return (mr_feed_end){MR_FEED_NO_MEMORY, row};
            continue;
        }
        mr_feed_stop stop =
            mr_feed_operation(detector, events, row, has_outlook, at_atomic, at_sync, at_free);
        if (stop != MR_FEED_DONE)
            return (mr_feed_end){stop, row};
    }
    return (mr_feed_end){MR_FEED_DONE, count};
}

/* The loop, made once for each of what may be known or not. */
MR_INLINE mr_feed_end mr_feed(mr_detector *detector, const mr_events *events,
                              mr_access_step *at_access, mr_atomic_step *at_atomic,
                              mr_sync_step *at_sync, mr_free_step *at_free)
{
    bool has_allocs = !detector->knows_allocs && detector->lives.member_capacity;
    if (detector->options.outlook)
        return has_allocs ? mr_feed_loop(detector, events, true, true, at_access, at_atomic,
                                         at_sync, at_free)
                          : mr_feed_loop(detector, events, true, false, at_access, at_atomic,
                                         at_sync, at_free);
    return has_allocs
               ? mr_feed_loop(detector, events, false, true, at_access, at_atomic, at_sync, at_free)
               : mr_feed_loop(detector, events, false, false, at_access, at_atomic, at_sync,
                              at_free);
}

#endif
