#include "replay.h"

#include "base/assert.h"
#include "base/huge.h"
#include "trace/columns.h"

#include <stdlib.h>
#include <string.h>

static uint64_t share_key(const mr_trace *trace, uint32_t event)
{
    return (uint64_t)trace->operand[event] << 32 | trace->thread[event];
}

/* The depth at which the thread of a racq or rrel shares the lock; every racq has one. */
static uint32_t *share_depth(const mr_replay *r, uint32_t event)
{
    return &r->share_depths[mr_keys_find(&r->share_numbers, share_key(r->trace, event))];
}

uint32_t mr_replay_share_depth(const mr_replay *r, uint32_t event)
{
    return *share_depth(r, event);
}

bool mr_replay_shares(const mr_replay *r, uint32_t lock, uint32_t thread)
{
    return r->share_depths[mr_keys_find(&r->share_numbers, (uint64_t)lock << 32 | thread)] > 0;
}

static void share_up(mr_replay *r, uint32_t event)
{
    if (!(*share_depth(r, event))++)
        r->locks[r->trace->operand[event]].sharers++;
}

static void share_down(mr_replay *r, uint32_t event)
{
    uint32_t *depth = share_depth(r, event);
    MR_ASSERT(*depth > 0);
    if (!--*depth)
        r->locks[r->trace->operand[event]].sharers--;
}

static void own_up(mr_replay *r, uint32_t event)
{
    mr_lock_now *lock = &r->locks[r->trace->operand[event]];
    MR_ASSERT(!lock->depth || lock->owner == r->trace->thread[event]);
    lock->owner = r->trace->thread[event];
    lock->depth++;
}

static void own_down(mr_replay *r, uint32_t event)
{
    mr_lock_now *lock = &r->locks[r->trace->operand[event]];
    MR_ASSERT(lock->depth > 0 && lock->owner == r->trace->thread[event]);
    lock->depth--;
}

/* What the event does to locks, semaphores and variables. */
static void apply(mr_replay *r, uint32_t event)
{
    const mr_trace *trace = r->trace;
    uint32_t thread = trace->thread[event], operand = trace->operand[event];
    switch ((mr_op)trace->op[event]) {
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
        r->variables[operand] = (mr_variable_now){event, r->diverged[thread] != MR_NONE};
        break;
    case MR_OP_ACQUIRE:
        own_up(r, event);
        break;
    case MR_OP_RELEASE:
        own_down(r, event);
        break;
    case MR_OP_SHARED_ACQUIRE:
        share_up(r, event);
        break;
    case MR_OP_SHARED_RELEASE:
        share_down(r, event);
        break;
    case MR_OP_POST:
        r->locks[operand].units++;
        break;
    case MR_OP_WAIT:
        MR_ASSERT(r->locks[operand].units > 0);
        r->locks[operand].units--;
        break;
    case MR_OP_READ:
    case MR_OP_ATOMIC_READ:
    case MR_OP_FORK:
    case MR_OP_JOIN:
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
    case MR_OP_BRANCH:
    case MR_OP_ALLOC:
    case MR_OP_FREE:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        break;
    }
}

static void step(mr_replay *r, uint32_t event)
{
    uint32_t thread = r->trace->thread[event];
    MR_ASSERT(r->next[thread] == event); /* what has happened is a prefix of each thread */
    r->next[thread] = r->following[event - r->from];
    apply(r, event);
}

static void unapply(mr_replay *r, uint32_t event)
{
    const mr_trace *trace = r->trace;
    uint32_t thread = trace->thread[event], operand = trace->operand[event];
    MR_ASSERT(r->next[thread] == r->following[event - r->from]);
    r->next[thread] = event;
    if (r->diverged[thread] == event)
        r->diverged[thread] = MR_NONE;
    switch ((mr_op)trace->op[event]) {
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
        MR_ASSERT(r->replaced_count > 0);
        r->variables[operand] = r->replaced[--r->replaced_count];
        break;
    case MR_OP_ACQUIRE:
        own_down(r, event);
        break;
    case MR_OP_RELEASE:
        own_up(r, event);
        break;
    case MR_OP_SHARED_ACQUIRE:
        share_down(r, event);
        break;
    case MR_OP_SHARED_RELEASE:
        share_up(r, event);
        break;
    case MR_OP_POST:
        r->locks[operand].units--;
        break;
    case MR_OP_WAIT:
        r->locks[operand].units++;
        break;
    case MR_OP_READ:
    case MR_OP_ATOMIC_READ:
    case MR_OP_FORK:
    case MR_OP_JOIN:
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
    case MR_OP_BRANCH:
    case MR_OP_ALLOC:
    case MR_OP_FREE:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        break;
    }
}

