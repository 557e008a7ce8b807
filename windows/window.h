/*
 * window: the events [start, end) of a trace with everything that the analyses of a window ask for.
 *
 * Scope (docs/semantics.md 5): the events before `start` happen as observed. What they leave behind
 * is carried in (carried.h): locks held, units of semaphores, last writes and values, threads
 * started; of BarrierPairs the edges inside the window are kept. Inside a window everything is
 * numbered densely from 0: events (event - start), threads, variables, locks, sections. All memory
 * belongs to the arena that the caller passes, so a window ends when its arena is reset.
 *
 * Knows the trace store; nothing of orders, encoder, solver.
 */
#ifndef MR_WINDOWS_WINDOW_H
#define MR_WINDOWS_WINDOW_H

#include "base/arena.h"
#include "base/model.h"
#include "carried.h"

/* A critical section as far as the window sees it: outermost acquire and release of a lock, or
 * outermost shared ones (racq, rrel). A thread may be in one of each kind of one lock. */
typedef struct mr_section {
    uint32_t lock : 31;
    uint32_t shared : 1; /* in the lock's word: a lock in heavy use has many sections */
    uint32_t thread;
    uint32_t acquire; /* window event; MR_NONE: held when the window starts */
    uint32_t release; /* window event; MR_NONE: not released inside the window */
} mr_section;

typedef struct mr_window_thread {
    uint32_t number;     /* in trace->threads */
    uint32_t first, end; /* its events are by_thread[first … end) */
    uint32_t fork;  /* window event that forks it; MR_NONE: runs already, or was never forked */
    uint32_t chain; /* trace/chains.h, numbered densely */
    uint32_t chain_first; /* how many events of the window its chain has before it */
} mr_window_thread;

typedef struct mr_window_variable {
    uint32_t number;                   /* in trace->variables */
    uint32_t writes_first, writes_end; /* writes[…], in trace order */
    uint32_t carried_value; /* value index that a read sees when no write of the window is before
                               it; 0: none or unknown, equals nothing */
    uint32_t free;          /* window event that frees its object; MR_NONE: none does */
    bool by_source;         /* reads must see the same write event (rf), not only the same value */
    bool shared; /* accessed by two threads of the window, with a write: the others constrain
                    nothing */
} mr_window_variable;

typedef struct mr_window_lock {
    uint32_t number;                       /* in trace->locks */
    uint32_t sections_first, sections_end; /* sections[…], by acquire, the carried ones first */
    uint32_t carried_end;                  /* the carried ones: [sections_first, carried_end) */
    bool contended;                        /* has sections in the window that exclude each other */
} mr_window_lock;

/* A counting semaphore; the names of locks and semaphores are numbered together. */
typedef struct mr_window_semaphore {
    uint32_t units;                  /* given and not taken when the window starts */
    uint32_t posts_first, posts_end; /* posts[…], in trace order */
    uint32_t waits_first, waits_end; /* waits[…], likewise */
    bool shared;                     /* two threads of the window use it: the others constrain
                                        nothing */
} mr_window_semaphore;

/* A set of contended locks and how they are held, interned: equal sets have equal numbers. Set 0 is
 * empty. */
typedef struct mr_lockset {
    const uint32_t *locks; /* 2 * lock, + 1: held shared and not exclusively; ascending; value locks
                              (value_locks.h, unit_locks.h, crossed_flags.h) from 2 * lock_count on */
    uint32_t count;
} mr_lockset;

struct mr_held;
struct mr_hidden;
struct mr_occupied;

typedef struct mr_window {
    const mr_trace *trace;
    mr_model model;
    uint32_t start, end; /* events of the trace */
    uint32_t size;       /* end - start */

    uint32_t thread_count, chain_count, variable_count, lock_count, section_count, lockset_count;
    uint32_t freed_count; /* variables with a `free` */
    mr_window_thread *threads;
    mr_window_variable *variables;
    mr_window_lock *locks;
    mr_window_semaphore *semaphores; /* one a lock */
    mr_section *sections;
    mr_lockset *locksets;
    uint32_t *posts, *waits;   /* grouped by semaphore, each group in trace order */
    uint32_t *by_thread;       /* events grouped by thread, each group in program order */
    uint32_t *writes;          /* writes (w aw au) grouped by variable, each in trace order */
    uint32_t *writes_by_value; /* the same groups, each ordered by (value, trace order) */

    /* The edges of BarrierPairs (opaque/barrier_pairs.h) between window events, in the order of
     * `to`. */
    mr_edge *barrier_edges;
    size_t barrier_edge_count;

    const struct mr_held *held; /* open sections of contended locks, by place: held.h */
    /* Writes that critical sections hide from reads: hidden.h; NULL: none are. */
    const struct mr_hidden *hidden;
    /* Values that a variable does not have while threads are inside value locks: occupied.h; NULL: there are none. */
    const struct mr_occupied *occupied;

    /* One entry an event. */
    uint32_t *thread;   /* thread of the window */
    uint32_t *position; /* index among the events of its thread in the window */
    /* Access: the variable. Outermost acquire or release, shared or not: the section. Post, wait:
     * the lock. Fork, join: the other thread, when it has events in the window. Else MR_NONE. */
    uint32_t *object;
    /* Read: the write of the window that it saw; MR_NONE: an earlier one, or none. */
    uint32_t *source;
    /* Access: the write before (after) it of the same variable by the same thread, in the window;
     * MR_NONE: none. */
    uint32_t *previous_write, *next_write;
    uint32_t *lockset; /* access, free: the contended locks that its thread holds */
    /* Access, free: the first release after it of a contended lock that is held at it; MR_NONE: none.
     * Between the access and this event no lock is given back that the access needs to be held. */
    uint32_t *region_end;
} mr_window;

