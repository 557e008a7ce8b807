#include "minimise.h"

#include "base/assert.h"
#include "steps.h"

#include <stdlib.h>
#include <string.h>

/* The steps that are to be looked at. */
typedef struct pending {
    uint32_t *steps;
    uint32_t count;
} pending;

static void mark(mr_witness_steps *steps, pending *todo, uint32_t step)
{
    if (step == MR_NONE || steps->items[step].needed)
        return;
    steps->items[step].needed = true;
    todo->steps[todo->count++] = step;
}

/* What opaque calls put before the event. What is not in the witness was before the window. */
static void mark_opaque(mr_witness_steps *steps, pending *todo, uint32_t event)
{
    const mr_barrier_edges *opaque = steps->opaque;
    for (size_t i = mr_witness_steps_edge(steps, event);
         opaque && i < opaque->count && opaque->items[i].to == event; i++)
        mark(steps, todo, mr_witness_steps_find(steps, opaque->items[i].from));
}

/* Marks everything that the steps to be looked at need by themselves. */
static void mark_needs(mr_witness_steps *steps, pending *todo)
{
    while (todo->count) {
        const mr_witness_step *item = &steps->items[todo->steps[--todo->count]];
        mark(steps, todo, item->previous);
        mark(steps, todo, item->fork);
        mark(steps, todo, item->joined);
        mark(steps, todo, item->source);
        mark(steps, todo, item->post);
        mark_opaque(steps, todo, item->event);
    }
}

/* Is the section that this release ends in the witness as it is now? One from before the window
 * always is. */
static bool section_needed(const mr_witness_steps *steps, const mr_witness_step *release,
                           uint32_t window_start)
{
    if (steps->trace->link[release->event] < window_start)
        return true;
    return release->opens != MR_NONE && steps->items[release->opens].needed;
}

/*
 * Requires the releases that needed acquires wait for: for each lock, from its last step to its
 * first. True when something new was needed.
 */
static bool need_releases(mr_witness_steps *steps, pending *todo, uint32_t window_start)
{
    bool changed = false, exclusive = false, any = false; /* a needed acquire comes later */
    for (uint32_t k = steps->object_count; k-- > 0;) {
        const mr_object_step *entry = &steps->objects[k];
        const mr_witness_step *item = &steps->items[entry->step];
        uint8_t op = steps->trace->op[item->event];
        if (k + 1 == steps->object_count || steps->objects[k + 1].object != entry->object)
            exclusive = any = false;
        exclusive |= mr_op_acquires(op) && !mr_op_is_shared(op) && item->needed;
        any |= mr_op_acquires(op) && item->needed;
        bool waited_for = mr_op_releases(op) && (mr_op_is_shared(op) ? exclusive : any);
        if (waited_for && !item->needed && section_needed(steps, item, window_start)) {
            mark(steps, todo, entry->step);
            mark_needs(steps, todo);
            changed = true;
        }
    }
    return changed;
}

/* A set of steps, of which the first one is found at once: bit i of a level says whether word i of the level below has a bit. */
enum { WORD_BITS = 64, LEVELS = 3 };

typedef struct step_set {
    uint64_t *levels[LEVELS];
} step_set;

_Static_assert(MR_MINIMISE_MOST <= (uint64_t)WORD_BITS * WORD_BITS * WORD_BITS,
               "the last level has one word");

/* False: no memory. */
static bool init_set(step_set *set, uint32_t count, mr_arena *arena)
{
    for (int i = 0; i < LEVELS; i++) {
        count = count / WORD_BITS + 1;
        set->levels[i] = mr_arena_zalloc(arena, count, sizeof *set->levels[i]);
        if (!set->levels[i])
            return false;
    }
    return true;
}

static void add_step(step_set *set, uint32_t step)
{
    for (int i = 0; i < LEVELS; i++, step /= WORD_BITS)
        set->levels[i][step / WORD_BITS] |= UINT64_C(1) << step % WORD_BITS;
}

