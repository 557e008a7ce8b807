#include "barrier_check.h"

#include "base/assert.h"
#include "trace/columns.h"

#include <stdlib.h>

/* ---- what calls reach, what events touch ---- */

static int compare_numbers(const void *one, const void *two)
{
    uint32_t x = *(const uint32_t *)one, y = *(const uint32_t *)two;
    return (x > y) - (x < y);
}

static bool reaches(const mr_witness_calls *s, const mr_witness_call *call, uint32_t name)
{
    return name != MR_NONE && call->name_count &&
           bsearch(&name, s->names.items + call->first_name, call->name_count, sizeof name,
                   compare_numbers);
}

/* Do the two calls have a common element? */
static bool common(const mr_witness_calls *s, const mr_witness_call *c, const mr_witness_call *d)
{
    if (s->mode == MR_OPAQUE_SIMPLE)
        return true;
    if (!c->name_count || !d->name_count)
        return false;
    if (reaches(s, c, s->star) || reaches(s, d, s->star))
        return true;
    const uint32_t *x = s->names.items + c->first_name, *x_end = x + c->name_count;
    const uint32_t *y = s->names.items + d->first_name, *y_end = y + d->name_count;
    while (x < x_end && y < y_end && *x != *y)
        *x < *y ? x++ : y++;
    return x < x_end && y < y_end;
}

/* Has one of the calls that `c` is the innermost of an element in common with one of those of `d`?
 */
static bool meet(const mr_witness_calls *s, uint32_t c, uint32_t d)
{
    for (; c != MR_NONE; c = s->calls[c].outer) {
        for (uint32_t inner = d; inner != MR_NONE; inner = s->calls[inner].outer) {
            if (common(s, &s->calls[c], &s->calls[inner]))
                return true;
        }
    }
    return false;
}

/* The names that an event touches: its operand's, its thread's, and "*"; MR_NONE: no such name. A
 * free touches those of find_freed, too. */
enum { TOUCHED = 3 };

/* Of a free, the names of the variables of its object, at freed[first … + count). */
static uint32_t find_freed(const mr_witness_calls *s, uint32_t event, uint32_t *first)
{
    const mr_trace *trace = s->trace;
    uint32_t object = trace->operand[event], count = 0, end = s->freed_count;
    *first = 0;
    if (trace->op[event] != MR_OP_FREE)
        return 0;
    while (*first < end) {
        uint32_t middle = *first + (end - *first) / 2;
        if (s->freed[middle].object < object)
            *first = middle + 1;
        else
            end = middle;
    }
    while (*first + count < s->freed_count && s->freed[*first + count].object == object)
        count++;
    return count;
}

static void find_touched(const mr_witness_calls *s, const mr_replay *replay, uint32_t event,
                         uint32_t *names)
{
    const mr_trace *trace = s->trace;
    uint32_t thread = trace->thread[event], operand = trace->operand[event];
    bool edge = replay->first_event[thread] == event || replay->following[event] == MR_NONE;
    bool object = false;
    names[0] = names[1] = names[2] = MR_NONE;
    switch (mr_op_operand_kind((mr_op)trace->op[event])) {
    case MR_OPERAND_VARIABLE:
        object = mr_op_is_access(trace->op[event]);
        names[0] = object ? s->of_variable[operand] : MR_NONE;
        break;
    case MR_OPERAND_LOCK:
        object = true;
        names[0] = s->of_lock[operand];
        break;
    case MR_OPERAND_OBJECT:
        object = trace->op[event] == MR_OP_FREE && s->has_variables[operand];
        break;
    case MR_OPERAND_NONE:
    case MR_OPERAND_THREAD: /* a fork or join does not touch the thread */
    case MR_OPERAND_CALL:
        break;
    }
    if (edge)
        names[1] = s->of_thread[thread];
    if (object || edge)
        names[2] = s->star;
}

static bool touches(const mr_witness_calls *s, const mr_replay *replay, uint32_t event,
                    uint32_t call)
{
    uint32_t names[TOUCHED], first, freed = find_freed(s, event, &first);
    find_touched(s, replay, event, names);
    for (; call != MR_NONE; call = s->calls[call].outer) {
        for (int i = 0; i < TOUCHED; i++) {
            if (reaches(s, &s->calls[call], names[i]))
                return true;
        }
        for (uint32_t i = 0; i < freed; i++) {
            if (reaches(s, &s->calls[call], s->freed[first + i].name))
                return true;
        }
    }
    return false;
}