static void reset(mr_replay *r)
{
    const mr_trace *trace = r->trace;
    for (uint32_t t = 0; t < trace->threads.count; t++)
        r->next[t] = r->by_window ? 0 : r->first_event[t];
    memset(r->locks, 0, trace->locks.count * sizeof *r->locks);
    memset(r->share_depths, 0, ((size_t)r->share_numbers.count + 1) * sizeof *r->share_depths);
    for (uint32_t x = 0; x < trace->variables.count; x++)
        r->variables[x] = (mr_variable_now){MR_NONE, false};
    r->base = 0;
}

/* The same as `own_up` and `own_down` of an event as observed: its thread has the lock before a release. */
static inline void own(mr_replay *r, uint32_t event, bool acquires)
{
    mr_lock_now *lock = &r->locks[r->trace->operand[event]];
    MR_ASSERT(!lock->depth ? acquires : lock->owner == r->trace->thread[event]);
    lock->owner = r->trace->thread[event];
    lock->depth += acquires ? 1u : UINT32_MAX;
}

/* The same as `apply` of the events to `end`, as observed. Whether a plain access reads or writes is not a branch, which
 * would often be guessed wrong; nor is whether a lock is acquired or released. */
static void apply_to(mr_replay *r, uint32_t end)
{
    const mr_trace *trace = r->trace;
    for (uint32_t event = r->base; event < end; event++) {
        uint8_t op = trace->op[event];
        if (op == MR_OP_ACQUIRE || op == MR_OP_RELEASE) {
            own(r, event, op == MR_OP_ACQUIRE);
            continue;
        }
        if (!mr_op_is_plain(op)) {
            apply(r, event);
            continue;
        }
        mr_variable_now unused, *now = &r->variables[trace->operand[event]];
        *(mr_op_writes(op) ? now : &unused) = (mr_variable_now){event, false};
    }
    r->base = end;
}

void mr_replay_seek(mr_replay *r, uint32_t window_start)
{
    MR_REQUIRE(!r->done_count && window_start <= r->trace->event_count);
    if (window_start < r->base)
        reset(r);
    while (r->base < window_start && !r->by_window)
        step(r, r->base++);
    if (r->base < window_start)
        apply_to(r, window_start);
}

bool mr_replay_open(mr_replay *r, uint32_t window_end)
{
    const mr_trace *trace = r->trace;
    void *following = r->following;
    MR_REQUIRE(r->by_window && !r->done_count && r->base <= window_end &&
               window_end <= trace->event_count);
    if (!mr_huge_grow(&following, &r->following_room, window_end - r->base + 1ull,
                      sizeof *r->following))
        return false;
    r->following = following;
    r->from = r->base;
    r->end = window_end;
    for (uint32_t t = 0; t < trace->threads.count; t++)
        r->next[t] = window_end;
    for (uint32_t e = window_end; e-- > r->from;) {
        r->following[e - r->from] = r->next[trace->thread[e]];
        r->next[trace->thread[e]] = e;
    }
    return true;
}

/* For one more event. */
static bool make_room(mr_replay *r)
{
    void *done = r->done, *replaced = r->replaced;
    bool ok = r->done_count < r->done_capacity ||
              mr_huge_grow(&done, &r->done_capacity, r->done_count + 1, sizeof *r->done);
    r->done = done;
    ok = ok && (r->replaced_count < r->replaced_capacity ||
                mr_huge_grow(&replaced, &r->replaced_capacity, r->replaced_count + 1,
                             sizeof *r->replaced));
    r->replaced = replaced;
    return ok;
}

bool mr_replay_do(mr_replay *r, uint32_t event, bool diverges)
{
    const mr_trace *trace = r->trace;
    MR_REQUIRE(event >= r->base && event < trace->event_count);
    uint32_t thread = trace->thread[event];
    if (!make_room(r))
        return false;
    r->done[r->done_count++] = event;
    if (mr_op_writes(trace->op[event]))
        r->replaced[r->replaced_count++] = r->variables[trace->operand[event]];
    if (diverges && r->diverged[thread] == MR_NONE)
        r->diverged[thread] = event;
    step(r, event);
    return true;
}

void mr_replay_take_back(mr_replay *r)
{
    while (r->done_count > 0)
        unapply(r, r->done[--r->done_count]);
}

bool mr_replay_is_at(const mr_replay *r, uint32_t event)
{
    for (uint32_t t = 0; t < r->trace->threads.count; t++)
        if (r->next[t] < event || r->diverged[t] != MR_NONE)
            return false;
    return !r->done_count && r->base == event;
}