/* The step may not be in the set. */
static void take_step(step_set *set, uint32_t step)
{
    for (int i = 0; i < LEVELS; i++, step /= WORD_BITS) {
        set->levels[i][step / WORD_BITS] &= ~(UINT64_C(1) << step % WORD_BITS);
        if (set->levels[i][step / WORD_BITS])
            break;
    }
}

/* MR_NONE: the set is empty. */
static uint32_t first_step(const step_set *set)
{
    uint32_t at = 0;
    if (!set->levels[LEVELS - 1][0])
        return MR_NONE;
    for (int i = LEVELS; i-- > 0;)
        at = at * WORD_BITS + (uint32_t)__builtin_ctzll(set->levels[i][at]);
    return at;
}

/* An order that must be kept between two steps, from < to. */
typedef struct edge {
    uint32_t from, to;
} edge;

typedef struct scheduler {
    mr_witness_steps *steps;
    edge *edges;
    uint32_t edge_count;
    uint32_t *first_edge; /* edges of step i lead to targets[first_edge[i] … first_edge[i + 1]) */
    uint32_t *targets;
    uint32_t *waiting; /* edges into step i from steps that have not run */
    uint32_t *next;    /* next needed step of the same thread */
    step_set ready;    /* needed steps that have not run, and that nothing holds back */
} scheduler;

static void add_edge(scheduler *s, uint32_t from, uint32_t to)
{
    if (from == MR_NONE || to == MR_NONE)
        return;
    s->edges[s->edge_count++] = (edge){from, to};
    s->waiting[to]++;
}

/* Steps of an object whose order among each other does not matter. */
static bool is_shared(uint8_t op)
{
    return (mr_op_reads(op) && !mr_op_writes(op)) || mr_op_is_shared(op);
}

/* Conflicting steps of an object keep their order: at most two edges a step. */
static void add_object_edges(scheduler *s)
{
    const mr_witness_steps *steps = s->steps;
    uint32_t write = MR_NONE; /* the last step that is not shared */
    for (uint32_t k = 0; k < steps->object_count; k++) {
        const mr_object_step *entry = &steps->objects[k];
        if (!k || entry->object != steps->objects[k - 1].object)
            write = MR_NONE;
        if (!steps->items[entry->step].needed)
            continue;
        add_edge(s, write, entry->step);
        if (is_shared(steps->trace->op[steps->items[entry->step].event]))
            continue;
        for (uint32_t back = k; back-- > 0;) { /* the shared ones since then */
            const mr_object_step *other = &steps->objects[back];
            if (other->object != entry->object || other->step == write)
                break;
            if (steps->items[other->step].needed)
                add_edge(s, other->step, entry->step);
        }
        write = entry->step;
    }
}

static void add_opaque_edges(scheduler *s, uint32_t step)
{
    const mr_barrier_edges *opaque = s->steps->opaque;
    uint32_t event = s->steps->items[step].event;
    for (size_t i = mr_witness_steps_edge(s->steps, event);
         opaque && i < opaque->count && opaque->items[i].to == event; i++)
        add_edge(s, mr_witness_steps_find(s->steps, opaque->items[i].from), step);
}

/* Rule 7: no access of an object comes after its free that did not in the trace. */
static void add_life_edge(scheduler *s, uint32_t step)
{
    const mr_trace *trace = s->steps->trace;
    uint32_t event = s->steps->items[step].event, object = MR_NONE;
    if (!trace->members.count)
        return;
    if (mr_op_is_access(trace->op[event]))
        object = mr_trace_object(trace, trace->operand[event]);
    uint32_t end = object == MR_NONE ? MR_NONE : trace->object_info[object].free;
    uint32_t freed = end != MR_NONE && event < end ? mr_witness_steps_find(s->steps, end) : MR_NONE;
    if (freed != MR_NONE && s->steps->items[freed].needed)
        add_edge(s, step, freed);
}

