#include "minimise.h"

#include "steps.h"

#include <stdlib.h>
#include <string.h>

/* Marks a step and, through `stack`, everything that it needs by itself. */
static void need(mr_witness_steps *steps, uint32_t *stack, uint32_t step)
{
    uint32_t depth = 0;
    if (step == MR_NONE || steps->items[step].needed)
        return;
    steps->items[step].needed = true;
    stack[depth++] = step;
    while (depth) {
        const mr_witness_step *item = &steps->items[stack[--depth]];
        const uint32_t links[] = {item->previous, item->fork, item->joined, item->source};
        for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
            if (links[i] != MR_NONE && !steps->items[links[i]].needed) {
                steps->items[links[i]].needed = true;
                stack[depth++] = links[i];
            }
        }
    }
}

/* Is the section that this release ends in the witness as it is now? One from before the window
 * always is. */
static bool section_needed(const mr_witness_steps *steps, uint32_t acquire_step,
                           const mr_object_step *release, uint32_t window_start)
{
    uint32_t acquire = steps->trace->link[steps->items[release->step].event];
    if (acquire < window_start)
        return true;
    return acquire_step != MR_NONE && steps->items[acquire_step].event == acquire &&
           steps->items[acquire_step].needed;
}

/*
 * Requires the releases that needed acquires wait for: for each lock, from its last step to its
 * first. True when something new was needed.
 */
static bool need_releases(mr_witness_steps *steps, uint32_t *stack, uint32_t window_start)
{
    bool changed = false, later = false;
    for (uint32_t k = steps->object_count; k-- > 0;) {
        const mr_object_step *entry = &steps->objects[k];
        const mr_witness_step *item = &steps->items[entry->step];
        if (k + 1 == steps->object_count || steps->objects[k + 1].object != entry->object)
            later = false;
        if (steps->trace->op[item->event] == MR_OP_ACQUIRE) {
            later |= item->needed;
        } else if (steps->trace->op[item->event] == MR_OP_RELEASE && later && !item->needed) {
            bool has_acquire = k && steps->objects[k - 1].object == entry->object;
            uint32_t acquire = has_acquire ? steps->objects[k - 1].step : MR_NONE;
            if (section_needed(steps, acquire, entry, window_start)) {
                need(steps, stack, entry->step);
                changed = true;
            }
        }
    }
    return changed;
}

/* An order that must be kept between two steps, from < to. */
typedef struct edge {
    uint32_t from, to;
} edge;

typedef struct scheduler {
    mr_witness_steps *steps;
    edge *edges;
    uint32_t edge_count;
    uint32_t *first_edge; /* edges of step i: [first_edge[i], first_edge[i + 1]), after sorting */
    uint32_t *waiting;    /* edges into step i from steps that have not run */
    uint32_t *next;       /* next needed step of the same thread */
    uint32_t *ready;      /* heap of the steps that nothing holds back */
    uint32_t ready_count;
} scheduler;

static void add_edge(scheduler *s, uint32_t from, uint32_t to)
{
    if (from == MR_NONE || to == MR_NONE)
        return;
    s->edges[s->edge_count++] = (edge){from, to};
    s->waiting[to]++;
}

/* Conflicting steps of an object keep their order: at most two edges a step. */
static void add_object_edges(scheduler *s)
{
    const mr_witness_steps *steps = s->steps;
    uint32_t write = MR_NONE; /* last write, acquire or release */
    for (uint32_t k = 0; k < steps->object_count; k++) {
        const mr_object_step *entry = &steps->objects[k];
        if (!k || entry->object != steps->objects[k - 1].object)
            write = MR_NONE;
        if (!steps->items[entry->step].needed)
            continue;
        add_edge(s, write, entry->step);
        if (steps->trace->op[steps->items[entry->step].event] == MR_OP_READ)
            continue;
        for (uint32_t back = k; back-- > 0;) { /* the reads since the last needed write */
            const mr_object_step *other = &steps->objects[back];
            if (other->object != entry->object || other->step == write)
                break;
            if (steps->items[other->step].needed)
                add_edge(s, other->step, entry->step);
        }
        write = entry->step;
    }
}

