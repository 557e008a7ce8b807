#include "between.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

bool mr_between_init(mr_between *b, const mr_trace *trace, const mr_barrier_edges *edges,
                     const mr_halt *halt)
{
    *b = (mr_between){.trace = trace, .edges = edges, .halt = halt};
    b->ends = mr_calloc((size_t)trace->threads.count + 1, sizeof *b->ends);
    b->locks = mr_calloc((size_t)trace->locks.count + 1, sizeof *b->locks);
    return b->ends && b->locks;
}

void mr_between_free(mr_between *b)
{
    free(b->ends);
    free(b->locks);
    mr_u32s_free(&b->acquired);
    *b = (mr_between){0};
}

/* Puts the event, and those of its thread before it, into the set. What is before the first access
 * has happened. */
static void need(mr_between *b, uint32_t event)
{
    uint32_t *end = &b->ends[b->trace->thread[event]];
    if (event >= b->first && *end <= event)
        *end = event + 1;
}

static bool is_needed(const mr_between *b, uint32_t event)
{
    return event < b->ends[b->trace->thread[event]];
}

static void need_last(mr_between *b, uint32_t thread)
{
    if (b->trace->thread_info[thread].event_count)
        need(b, b->trace->thread_info[thread].last);
}

/* Edges into the event. */
static void need_edges(mr_between *b, uint32_t event)
{
    for (size_t i = mr_barrier_edges_from(b->edges, event);
         i < b->edges->count && b->edges->items[i].to == event; i++)
        need(b, b->edges->items[i].from);
}

/* Notes an acquire of the set. False: no memory. */
static bool note_acquire(mr_between *b, uint32_t event)
{
    uint32_t number = b->trace->operand[event];
    mr_between_lock *lock = &b->locks[number];
    if (!lock->any && !mr_u32s_push(&b->acquired, number))
        return false;
    if (lock->any <= event)
        lock->any = event + 1;
    if (!mr_op_is_shared(b->trace->op[event]) && lock->exclusive <= event)
        lock->exclusive = event + 1;
    return true;
}

/* Has the set an acquire after this release which its section excludes? */
static bool is_waited_for(const mr_between *b, uint32_t release)
{
    const mr_between_lock *lock = &b->locks[b->trace->operand[release]];
    return (mr_op_is_shared(b->trace->op[release]) ? lock->exclusive : lock->any) > release;
}

/* What an event of the set needs. False: no memory. */
static bool follow(mr_between *b, uint32_t event)
{
    const mr_trace *trace = b->trace;
    uint8_t op = trace->op[event];
    uint32_t link = trace->link[event];
    if (mr_op_reads(op) || mr_op_takes(op)) {
        if (link != MR_NONE)
            need(b, link);
    } else if (mr_op_joins(op)) {
        need_last(b, trace->operand[event]);
    } else if (mr_op_acquires(op)) {
        return note_acquire(b, event);
    }
    return true;
}

/* Is it the fork of a thread that the set has an event of, or that does the second access? */
static bool forks_needed(const mr_between *b, uint32_t event)
{
    return mr_op_forks(b->trace->op[event]) && b->ends[b->trace->operand[event]] > event;
}

/* Is it the release of a section from before the first access, and waited for? */
static bool ends_carried(const mr_between *b, uint32_t event)
{
    return mr_op_releases(b->trace->op[event]) && b->trace->link[event] < b->first &&
           is_waited_for(b, event);
}

/* The release that the set needs because it has this acquire; MR_NONE: none, or it has it. */
static uint32_t missing_release(const mr_between *b, uint32_t event)
{
    uint32_t release = b->trace->link[event];
    bool missing = mr_op_acquires(b->trace->op[event]) && release < b->second &&
                   !is_needed(b, release) && is_waited_for(b, release);
    return missing ? release : MR_NONE;
}

/* The pass, from the event before `*end` on. True: it came to the first access. False: it is to
 * start again before `*end`, or, with `*end` 0, there is no memory. */
static bool pass(mr_between *b, uint32_t *end)
{
    const mr_trace *trace = b->trace;
    for (uint32_t event = *end; event-- > b->first + 1;) {
        mr_trace_pass(trace, event);
        if (!is_needed(b, event)) {
            if (!forks_needed(b, event) && !ends_carried(b, event))
                continue;
            need(b, event);
        }
        uint32_t release = missing_release(b, event);
        if (release != MR_NONE) {
            need(b, release);
            *end = release + 1;
            return false;
        }
        if (!follow(b, event)) {
            *end = 0;
            return false;
        }
        if (b->edges->count)
            need_edges(b, event);
    }
    return true;
}

/* An empty set, but for what comes before the second access in its thread. */
static void start(mr_between *b, uint32_t first, uint32_t second)
{
    memset(b->ends, 0, b->trace->threads.count * sizeof *b->ends);
    for (size_t i = 0; i < b->acquired.count; i++)
        b->locks[b->acquired.items[i]] = (mr_between_lock){0};
    b->acquired.count = 0;
    b->first = first;
    b->second = second;
    b->ends[b->trace->thread[second]] = second;
    need_edges(b, second);
}

/* Is the first access one of an object whose free is in the set? It cannot come after that. */
static bool is_freed(const mr_between *b)
{
    const mr_trace *trace = b->trace;
    uint32_t object = mr_op_is_access(trace->op[b->first])
                          ? mr_trace_object(trace, trace->operand[b->first])
                          : MR_NONE;
    uint32_t freed = object != MR_NONE ? trace->object_info[object].free : MR_NONE;
    return freed != MR_NONE && freed > b->first && is_needed(b, freed);
}

bool mr_between_find(mr_between *b, uint32_t first, uint32_t second, mr_u32s *events, bool *found)
{
    uint32_t end = second, starts = 1;
    MR_REQUIRE(first < second && second < b->trace->event_count);
    start(b, first, second);
    *found = false;
    while (!pass(b, &end)) {
        if (!end)
            return false;
        if (starts++ == MR_BETWEEN_STARTS || mr_halt_asked(b->halt) != MR_HALT_NONE)
            return true;
    }
    *found = !is_needed(b, first) && !is_freed(b);
    for (uint32_t event = first + 1; event < second && *found; event++)
        if (is_needed(b, event) && !mr_u32s_push(events, event))
            return false;
    return true;
}