/* Groups the edges by where they come from. */
static void group_edges(scheduler *s, uint32_t count)
{
    for (uint32_t e = 0; e < s->edge_count; e++)
        s->first_edge[s->edges[e].from + 1]++;
    for (uint32_t i = 0; i < count; i++)
        s->first_edge[i + 1] += s->first_edge[i];
    for (uint32_t e = s->edge_count; e-- > 0;) /* the places of step i are taken from their end */
        s->targets[--s->first_edge[s->edges[e].from + 1]] = s->edges[e].to;
    for (uint32_t i = 0; i < count; i++) /* now [i + 1] is the first place of step i */
        s->first_edge[i] = s->first_edge[i + 1];
    s->first_edge[count] = s->edge_count;
}

static bool prepare(scheduler *s, mr_witness_steps *steps, mr_arena *arena)
{
    size_t count = steps->count;
    s->steps = steps;
    size_t most = 4 * count + 2 * (size_t)steps->object_count + steps->opaque_count;
    s->edges = mr_arena_alloc(arena, most, sizeof *s->edges);
    s->targets = mr_arena_alloc(arena, most, sizeof *s->targets);
    s->first_edge = mr_arena_zalloc(arena, count + 1, sizeof *s->first_edge);
    s->waiting = mr_arena_zalloc(arena, count, sizeof *s->waiting);
    s->next = mr_arena_alloc(arena, count, sizeof *s->next);
    if (!s->edges || !s->targets || !s->first_edge || !s->waiting || !s->next ||
        !init_set(&s->ready, steps->count, arena))
        return false;
    memset(s->next, 0xff, count * sizeof *s->next);
    for (uint32_t i = 0; i < count; i++) {
        const mr_witness_step *step = &steps->items[i];
        if (!step->needed)
            continue;
        add_edge(s, step->previous, i);
        add_edge(s, step->fork, i);
        add_edge(s, step->joined, i);
        add_opaque_edges(s, i);
        add_life_edge(s, i);
        if (step->previous != MR_NONE)
            s->next[step->previous] = i;
    }
    add_object_edges(s);
    MR_ASSERT(s->edge_count <= most);
    group_edges(s, (uint32_t)count);
    return true;
}

/* Runs a step; steps that it was the last to hold back become ready. */
static void run_step(scheduler *s, uint32_t step)
{
    mr_witness_step *items = s->steps->items;
    uint32_t previous = items[step].previous;
    MR_ASSERT(items[step].needed && !s->waiting[step]);
    /* What is left of the witness is a prefix of each thread, too. */
    MR_ASSERT(previous == MR_NONE || !items[previous].needed);
    items[step].needed = false;
    take_step(&s->ready, step);
    for (uint32_t e = s->first_edge[step]; e < s->first_edge[step + 1]; e++)
        if (!--s->waiting[s->targets[e]])
            add_step(&s->ready, s->targets[e]);
}

/* Runs the needed steps: the same thread as long as possible, else the earliest step of the witness
 * that is ready. */
static uint32_t run(scheduler *s, uint32_t *events)
{
    mr_witness_steps *steps = s->steps;
    uint32_t filled = 0;
    for (uint32_t i = 0; i < steps->count; i++)
        if (steps->items[i].needed && !s->waiting[i])
            add_step(&s->ready, i);
    for (uint32_t first; (first = first_step(&s->ready)) != MR_NONE;) {
        for (uint32_t step = first; step != MR_NONE && !s->waiting[step]; step = s->next[step]) {
            run_step(s, step);
            events[filled++] = steps->items[step].event;
        }
    }
    MR_ASSERT(filled <= steps->count);
    return filled;
}

