#include "reduce.h"

#include "base/assert.h"
#include "relevant.h"

#include <stdlib.h>
#include <string.h>

/* The fate of an event. */
enum { LEFT_OUT = 0, KEPT, MARK };

typedef struct reducer {
    mr_reduction *out;
    const mr_trace *full;
    const mr_barrier_edges *opaque;
    mr_model model;
    const mr_reduction_keep *keep; /* NULL: nothing more */
    mr_relevant relevant;
    uint8_t *fate;    /* by event of the full trace */
    uint32_t *number; /* by event of the full trace: its reduced event; MR_NONE: left out */
} reducer;

/* Keeps an event as a mark, unless it is kept as it is. */
static void make_mark(reducer *r, uint32_t event)
{
    if (event != MR_NONE && r->fate[event] == LEFT_OUT)
        r->fate[event] = MARK;
}

static void add_names(uint8_t *to, const uint8_t *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        to[i] |= from[i];
}

/* Finds the relevant names, with those to be kept in any case. */
static bool find_relevant(reducer *r)
{
    const mr_trace *full = r->full;
    if (!mr_relevant_find(&r->relevant, full, r->model))
        return false;
    if (!r->keep)
        return true;
    add_names(r->relevant.variables, r->keep->variables, full->variables.count);
    add_names(r->relevant.locks, r->keep->locks, full->locks.count);
    add_names(r->relevant.objects, r->keep->objects, full->objects.count);
    return true;
}

/* Decides the fate of each event and numbers the kept events; returns how many there are. */
static uint32_t choose(reducer *r)
{
    const mr_trace *full = r->full;
    for (uint32_t i = 0; i < full->event_count; i++)
        if (mr_relevant_keeps(&r->relevant, full, r->model, i) ||
            (r->keep && full->op[i] == MR_OP_ALLOC && r->keep->objects[full->operand[i]]))
            r->fate[i] = KEPT;
    for (uint32_t i = 0; mr_op_total(full->op_counts, MR_JOINS) && i < full->event_count; i++)
        if (mr_op_joins(full->op[i]))
            make_mark(r, full->thread_info[full->operand[i]].last);
    for (size_t k = 0; k < r->opaque->count; k++) {
        make_mark(r, r->opaque->items[k].from);
        make_mark(r, r->opaque->items[k].to);
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < full->event_count; i++)
        r->number[i] = r->fate[i] == LEFT_OUT ? MR_NONE : count++;
    return count;
}

static bool allocate(mr_reduction *out, uint32_t count)
{
    mr_trace *trace = &out->trace;
    trace->event_count = count;
    trace->op = mr_calloc(count, sizeof *trace->op);
    trace->thread = mr_calloc(count, sizeof *trace->thread);
    trace->operand = mr_calloc(count, sizeof *trace->operand);
    trace->location = mr_calloc(count, sizeof *trace->location);
    trace->value = mr_calloc(count, sizeof *trace->value);
    trace->link = mr_calloc(count, sizeof *trace->link);
    trace->thread_info = mr_calloc(trace->threads.count, sizeof *trace->thread_info);
    trace->object_info = mr_calloc(trace->objects.count, sizeof *trace->object_info);
    out->events = mr_calloc(count, sizeof *out->events);
    return trace->op && trace->thread && trace->operand && trace->location && trace->value &&
           trace->link && trace->thread_info && trace->object_info && out->events;
}

static uint32_t new_link(const reducer *r, uint32_t event)
{
    uint32_t link = r->full->link[event];
    if (link == MR_NONE || link == MR_NESTED)
        return link;
    /* The operations of a name are all kept or all left out. */
    MR_ASSERT(r->number[link] != MR_NONE || !mr_op_is_access(r->full->op[event]));
    return r->number[link];
}

static void copy_event(reducer *r, uint32_t event)
{
    const mr_trace *full = r->full;
    mr_trace *trace = &r->out->trace;
    uint32_t i = r->number[event];
    bool mark = r->fate[event] == MARK;
    MR_ASSERT(i <= event && i < trace->event_count);
    r->out->events[i] = event;
    trace->op[i] = mark ? MR_OP_END : full->op[event];
    trace->thread[i] = full->thread[event];
    trace->location[i] = full->location[event];
    trace->operand[i] = mark ? 0 : full->operand[event];
    trace->value[i] = mark ? 0 : full->value[event];
    trace->link[i] = mark ? MR_NONE : new_link(r, event);
    trace->op_counts[trace->op[i]]++;
    mr_thread_info *info = &trace->thread_info[full->thread[event]];
    info->first = info->event_count++ ? info->first : i;
    info->last = i;
    if (mr_op_forks(trace->op[i]))
        trace->thread_info[trace->operand[i]].fork = i;
}

static void copy_events(reducer *r)
{
    mr_trace *trace = &r->out->trace;
    for (uint32_t t = 0; t < trace->threads.count; t++)
        trace->thread_info[t] =
            (mr_thread_info){.fork = MR_NONE, .first = MR_NONE, .last = MR_NONE};
    for (uint32_t i = 0; i < r->full->event_count; i++)
        if (r->fate[i] != LEFT_OUT)
            copy_event(r, i);
}

