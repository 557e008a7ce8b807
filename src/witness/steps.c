#include "steps.h"

#include <stdlib.h>

static int compare(const void *one, const void *two)
{
    const mr_object_step *x = one, *y = two;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

/* Last step of each thread so far, found by thread number: steps sorted by thread. */
typedef struct by_thread {
    mr_object_step *items;
    uint32_t count;
} by_thread;

static uint32_t last_step(const by_thread *threads, uint32_t thread)
{
    uint32_t low = 0, high = threads->count;
    while (low < high) { /* first entry of a later thread */
        uint32_t middle = low + (high - low) / 2;
        if (threads->items[middle].object <= thread)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low && threads->items[low - 1].object == thread;
    return found ? threads->items[low - 1].step : MR_NONE;
}

/* The step of the fork of a thread: the steps of its forker stand in program order. */
static uint32_t fork_step(const mr_witness_steps *steps, const by_thread *threads, uint32_t thread)
{
    uint32_t fork = steps->trace->thread_info[thread].fork;
    if (fork == MR_NONE)
        return MR_NONE;
    uint32_t forker = steps->trace->thread[fork], low = 0, high = threads->count;
    while (low < high) { /* first entry of a later thread, or of the forker with a later event */
        uint32_t middle = low + (high - low) / 2;
        const mr_object_step *entry = &threads->items[middle];
        if (entry->object < forker ||
            (entry->object == forker && steps->items[entry->step].event <= fork))
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low && steps->items[threads->items[low - 1].step].event == fork;
    return found ? threads->items[low - 1].step : MR_NONE;
}

static void link_threads(mr_witness_steps *steps, const by_thread *threads)
{
    for (uint32_t k = 0; k < threads->count; k++) {
        mr_witness_step *step = &steps->items[threads->items[k].step];
        uint32_t event = step->event;
        if (k && threads->items[k - 1].object == threads->items[k].object)
            step->previous = threads->items[k - 1].step;
        else
            step->fork = fork_step(steps, threads, steps->trace->thread[event]);
        if (steps->trace->op[event] == MR_OP_JOIN)
            step->joined = last_step(threads, steps->trace->operand[event]);
    }
}

static void link_sources(mr_witness_steps *steps)
{
    uint32_t source = MR_NONE;
    for (uint32_t k = 0; k < steps->object_count; k++) {
        const mr_object_step *entry = &steps->objects[k];
        uint8_t op = steps->trace->op[steps->items[entry->step].event];
        if (!k || entry->object != steps->objects[k - 1].object)
            source = MR_NONE;
        if (op == MR_OP_WRITE)
            source = entry->step;
        else if (op == MR_OP_READ)
            steps->items[entry->step].source = source;
    }
}

/* Locks and variables are numbered apart. */
static bool object_of(const mr_trace *trace, uint32_t event, uint64_t *object)
{
    uint8_t op = trace->op[event];
    *object = (uint64_t)trace->operand[event] << 1;
    if (mr_op_is_access(op))
        return true;
    *object |= 1;
    return (op == MR_OP_ACQUIRE || op == MR_OP_RELEASE) && trace->link[event] != MR_NESTED;
}

bool mr_witness_steps_build(mr_witness_steps *steps, const mr_trace *trace,
                            const mr_witness *witness, mr_arena *arena)
{
    uint32_t count = witness->event_count;
    *steps = (mr_witness_steps){.trace = trace, .count = count};
    by_thread threads = {.items = mr_arena_alloc(arena, count, sizeof *threads.items),
                         .count = count};
    steps->items = mr_arena_alloc(arena, count, sizeof *steps->items);
    steps->objects = mr_arena_alloc(arena, count, sizeof *steps->objects);
    if (!threads.items || !steps->items || !steps->objects)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t event = witness->events[i];
        steps->items[i] = (mr_witness_step){.event = event,
                                            .previous = MR_NONE,
                                            .fork = MR_NONE,
                                            .joined = MR_NONE,
                                            .source = MR_NONE};
        threads.items[i] = (mr_object_step){.object = trace->thread[event], .step = i};
        uint64_t object;
        if (object_of(trace, event, &object))
            steps->objects[steps->object_count++] = (mr_object_step){.object = object, .step = i};
    }
    qsort(threads.items, count, sizeof *threads.items, compare);
    qsort(steps->objects, steps->object_count, sizeof *steps->objects, compare);
    link_threads(steps, &threads);
    link_sources(steps);
    steps->last_first = last_step(&threads, trace->thread[witness->first]);
    steps->last_second = last_step(&threads, trace->thread[witness->second]);
    steps->fork_first = fork_step(steps, &threads, trace->thread[witness->first]);
    steps->fork_second = fork_step(steps, &threads, trace->thread[witness->second]);
    return true;
}