bool mr_witness_calls_keep(const mr_witness_calls *s, const mr_replay *replay, uint32_t earlier,
                           uint32_t later)
{
    return !s->none && earlier < later && s->trace->thread[earlier] != s->trace->thread[later] &&
           (meet(s, s->innermost[later], s->innermost[earlier]) ||
            touches(s, replay, earlier, s->innermost[later]) ||
            touches(s, replay, later, s->innermost[earlier]));
}

/* ---- the question ---- */

/* (1) and (2): what the calls that the event lies in need. */
static uint32_t unmet_by_calls(const mr_witness_calls *s, const mr_replay *replay, uint32_t event)
{
    const mr_trace *trace = s->trace;
    uint32_t call = s->innermost[event], asked = MR_NONE; /* a call that does not meet this one */
    if (call == MR_NONE)
        return MR_NONE;
    for (uint32_t e = event; e-- > replay->base;) {
        if (trace->thread[e] == trace->thread[event]) {
            if (!mr_op_calls(trace->op[event]))
                break;
            continue;
        }
        if (mr_replay_happened(replay, e))
            continue;
        if (s->innermost[e] != asked) {
            if (meet(s, call, s->innermost[e]))
                return e;
            asked = s->innermost[e];
        }
        if (touches(s, replay, e, call))
            return e;
    }
    return MR_NONE;
}

