#include "excluded_calls.h"

#include "base/assert.h"

#include <stdlib.h>

/* The greatest length of a reach set as text. A line of a trace may have 1 MiB. */
enum { MOST_REACH_BYTES = 1 << 19, FEWEST_TO_COMPACT = 64 };

/* The last touch of an element, and the last one before it by another thread. MR_NONE: there is
 * none. */
typedef struct last_touch {
    uint32_t thread, event, event_of_others;
} last_touch;

/* The call of a thread that is open: further taken events may join it. */
typedef struct open_call {
    mr_u32s elements; /* may contain an element more than once */
    size_t compacted; /* their number after `compact`, when each was there once */
    uint64_t bytes;   /* length of their names, commas included */
    uint32_t first, last;
    uint32_t number;
    bool open;
    bool disturbed; /* another thread touched an element of the call since */
} open_call;

typedef struct finder {
    const mr_trace *trace;
    const mr_exclude_options *options;
    const bool *taken;
    mr_excluded_calls *calls;
    last_touch *touches; /* by element; the last one is `everything` */
    open_call *own;      /* by thread */
    uint32_t *depth;     /* by thread: number of open mbegins of the full trace */
    uint32_t everything; /* the element that such a call touches */
} finder;

const mr_name *mr_excluded_element_name(const mr_trace *trace, uint32_t element)
{
    if (element < trace->variables.count)
        return &trace->variables.items[element];
    element -= trace->variables.count;
    if (element < trace->locks.count)
        return &trace->locks.items[element];
    return &trace->threads.items[element - trace->locks.count];
}

static uint32_t thread_element(const mr_trace *trace, uint32_t thread)
{
    return trace->variables.count + trace->locks.count + thread;
}

/* The element that the event names, or MR_NONE. */
static uint32_t element_of(const mr_trace *trace, uint32_t event)
{
    uint32_t operand = trace->operand[event];
    switch (mr_op_operand_kind((mr_op)trace->op[event])) {
    case MR_OPERAND_VARIABLE:
        return operand;
    case MR_OPERAND_LOCK:
        return trace->variables.count + operand;
    case MR_OPERAND_THREAD:
        return thread_element(trace, operand);
    case MR_OPERAND_NONE:
    case MR_OPERAND_CALL:
    case MR_OPERAND_OBJECT:
        break;
    }
    return MR_NONE;
}

/* Touching. */

static void touch(finder *self, uint32_t element, uint32_t event)
{
    MR_ASSERT(element <= self->everything);
    last_touch *last = &self->touches[element];
    uint32_t thread = self->trace->thread[event];
    MR_ASSERT(last->event == MR_NONE || last->event <= event);
    if (last->thread != thread) {
        open_call *disturbed = last->thread != MR_NONE ? &self->own[last->thread] : NULL;
        if (disturbed && disturbed->open && last->event >= disturbed->first)
            disturbed->disturbed = true;
        last->event_of_others = last->event;
        last->thread = thread;
    }
    last->event = event;
}

static bool touched_by_others(const finder *self, uint32_t element, uint32_t thread, uint32_t since)
{
    const last_touch *last = &self->touches[element];
    uint32_t when = last->thread == thread ? last->event_of_others : last->event;
    return when != MR_NONE && when >= since;
}

/* Is it the first or last event of its thread, which may stand for its begin or end? */
static bool is_edge_of_thread(const mr_trace *trace, uint32_t event)
{
    const mr_thread_info *info = &trace->thread_info[trace->thread[event]];
    return event == info->first || event == info->last;
}

/* Notes what the event touches. A kept fork or join does not touch the thread; a taken one does, as
 * part of its call. */
static void touch_all(finder *self, uint32_t event)
{
    const mr_trace *trace = self->trace;
    uint32_t element = element_of(trace, event), thread = trace->thread[event];
    bool names_thread = mr_op_operand_kind((mr_op)trace->op[event]) == MR_OPERAND_THREAD;
    if (element != MR_NONE && (!names_thread || self->taken[event]))
        touch(self, element, event);
    if (is_edge_of_thread(trace, event))
        touch(self, thread_element(trace, thread), event);
    if (mr_op_calls(trace->op[event]))
        self->depth[thread]++;
    if (self->depth[thread])
        touch(self, self->everything, event);
    if (mr_op_returns(trace->op[event])) {
        MR_ASSERT(self->depth[thread] > 0); /* a valid trace has the mbegin of each mend */
        self->depth[thread]--;
    }
}

/* Growing a call. */