static int compare_edges(const void *one, const void *two)
{
    const edge *x = one, *y = two;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static bool prepare(scheduler *s, mr_witness_steps *steps, mr_arena *arena)
{
    size_t count = steps->count;
    s->steps = steps;
    s->edges = mr_arena_alloc(arena, 3 * count + 2 * (size_t)steps->object_count, sizeof *s->edges);
    s->first_edge = mr_arena_alloc(arena, count + 1, sizeof *s->first_edge);
    s->waiting = mr_arena_zalloc(arena, count, sizeof *s->waiting);
    s->next = mr_arena_alloc(arena, count, sizeof *s->next);
    s->ready = mr_arena_alloc(arena, count, sizeof *s->ready);
    if (!s->edges || !s->first_edge || !s->waiting || !s->next || !s->ready)
        return false;
    memset(s->next, 0xff, count * sizeof *s->next);
    for (uint32_t i = 0; i < count; i++) {
        const mr_witness_step *step = &steps->items[i];
        if (!step->needed)
            continue;
        add_edge(s, step->previous, i);
        add_edge(s, step->fork, i);
        add_edge(s, step->joined, i);
        if (step->previous != MR_NONE)
            s->next[step->previous] = i;
    }
    add_object_edges(s);
    qsort(s->edges, s->edge_count, sizeof *s->edges, compare_edges);
    for (uint32_t i = 0, e = 0; i <= count; i++) {
        while (e < s->edge_count && s->edges[e].from < i)
            e++;
        s->first_edge[i] = e;
    }
    return true;
}

static void push_ready(scheduler *s, uint32_t step)
{
    uint32_t at = s->ready_count++;
    for (; at && s->ready[(at - 1) / 2] > step; at = (at - 1) / 2)
        s->ready[at] = s->ready[(at - 1) / 2];
    s->ready[at] = step;
}

static uint32_t pop_ready(scheduler *s)
{
    uint32_t top = s->ready[0], last = s->ready[--s->ready_count], at = 0;
    for (uint32_t child = 1; child < s->ready_count; child = 2 * at + 1) {
        if (child + 1 < s->ready_count && s->ready[child + 1] < s->ready[child])
            child++;
        if (last <= s->ready[child])
            break;
        s->ready[at] = s->ready[child];
        at = child;
    }
    s->ready[at] = last;
    return top;
}

/* Runs a step; steps that it was the last to hold back become ready. */
static void run_step(scheduler *s, uint32_t step)
{
    s->steps->items[step].needed = false;
    for (uint32_t e = s->first_edge[step]; e < s->first_edge[step + 1]; e++)
        if (!--s->waiting[s->edges[e].to])
            push_ready(s, s->edges[e].to);
}

/* Runs the needed steps: the same thread as long as possible, else the earliest step of the witness
 * that is ready. */
static uint32_t run(scheduler *s, uint32_t *events)
{
    mr_witness_steps *steps = s->steps;
    uint32_t filled = 0;
    for (uint32_t i = 0; i < steps->count; i++)
        if (steps->items[i].needed && !s->waiting[i])
            push_ready(s, i);
    while (s->ready_count) {
        uint32_t step = pop_ready(s);
        if (!steps->items[step].needed)
            continue; /* has run as a follower of its thread */
        for (; step != MR_NONE && !s->waiting[step]; step = s->next[step]) {
            run_step(s, step);
            events[filled++] = steps->items[step].event;
        }
    }
    return filled;
}

static uint32_t shorten(const mr_trace *trace, const mr_witness *witness, uint32_t *events,
                        mr_arena *arena)
{
    mr_witness_steps steps;
    scheduler s = {0};
    uint32_t *stack = mr_arena_alloc(arena, witness->event_count, sizeof *stack);
    if (!stack || !mr_witness_steps_build(&steps, trace, witness, arena))
        return MR_NONE;
    need(&steps, stack, steps.last_first);
    need(&steps, stack, steps.last_second);
    need(&steps, stack, steps.fork_first);
    need(&steps, stack, steps.fork_second);
    while (need_releases(&steps, stack, witness->window_start))
        continue;
    return prepare(&s, &steps, arena) ? run(&s, events) : MR_NONE;
}

mr_status mr_witness_minimise(const mr_trace *trace, mr_witness *witness, mr_error *error)
{
    if (!witness->event_count)
        return MR_OK;
    mr_arena arena;
    mr_arena_init(&arena);
    uint32_t *events = mr_calloc(witness->event_count, sizeof *events);
    uint32_t count = events ? shorten(trace, witness, events, &arena) : MR_NONE;
    mr_arena_free(&arena);
    if (count == MR_NONE) {
        free(events);
        return mr_error_memory(error, "shortening a witness");
    }
    free(witness->events);
    witness->events = events;
    witness->event_count = count;
    return MR_OK;
}

uint32_t mr_witness_switches(const mr_trace *trace, const mr_witness *witness)
{
    uint32_t switches = 0;
    for (uint32_t i = 1; i < witness->event_count; i++)
        switches += trace->thread[witness->events[i]] != trace->thread[witness->events[i - 1]];
    return switches;
}