/* The first interval in [low, high) of which (name, thread, begin) is not below the given one. */
static size_t find_interval(const mr_witness_calls *s, size_t low, size_t high,
                            mr_call_interval least)
{
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const mr_call_interval *at = &s->intervals[middle];
        bool below = at->name < least.name;
        if (at->name == least.name)
            below = at->thread < least.thread ||
                    (at->thread == least.thread && at->begin < least.begin);
        if (below)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* (3) for one name. */
static uint32_t unmet_by_name(const mr_witness_calls *s, const mr_replay *replay, uint32_t event,
                              uint32_t name)
{
    size_t end = s->interval_count;
    size_t i = find_interval(s, 0, end, (mr_call_interval){.name = name});
    while (i < end && s->intervals[i].name == name) {
        uint32_t thread = s->intervals[i].thread, next = replay->next[thread];
        size_t after = find_interval(
            s, i, end, (mr_call_interval){.name = name, .thread = thread, .begin = event});
        if (thread != s->trace->thread[event] && after > i && next < event) {
            const mr_call_interval *last = &s->intervals[after - 1];
            if (next <= last->end)
                return next < last->begin ? last->begin : next;
        }
        i = find_interval(s, after, end, (mr_call_interval){.name = name, .thread = thread + 1});
    }
    return MR_NONE;
}

uint32_t mr_witness_calls_unmet(const mr_witness_calls *s, const mr_replay *replay, uint32_t event)
{
    if (s->none)
        return MR_NONE;
    uint32_t names[TOUCHED], unmet = unmet_by_calls(s, replay, event);
    uint32_t first, freed = find_freed(s, event, &first);
    find_touched(s, replay, event, names);
    for (int i = 0; i < TOUCHED && unmet == MR_NONE; i++) {
        if (names[i] != MR_NONE)
            unmet = unmet_by_name(s, replay, event, names[i]);
    }
    for (uint32_t i = 0; i < freed && unmet == MR_NONE; i++)
        unmet = unmet_by_name(s, replay, event, s->freed[first + i].name);
    return unmet;
}

/* ---- life ---- */

static uint32_t find_name(const mr_trace *trace, const mr_name *name)
{
    uint32_t number;
    return mr_names_find(&trace->reach_names, name->text, name->length, &number) ? number : MR_NONE;
}

/* NULL: no memory. */
static uint32_t *find_names(const mr_trace *trace, const mr_names *names)
{
    uint32_t *found = mr_calloc(names->count, sizeof *found);
    for (uint32_t i = 0; found && i < names->count; i++)
        found[i] = find_name(trace, &names->items[i]);
    return found;
}

static int compare_freed(const void *one, const void *two)
{
    const mr_freed_name *x = one, *y = two;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

/* Of the variables of objects those that calls name. */
static bool find_members(mr_witness_calls *s)
{
    const mr_trace *trace = s->trace;
    uint32_t count = trace->variables.count;
    s->freed = mr_calloc(trace->objects.count ? count : 0, sizeof *s->freed);
    s->has_variables = mr_calloc(trace->objects.count, sizeof *s->has_variables);
    if (!s->freed || !s->has_variables)
        return false;
    for (uint32_t x = 0; trace->objects.count && x < count; x++) {
        uint32_t object = mr_trace_object(trace, x);
        if (object == MR_NONE)
            continue;
        s->has_variables[object] = true;
        if (s->of_variable[x] != MR_NONE)
            s->freed[s->freed_count++] = (mr_freed_name){object, s->of_variable[x]};
    }
    qsort(s->freed, s->freed_count, sizeof *s->freed, compare_freed);
    return true;
}

static bool add_call(mr_witness_calls *s, uint32_t event, uint32_t outer)
{
    const mr_trace *trace = s->trace;
    mr_reach reach = trace->reaches[trace->value[event]];
    uint32_t first = (uint32_t)s->names.count;
    if (!mr_grow((void **)&s->calls, &s->call_capacity, s->call_count + 1, sizeof *s->calls))
        return false;
    for (uint32_t i = 0; i < reach.count; i++) {
        if (!mr_u32s_push(&s->names, trace->reach_items.items[reach.first + i]))
            return false;
    }
    if (reach.count)
        qsort(s->names.items + first, reach.count, sizeof *s->names.items, compare_numbers);
    s->calls[s->call_count++] = (mr_witness_call){.begin = event,
                                                  .end = MR_NONE,
                                                  .outer = outer,
                                                  .first_name = first,
                                                  .name_count = reach.count};
    return true;
}

/* Finds the calls and which of them each event lies in; `open`: the innermost one, by thread. */
static bool find_calls(mr_witness_calls *s, uint32_t *open)
{
    const mr_trace *trace = s->trace;
    for (uint32_t t = 0; t < trace->threads.count; t++)
        open[t] = MR_NONE;
    for (uint32_t e = 0; e < trace->event_count; e++) {
        uint32_t *innermost = &open[trace->thread[e]];
        mr_trace_pass(trace, e);
        if (mr_op_calls(trace->op[e])) {
            if (!add_call(s, e, *innermost))
                return false;
            *innermost = (uint32_t)s->call_count - 1;
        }
        s->innermost[e] = *innermost;
        if (mr_op_returns(trace->op[e])) {
            MR_ASSERT(*innermost != MR_NONE); /* calls nest like brackets */
            s->calls[*innermost].end = e;
            *innermost = s->calls[*innermost].outer;
        }
    }
    return true;
}

static int compare_intervals(const void *one, const void *two)
{
    const mr_call_interval *x = one, *y = two;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Of the calls of a thread that reach a name, those within another one are left out: they are over
 * when it is, so the ends stand in order too. */
static void keep_outermost(mr_witness_calls *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->interval_count; i++) {
        const mr_call_interval *at = &s->intervals[i],
                               *last = kept ? &s->intervals[kept - 1] : NULL;
        bool within = last && last->name == at->name && last->thread == at->thread &&
                      (last->end == MR_NONE || at->begin < last->end);
        if (!within)
            s->intervals[kept++] = *at;
    }
    s->interval_count = kept;
}

static bool find_intervals(mr_witness_calls *s)
{
    s->intervals = mr_calloc(s->names.count, sizeof *s->intervals);
    if (!s->intervals)
        return false;
    for (size_t c = 0; c < s->call_count; c++) {
        const mr_witness_call *call = &s->calls[c];
        for (uint32_t i = 0; i < call->name_count; i++)
            s->intervals[s->interval_count++] =
                (mr_call_interval){.name = s->names.items[call->first_name + i],
                                   .thread = s->trace->thread[call->begin],
                                   .begin = call->begin,
                                   .end = call->end};
    }
    qsort(s->intervals, s->interval_count, sizeof *s->intervals, compare_intervals);
    keep_outermost(s);
    return true;
}

bool mr_witness_calls_init(mr_witness_calls *s, const mr_trace *trace, mr_opaque mode)
{
    *s = (mr_witness_calls){.trace = trace, .mode = mode, .star = MR_NONE};
    s->none = mode == MR_OPAQUE_IGNORE || trace->calls.count == 0;
    if (s->none)
        return true;
    s->star = find_name(trace, &(mr_name){.text = "*", .length = 1});
    s->of_variable = find_names(trace, &trace->variables);
    s->of_lock = find_names(trace, &trace->locks);
    s->of_thread = find_names(trace, &trace->threads);
    s->innermost = mr_columns_derive(trace, sizeof *s->innermost, &s->memory);
    uint32_t *open = mr_calloc(trace->threads.count, sizeof *open);
    bool done = s->of_variable && s->of_lock && s->of_thread && s->innermost && open &&
                find_members(s) && find_calls(s, open) && find_intervals(s);
    free(open);
    return done;
}

void mr_witness_calls_free(mr_witness_calls *s)
{
    free(s->of_variable);
    free(s->of_lock);
    free(s->of_thread);
    free(s->freed);
    free(s->has_variables);
    mr_spill_free(&s->memory);
    free(s->calls);
    mr_u32s_free(&s->names);
    free(s->intervals);
}