static int compare_elements(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* Sorts the elements and removes those that are there twice. */
static void compact(const mr_trace *trace, open_call *call)
{
    mr_u32s *elements = &call->elements;
    size_t kept = 0;
    call->bytes = 0;
    if (elements->count > 0)
        qsort(elements->items, elements->count, sizeof *elements->items, compare_elements);
    for (size_t i = 0; i < elements->count; i++) {
        if (i > 0 && elements->items[i] == elements->items[i - 1])
            continue;
        call->bytes += mr_excluded_element_name(trace, elements->items[i])->length + 1;
        elements->items[kept++] = elements->items[i];
    }
    elements->count = call->compacted = kept;
}

static bool close_call(finder *self, open_call *call)
{
    mr_excluded_calls *calls = self->calls;
    mr_excluded_call *done = &calls->items[call->number];
    MR_ASSERT(call->open && call->number < calls->count && call->first <= call->last);
    compact(self->trace, call);
    *done = (mr_excluded_call){call->first, call->last, (uint32_t)calls->elements.count,
                               (uint32_t)call->elements.count};
    call->open = false;
    for (size_t i = 0; i < call->elements.count; i++)
        if (calls->elements.count >= UINT32_MAX ||
            !mr_u32s_push(&calls->elements, call->elements.items[i]))
            return false;
    return true;
}

static bool open_new(finder *self, open_call *call, uint32_t event)
{
    mr_excluded_calls *calls = self->calls;
    void *items = calls->items;
    MR_ASSERT(!call->open);
    if (!mr_grow(&items, &calls->capacity, calls->count + 1, sizeof *calls->items))
        return false;
    calls->items = items;
    call->elements.count = call->compacted = 0;
    call->bytes = 0;
    call->first = event;
    call->number = (uint32_t)calls->count++;
    call->open = true;
    call->disturbed = false;
    return true;
}

static bool add_element(finder *self, open_call *call, uint32_t element)
{
    size_t limit = 2 * call->compacted;
    if (!mr_u32s_push(&call->elements, element))
        return false;
    call->bytes += mr_excluded_element_name(self->trace, element)->length + 1;
    if (call->elements.count > FEWEST_TO_COMPACT && call->elements.count > limit)
        compact(self->trace, call);
    return true;
}

/* Must the event begin a new call? */
static bool must_cut(finder *self, open_call *call, uint32_t event)
{
    const mr_trace *trace = self->trace;
    uint32_t element = element_of(trace, event), thread = trace->thread[event];
    if (call->bytes > MOST_REACH_BYTES) {
        compact(trace, call);
        if (call->bytes > MOST_REACH_BYTES)
            return true;
    }
    if (self->options->whole_runs)
        return false;
    return call->disturbed || touched_by_others(self, self->everything, thread, call->first) ||
           (element != MR_NONE && touched_by_others(self, element, thread, call->first));
}

static bool take_event(finder *self, uint32_t event)
{
    open_call *call = &self->own[self->trace->thread[event]];
    uint32_t element = element_of(self->trace, event);
    if (call->open && must_cut(self, call, event) && !close_call(self, call))
        return false;
    if (!call->open && !open_new(self, call, event))
        return false;
    MR_ASSERT(call->first == event || call->last < event);
    call->last = event;
    self->calls->call_of[event] = call->number;
    return element == MR_NONE || add_element(self, call, element);
}

static bool find_calls(finder *self)
{
    const mr_trace *trace = self->trace;
    for (uint32_t event = 0; event < trace->event_count; event++) {
        open_call *call = &self->own[trace->thread[event]];
        self->calls->call_of[event] = MR_NONE;
        if (self->taken[event] ? !take_event(self, event) : call->open && !close_call(self, call))
            return false;
        touch_all(self, event);
    }
    for (uint32_t t = 0; t < trace->threads.count; t++)
        if (self->own[t].open && !close_call(self, &self->own[t]))
            return false;
    return true;
}

bool mr_excluded_calls_find(const mr_trace *trace, const mr_exclude_options *options,
                            const bool *taken, mr_excluded_calls *calls)
{
    size_t threads = trace->threads.count;
    size_t elements = (size_t)trace->variables.count + trace->locks.count + threads;
    finder self = {.trace = trace,
                   .options = options,
                   .taken = taken,
                   .calls = calls,
                   .touches = mr_calloc(elements + 1, sizeof *self.touches),
                   .own = mr_calloc(threads + 1, sizeof *self.own),
                   .depth = mr_calloc(threads + 1, sizeof *self.depth),
                   .everything = (uint32_t)elements};
    calls->call_of = mr_calloc((size_t)trace->event_count + 1, sizeof *calls->call_of);
    bool done = elements < MR_NONE && self.touches && self.own && self.depth && calls->call_of;
    for (size_t i = 0; done && i <= elements; i++)
        self.touches[i] = (last_touch){MR_NONE, MR_NONE, MR_NONE};
    done = done && find_calls(&self);
    for (size_t t = 0; self.own && t < threads; t++)
        mr_u32s_free(&self.own[t].elements);
    free(self.touches);
    free(self.own);
    free(self.depth);
    return done;
}

void mr_excluded_calls_free(mr_excluded_calls *calls)
{
    free(calls->items);
    free(calls->call_of);
    mr_u32s_free(&calls->elements);
    *calls = (mr_excluded_calls){0};
}