/* Where objects are freed in the reduced trace. Their allocs are in the edges. */
static void copy_objects(reducer *r)
{
    for (uint32_t i = 0; i < r->full->objects.count; i++) {
        mr_object_info *info = &r->out->trace.object_info[i];
        *info = r->full->object_info[i];
        bool kept = info->free != MR_NONE && r->fate[info->free] == KEPT;
        info->free = kept ? r->number[info->free] : MR_NONE;
        info->alloc = MR_NONE;
    }
}

static bool copy_edges(reducer *r)
{
    mr_barrier_edges *edges = &r->out->opaque;
    edges->items = mr_calloc(r->opaque->count, sizeof *edges->items);
    if (!edges->items)
        return false;
    edges->count = edges->capacity = r->opaque->count;
    for (size_t k = 0; k < edges->count; k++) {
        mr_edge edge = {r->number[r->opaque->items[k].from], r->number[r->opaque->items[k].to]};
        MR_ASSERT(edge.from < edge.to && edge.to < r->out->trace.event_count);
        edges->items[k] = edge;
    }
    return true;
}

/* Does each reduced event stand for a later event than the one before it? */
static bool is_ascending(const mr_reduction *reduction)
{
    for (uint32_t i = 1; i < reduction->trace.event_count; i++)
        if (reduction->events[i - 1] >= reduction->events[i])
            return false;
    return true;
}

mr_status mr_reduce(mr_reduction *reduction, const mr_trace *full, const mr_barrier_edges *opaque,
                    mr_model model, const mr_reduction_keep *keep, mr_error *error)
{
    *reduction = (mr_reduction){.full = full, .trace = *full};
    mr_trace *trace = &reduction->trace;
    trace->op = NULL;
    trace->thread = trace->operand = trace->location = trace->value = trace->link = NULL;
    trace->thread_info = NULL;
    trace->object_info = NULL;
    trace->memory_order = NULL;
    trace->outlook = NULL; /* the known one is of all events */
    memset(trace->op_counts, 0, sizeof trace->op_counts);
    reducer r = {.out = reduction, .full = full, .opaque = opaque, .model = model, .keep = keep};
    r.fate = mr_calloc(full->event_count, sizeof *r.fate);
    r.number = mr_calloc(full->event_count, sizeof *r.number);
    bool complete = r.fate && r.number && find_relevant(&r) && allocate(reduction, choose(&r)) &&
                    copy_edges(&r);
    if (complete) {
        copy_events(&r);
        copy_objects(&r);
        MR_ASSERT_COSTLY(is_ascending(reduction));
    }
    mr_relevant_free(&r.relevant);
    free(r.fate);
    free(r.number);
    return complete ? MR_OK : mr_error_memory(error, "leaving out what no reordering can change");
}