/* What the end of the witness needs: the stops to be next, and the events that its kind is about. */
static void mark_goal(mr_witness_steps *steps, pending *todo, const mr_witness *witness)
{
    const mr_trace *trace = steps->trace;
    uint32_t count;
    const uint32_t *stops = mr_witness_stops(witness, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t thread = trace->thread[stops[i]];
        mark(steps, todo, mr_witness_steps_last(steps, thread));
        mark(steps, todo, mr_witness_steps_find(steps, trace->thread_info[thread].fork));
        mark_opaque(steps, todo, stops[i]);
    }
    if (witness->kind != MR_WITNESS_RACE && witness->kind != MR_WITNESS_DEADLOCK)
        mark(steps, todo, mr_witness_steps_find(steps, witness->first));
    if (witness->kind != MR_WITNESS_DANGLING && witness->kind != MR_WITNESS_DOUBLE_FREE)
        return;
    for (uint32_t i = 0; i < steps->count;
         i++) /* each may end the life of what the pointer points to */
        if (mr_op_ends_life(trace->op[steps->items[i].event]))
            mark(steps, todo, i);
}

/* Writes what is left to `events`; returns how many, MR_NONE: no memory. */
static uint32_t shorten(const mr_trace *trace, const mr_barrier_edges *opaque,
                        const mr_witness *witness, uint32_t *events, mr_arena *arena)
{
    mr_witness_steps steps;
    scheduler s = {0};
    pending todo = {.steps = mr_arena_alloc(arena, witness->event_count, sizeof *todo.steps)};
    if (!todo.steps || !mr_witness_steps_build(&steps, trace, opaque, witness, arena))
        return MR_NONE;
    mark_goal(&steps, &todo, witness);
    mark_needs(&steps, &todo);
    while (need_releases(&steps, &todo, witness->window_start))
        continue;
    return prepare(&s, &steps, arena) ? run(&s, events) : MR_NONE;
}

static bool has_waits(const mr_trace *trace, const mr_witness *witness)
{
    for (uint32_t i = 0; i < witness->event_count; i++)
        if (mr_op_takes(trace->op[witness->events[i]]))
            return true;
    return false;
}

/* Shortens the witness, whose events are in `events`, with `room` of the same size: as long as it
 * gets shorter, when it has waits. Returns which of the two arrays holds the result; NULL: no
 * memory. */
static uint32_t *shorten_all(const mr_trace *trace, const mr_barrier_edges *opaque,
                             mr_witness *witness, uint32_t *events, uint32_t *room)
{
    for (bool again = true; again;) {
        mr_arena arena;
        mr_arena_init(&arena);
        witness->events = events;
        uint32_t count = shorten(trace, opaque, witness, room, &arena);
        mr_arena_free(&arena);
        if (count == MR_NONE)
            return NULL;
        again = count && count < witness->event_count && has_waits(trace, witness);
        uint32_t *shorter = room;
        room = events;
        events = shorter;
        witness->event_count = count;
    }
    return events;
}

mr_status mr_witness_minimise(const mr_trace *trace, const mr_barrier_edges *opaque,
                              mr_witness *witness, mr_error *error)
{
    if (!witness->event_count || witness->event_count > MR_MINIMISE_MOST)
        return MR_OK;
    mr_witness work = *witness;
    uint32_t *one = mr_calloc(work.event_count, sizeof *one);
    uint32_t *other = mr_calloc(work.event_count, sizeof *other);
    uint32_t *result = NULL;
    if (one && other) {
        memcpy(one, witness->events, work.event_count * sizeof *one);
        result = shorten_all(trace, opaque, &work, one, other);
    }
    if (result != one)
        free(one);
    if (result != other)
        free(other);
    if (!result)
        return mr_error_memory(error, "shortening a witness");
    free(witness->events);
    witness->events = result;
    witness->event_count = work.event_count;
    return MR_OK;
}

void mr_witness_observe(mr_witness *witness)
{
    uint32_t observed = 0;
    if (witness->event_count <= MR_MINIMISE_MOST)
        return;
    while (observed < witness->event_count &&
           witness->events[observed] == witness->window_start + observed)
        observed++;
    witness->event_count -= observed;
    witness->window_start += observed;
    memmove(witness->events, witness->events + observed,
            witness->event_count * sizeof *witness->events);
}
