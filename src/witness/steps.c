#include "steps.h"

#include "base/assert.h"

#include <string.h>

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

/* Sorts by object; steps of one object stay in order. `scratch` has room for as many. Byte by byte
 * from the least one, so that a witness of all events of a long window takes linear time. */
static void sort_by_object(mr_object_step *items, mr_object_step *scratch, uint32_t count)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < count; i++)
        all |= items[i].object;
    mr_object_step *from = items, *to = scratch;
    for (uint32_t shift = 0; shift < 64 && all >> shift; shift += DIGIT_BITS) {
        uint32_t first[DIGITS + 1] = {0};
        for (uint32_t i = 0; i < count; i++)
            first[(from[i].object >> shift) % DIGITS + 1]++;
        for (uint32_t d = 0; d < DIGITS; d++)
            first[d + 1] += first[d];
        for (uint32_t i = 0; i < count; i++)
            to[first[(from[i].object >> shift) % DIGITS]++] = from[i];
        mr_object_step *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
}

/* The last step of the thread with an event up to `last`, in its program order. */
static uint32_t last_step(const mr_witness_steps *steps, uint32_t thread, uint32_t last)
{
    uint32_t low = 0, high = steps->count;
    while (low < high) { /* first entry of a later thread, or of this one with a later event */
        uint32_t middle = low + (high - low) / 2;
        const mr_object_step *entry = &steps->by_thread[middle];
        if (entry->object < thread ||
            (entry->object == thread && steps->items[entry->step].event <= last))
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low && steps->by_thread[low - 1].object == thread;
    return found ? steps->by_thread[low - 1].step : MR_NONE;
}

uint32_t mr_witness_steps_last(const mr_witness_steps *steps, uint32_t thread)
{
    return last_step(steps, thread, MR_NONE);
}

uint32_t mr_witness_steps_find(const mr_witness_steps *steps, uint32_t event)
{
    if (event >= steps->trace->event_count)
        return MR_NONE;
    uint32_t step = last_step(steps, steps->trace->thread[event], event);
    return step != MR_NONE && steps->items[step].event == event ? step : MR_NONE;
}

size_t mr_witness_steps_edge(const mr_witness_steps *steps, uint32_t event)
{
    size_t low = 0, high = steps->opaque ? steps->opaque->count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (steps->opaque->items[middle].to < event)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t fork_step(const mr_witness_steps *steps, uint32_t thread)
{
    return mr_witness_steps_find(steps, steps->trace->thread_info[thread].fork);
}

static void link_threads(mr_witness_steps *steps)
{
    const mr_trace *trace = steps->trace;
    for (uint32_t k = 0; k < steps->count; k++) {
        const mr_object_step *entry = &steps->by_thread[k];
        mr_witness_step *step = &steps->items[entry->step];
        uint32_t event = step->event;
        if (k && entry[-1].object == entry->object)
            step->previous = entry[-1].step;
        else
            step->fork = fork_step(steps, trace->thread[event]);
        if (mr_op_joins(trace->op[event]))
            step->joined = last_step(steps, trace->operand[event], MR_NONE);
        if (mr_op_releases(trace->op[event]))
            step->opens = mr_witness_steps_find(steps, trace->link[event]);
        for (size_t i = mr_witness_steps_edge(steps, event);
             steps->opaque && i < steps->opaque->count && steps->opaque->items[i].to == event; i++)
            steps->opaque_count++;
    }
}

static void link_sources(mr_witness_steps *steps)
{
    uint32_t source = MR_NONE, unit = 0; /* `unit`: no post before this entry has one to give */
    for (uint32_t k = 0; k < steps->object_count; k++) {
        const mr_object_step *entry = &steps->objects[k];
        mr_witness_step *step = &steps->items[entry->step];
        uint8_t op = steps->trace->op[step->event];
        if (!k || entry->object != steps->objects[k - 1].object) {
            source = MR_NONE;
            unit = k;
        }
        if (mr_op_reads(op))
            step->source = source;
        if (mr_op_writes(op))
            source = entry->step;
        if (!mr_op_takes(op))
            continue;
        while (unit < k &&
               !mr_op_gives(steps->trace->op[steps->items[steps->objects[unit].step].event]))
            unit++;
        if (unit < k)
            step->post = steps->objects[unit++].step;
    }
}

/* Locks and variables are numbered apart. */
static bool object_of(const mr_trace *trace, uint32_t event, uint64_t *object)
{
    *object = (uint64_t)trace->operand[event] << 1;
    switch (mr_op_operand_kind((mr_op)trace->op[event])) {
    case MR_OPERAND_VARIABLE:
        return true;
    case MR_OPERAND_LOCK:
        *object |= 1;
        return trace->link[event] != MR_NESTED;
    case MR_OPERAND_NONE:
    case MR_OPERAND_THREAD:
    case MR_OPERAND_CALL:
    case MR_OPERAND_OBJECT:
        break;
    }
    return false;
}

bool mr_witness_steps_build(mr_witness_steps *steps, const mr_trace *trace,
                            const mr_barrier_edges *opaque, const mr_witness *witness,
                            mr_arena *arena)
{
    uint32_t count = witness->event_count;
    *steps = (mr_witness_steps){.trace = trace, .count = count, .opaque = opaque};
    steps->items = mr_arena_alloc(arena, count, sizeof *steps->items);
    steps->objects = mr_arena_alloc(arena, count, sizeof *steps->objects);
    steps->by_thread = mr_arena_alloc(arena, count, sizeof *steps->by_thread);
    mr_object_step *scratch = mr_arena_alloc(arena, count, sizeof *scratch);
    if (!steps->items || !steps->objects || !steps->by_thread || !scratch)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t event = witness->events[i];
        MR_REQUIRE(event < trace->event_count);
        steps->items[i] = (mr_witness_step){.event = event,
                                            .previous = MR_NONE,
                                            .fork = MR_NONE,
                                            .joined = MR_NONE,
                                            .source = MR_NONE,
                                            .opens = MR_NONE,
                                            .post = MR_NONE};
        steps->by_thread[i] = (mr_object_step){.object = trace->thread[event], .step = i};
        uint64_t object;
        if (object_of(trace, event, &object))
            steps->objects[steps->object_count++] = (mr_object_step){.object = object, .step = i};
    }
    sort_by_object(steps->by_thread, scratch, count);
    sort_by_object(steps->objects, scratch, steps->object_count);
    link_threads(steps);
    link_sources(steps);
    return true;
}