/* Is there a fork, or a shared acquire or release, among so many operations? Without a branch for each: the compiler makes vectors of
 * the loop. */
enum { AT_ONCE = 64 };

static bool are_all_common(const uint8_t *ops)
{
    _Static_assert(MR_OP_SHARED_RELEASE == MR_OP_SHARED_ACQUIRE + 1 &&
                       MR_OP_FORK == MR_OP_SHARED_ACQUIRE + 2,
                   "one after the other");
    uint8_t seen = 0;
    for (uint32_t i = 0; i < AT_ONCE; i++)
        seen |= (uint8_t)(ops[i] - MR_OP_SHARED_ACQUIRE) <= MR_OP_FORK - MR_OP_SHARED_ACQUIRE;
    return !seen;
}

/* False: no memory. */
static bool index_events(mr_replay *r)
{
    const mr_trace *trace = r->trace;
    for (uint32_t t = 0; t < trace->threads.count; t++)
        r->first_event[t] = r->fork[t] = MR_NONE;
    /* Backwards, so that `first_event` is at each point the next one of the thread, and the first
     * fork stays. */
    for (uint32_t e = trace->event_count; e-- > 0;) {
        uint32_t number;
        mr_trace_pass(trace, e);
        if (r->by_window && e % (1u << 16) >= AT_ONCE &&
            are_all_common(trace->op + e + 1 - AT_ONCE)) {
            e -= AT_ONCE - 1;
            continue;
        }
        if (!r->by_window) {
            r->following[e] = r->first_event[trace->thread[e]];
            r->first_event[trace->thread[e]] = e;
        }
        uint8_t op = trace->op[e];
        if (!MR_OP_DOES(op, MR_FORKS | MR_SHARED)) /* first, as these are rare */
            continue;
        if (mr_op_forks(op))
            r->fork[trace->operand[e]] = e;
        if (MR_OP_DOES_ALL(op, MR_ACQUIRES | MR_SHARED) &&
            !mr_keys_add(&r->share_numbers, share_key(trace, e), &number))
            return false;
    }
    return true;
}

/* What changes, at event 0. False: no memory. */
static bool init_state(mr_replay *r)
{
    const mr_trace *trace = r->trace;
    r->next = mr_calloc(trace->threads.count, sizeof *r->next);
    r->diverged = mr_calloc(trace->threads.count, sizeof *r->diverged);
    r->locks = mr_calloc(trace->locks.count, sizeof *r->locks);
    r->variables = mr_calloc(trace->variables.count, sizeof *r->variables);
    r->share_depths = mr_calloc((size_t)r->share_numbers.count + 1, sizeof *r->share_depths);
    if (!r->next || !r->diverged || !r->locks || !r->variables || !r->share_depths)
        return false;
    mr_huge_ask(r->variables, trace->variables.count * sizeof *r->variables);
    for (uint32_t t = 0; t < trace->threads.count; t++)
        r->diverged[t] = MR_NONE;
    reset(r);
    return true;
}

static bool init(mr_replay *r)
{
    r->first_event = mr_calloc(r->trace->threads.count, sizeof *r->first_event);
    r->fork = mr_calloc(r->trace->threads.count, sizeof *r->fork);
    return r->first_event && r->fork && index_events(r) && init_state(r);
}

bool mr_replay_init(mr_replay *r, const mr_trace *trace)
{
    *r = (mr_replay){.trace = trace};
    r->following = mr_columns_derive(trace, sizeof *r->following, &r->memory);
    return r->following && init(r);
}

bool mr_replay_init_by_window(mr_replay *r, const mr_trace *trace)
{
    *r = (mr_replay){.trace = trace, .by_window = true};
    return init(r);
}

bool mr_replay_init_like(mr_replay *r, const mr_replay *other)
{
    *r = (mr_replay){.trace = other->trace,
                     .shares = true,
                     .following = other->following,
                     .first_event = other->first_event,
                     .fork = other->fork,
                     .share_numbers = other->share_numbers};
    return init_state(r);
}

void mr_replay_free(mr_replay *r)
{
    if (r->by_window)
        mr_huge_free(r->following, r->following_room * sizeof *r->following);
    if (!r->shares) {
        mr_spill_free(&r->memory);
        free(r->first_event);
        free(r->fork);
        mr_keys_free(&r->share_numbers);
    }
    free(r->next);
    free(r->diverged);
    free(r->locks);
    free(r->variables);
    free(r->share_depths);
    mr_huge_free(r->done, r->done_capacity * sizeof *r->done);
    mr_huge_free(r->replaced, r->replaced_capacity * sizeof *r->replaced);
}