/*
 * Builds the window [carried->next, end) for `model` with memory of `arena`. O(window events · log)
 * and independent of the size of the trace. `end` is at most the number of events.
 */
mr_status mr_window_build(mr_carried *carried, uint32_t end, mr_model model, mr_arena *arena,
                          mr_window **window, mr_error *error);

/* The index in window->barrier_edges of the first edge into `event` or a later one. O(log). */
size_t mr_window_barrier_edges_from(const mr_window *window, uint32_t event);

/* The section that an event enters or leaves; NULL: it does neither. */
static inline const mr_section *mr_window_section(const mr_window *window, uint32_t event)
{
    uint8_t op = window->trace->op[window->start + event];
    return MR_OP_DOES(op, MR_ACQUIRES | MR_RELEASES) && window->object[event] != MR_NONE
               ? &window->sections[window->object[event]]
               : NULL;
}

/* Do two sections of one lock exclude each other: by different threads, not both shared? */
static inline bool mr_sections_exclude(const mr_section *one, const mr_section *other)
{
    return one->thread != other->thread && !(one->shared && other->shared);
}

/* Operation of a window event. */
static inline uint8_t mr_window_op(const mr_window *window, uint32_t event)
{
    return window->trace->op[window->start + event];
}

/* Value index that a read saw, that a write wrote; an atomic update is both. 0: unknown. */
static inline uint32_t mr_window_read_value(const mr_window *window, uint32_t event)
{
    return mr_trace_read_value(window->trace, window->start + event);
}

static inline uint32_t mr_window_written_value(const mr_window *window, uint32_t event)
{
    return mr_trace_written_value(window->trace, window->start + event);
}

/* The free that may not come before the access in a reordering, because it comes after it in the
 * trace (rule 7 of docs/semantics.md 2); MR_NONE: there is none in the window, or `event` is no
 * access. */
static inline uint32_t mr_window_end_of_life(const mr_window *window, uint32_t event)
{
    if (!window->freed_count || !mr_op_is_access(mr_window_op(window, event)))
        return MR_NONE;
    uint32_t end = window->variables[window->object[event]].free;
    return end != MR_NONE && event < end ? end : MR_NONE;
}

/* Model branch: must every read of the thread before this event be consistent, when the event is in
 * a reordering (docs/semantics.md 2.6)? */
static inline bool mr_binds_reads(const mr_window *window, uint32_t event)
{
    return mr_op_binds(mr_window_op(window, event));
}

/* The k-th event of a thread, and how many it has. */
static inline uint32_t mr_window_at(const mr_window *window, uint32_t thread, uint32_t position)
{
    return window->by_thread[window->threads[thread].first + position];
}

static inline uint32_t mr_window_length(const mr_window *window, uint32_t thread)
{
    return window->threads[thread].end - window->threads[thread].first;
}

/* Does the thread begin after the event, by forks? */
static inline bool mr_window_begins_after(const mr_window *window, uint32_t thread, uint32_t event)
{
    uint32_t fork = window->threads[thread].fork;
    while (fork != MR_NONE && fork > event && window->thread[fork] != window->thread[event])
        fork = window->threads[window->thread[fork]].fork;
    return fork != MR_NONE && fork > event;
}

/* Are two threads in one chain? */
static inline bool mr_window_same_chain(const mr_window *window, uint32_t one, uint32_t other)
{
    return window->threads[one].chain == window->threads[other].chain;
}

/* Index of the event among the events of its chain in the window. */
static inline uint32_t mr_window_chain_position(const mr_window *window, uint32_t event)
{
    return window->threads[window->thread[event]].chain_first + window->position[event];
}

#endif