void mr_reduction_free(mr_reduction *reduction)
{
    mr_trace *trace = &reduction->trace;
    void *const owned[] = {trace->op,          trace->thread,      trace->operand,
                           trace->location,    trace->value,       trace->link,
                           trace->thread_info, trace->object_info, reduction->events};
    for (size_t i = 0; reduction->full && i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    mr_barrier_edges_free(&reduction->opaque);
    *reduction = (mr_reduction){0};
}

uint32_t mr_reduction_at(const mr_reduction *reduction, uint32_t event)
{
    uint32_t low = 0, high = reduction->trace.event_count;
    MR_REQUIRE(event <= reduction->full->event_count);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (reduction->events[middle] < event)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The way back of one witness. It lists events of the full trace, thread by thread in program
 * order. */
typedef struct expander {
    const mr_reduction *reduction;
    const mr_trace *full;
    uint32_t start;
    uint32_t *next;      /* by thread: its next event to list; MR_NONE: none in the window */
    uint32_t *bound;     /* by thread: only events before this one are listed in trace order */
    uint32_t *following; /* by event of the window: the next event of its thread */
    uint32_t passed;     /* the next event to look at in trace order */
    uint32_t kept;       /* the first reduced event from `passed` on */
    mr_u32s *out;        /* the listed events */
} expander;

static bool list(expander *x, uint32_t event)
{
    MR_ASSERT(event >= x->start && x->next[x->full->thread[event]] == event);
    x->next[x->full->thread[event]] = x->following[event - x->start];
    return mr_u32s_push(x->out, event);
}

/* Lists the events of the thread before `end`. False: no memory. */
static bool list_up_to(expander *x, uint32_t thread, uint32_t end)
{
    while (x->next[thread] < end)
        if (!list(x, x->next[thread]))
            return false;
    return true;
}

/* Has the fork of the thread happened: before the window, or listed? */
static bool is_started(const expander *x, uint32_t thread)
{
    uint32_t fork = x->full->thread_info[thread].fork;
    return fork == MR_NONE || fork < x->start || x->next[x->full->thread[fork]] > fork;
}

/* Looks at the events before `end` in trace order, and lists those that the reduced trace has left
 * out and that are next in their thread. False: no memory. */
static bool pass(expander *x, uint32_t end)
{
    for (; x->passed < end; x->passed++) {
        uint32_t event = x->passed, thread = x->full->thread[event];
        bool is_kept =
            x->kept < x->reduction->trace.event_count && x->reduction->events[x->kept] == event;
        x->kept += is_kept;
        if (!is_kept && x->next[thread] == event && event < x->bound[thread] &&
            is_started(x, thread) && !list(x, event))
            return false;
    }
    return true;
}

/* Is each listed event followed by the next event of its thread, where that is listed, too? */
static bool is_program_order(const expander *x)
{
    uint32_t *last = mr_calloc(x->full->threads.count, sizeof *last); /* plus one */
    bool right = true;
    for (size_t i = 0; last && i < x->out->count; i++) {
        uint32_t event = x->out->items[i], *own = &last[x->full->thread[event]];
        right &= !*own || x->following[*own - 1 - x->start] == event;
        *own = event + 1;
    }
    free(last);
    return right;
}

/* Lists the events of the witness in its order, each after the events before it in its thread. */
static bool list_all(expander *x, const mr_witness *witness)
{
    const mr_trace *full = x->full;
    for (uint32_t i = 0; i < witness->event_count; i++) {
        uint32_t event = x->reduction->events[witness->events[i]];
        if (!pass(x, event))
            return false;
        if (mr_op_joins(full->op[event]) && !list_up_to(x, full->operand[event], event))
            return false;
        if (!list_up_to(x, full->thread[event], event + 1))
            return false;
    }
    uint32_t count;
    const uint32_t *stops = mr_witness_stops(witness, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t stop = x->reduction->events[stops[i]];
        if (!list_up_to(x, full->thread[stop], stop))
            return false;
    }
    return true;
}

/* Sets the bounds: the last event of the thread in the witness; for the threads that stop before an
 * event, that event. */
static void find_bounds(expander *x, const mr_witness *witness)
{
    const mr_trace *full = x->full;
    for (uint32_t i = 0; i < witness->event_count; i++) {
        uint32_t event = x->reduction->events[witness->events[i]];
        uint32_t *bound = &x->bound[full->thread[event]];
        *bound = event > *bound ? event : *bound;
    }
    uint32_t count;
    const uint32_t *stops = mr_witness_stops(witness, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t stop = x->reduction->events[stops[i]];
        x->bound[full->thread[stop]] = stop;
    }
}

/* Makes the lists of the events of each thread in [start, end). False: no memory. */
static bool follow_threads(expander *x, uint32_t end)
{
    const mr_trace *full = x->full;
    x->next = mr_calloc(full->threads.count, sizeof *x->next);
    x->bound = mr_calloc(full->threads.count, sizeof *x->bound);
    x->following = mr_calloc(end - x->start, sizeof *x->following);
    if (!x->next || !x->bound || !x->following)
        return false;
    memset(x->next, 0xff, full->threads.count * sizeof *x->next);
    for (uint32_t event = end; event-- > x->start;) {
        x->following[event - x->start] = x->next[full->thread[event]];
        x->next[full->thread[event]] = event;
    }
    return true;
}

/* Turns the events that the witness is about into those of the full trace. */
static void name_in_full(mr_witness *witness, const uint32_t *events)
{
    witness->first = witness->first == MR_NONE ? MR_NONE : events[witness->first];
    witness->second = events[witness->second];
    if (witness->kind == MR_WITNESS_DANGLING || witness->kind == MR_WITNESS_DOUBLE_FREE)
        witness->freed = events[witness->freed];
    for (uint32_t i = 0; i < witness->wait_count; i++)
        witness->waits[i] = events[witness->waits[i]];
}

mr_status mr_reduction_expand(const mr_reduction *reduction, mr_witness *witness, mr_error *error)
{
    const uint32_t *events = reduction->events;
    uint32_t stop_count;
    const uint32_t *stops = mr_witness_stops(witness, &stop_count);
    MR_REQUIRE(witness->window_end <= reduction->trace.event_count);
    for (uint32_t i = 0; i < stop_count; i++)
        MR_REQUIRE(witness->window_start <= stops[i] && stops[i] < witness->window_end);
    uint32_t start = witness->window_start ? events[witness->window_start] : 0;
    uint32_t end = events[witness->window_end - 1] + 1;
    mr_u32s listed = {0};
    expander x = {.reduction = reduction,
                  .full = reduction->full,
                  .start = start,
                  .passed = start,
                  .kept = mr_reduction_at(reduction, start),
                  .out = &listed};
    bool complete = follow_threads(&x, end);
    if (complete)
        find_bounds(&x, witness);
    complete = complete && list_all(&x, witness);
    MR_ASSERT_COSTLY(!complete || is_program_order(&x));
    free(x.next);
    free(x.bound);
    free(x.following);
    if (!complete) {
        mr_u32s_free(&listed);
        return mr_error_memory(error, "writing out a witness");
    }
    free(witness->events);
    witness->events = listed.items;
    witness->event_count = (uint32_t)listed.count;
    name_in_full(witness, events);
    witness->window_start = start;
    witness->window_end = end;
    return MR_OK;
}
