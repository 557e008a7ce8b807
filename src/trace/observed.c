#include "observed.h"

#include "base/keys.h"

#include <stdlib.h>

void mr_observed_free(mr_observed_list *list)
{
    free(list->items);
    *list = (mr_observed_list){.count = 0};
}

uint32_t mr_observed_object(const mr_trace *trace, uint32_t event)
{
    uint8_t op = trace->op[event];
    if (mr_op_is_access(op))
        return mr_trace_object(trace, trace->operand[event]);
    return mr_op_operand_kind((mr_op)op) == MR_OPERAND_OBJECT ? trace->operand[event] : MR_NONE;
}

static bool same_places(const mr_trace *trace, const mr_observed *one, const mr_observed *two)
{
    bool same = one->kind == two->kind &&
                trace->location[one->event] == trace->location[two->event] &&
                (one->other == MR_NONE) == (two->other == MR_NONE);
    return same &&
           (one->other == MR_NONE || trace->location[one->other] == trace->location[two->other]);
}

static bool add(mr_observed_list *list, const mr_trace *trace, const mr_observed *found)
{
    for (size_t i = 0; i < list->count; i++)
        if (same_places(trace, &list->items[i], found)) {
            list->items[i].count++;
            return true;
        }
    void *items = list->items;
    if (!mr_grow(&items, &list->capacity, list->count + 1, sizeof *list->items))
        return false;
    list->items = items;
    list->items[list->count++] = *found;
    return true;
}

/* The free that the event comes after, though it uses the object; MR_NONE: none. */
static uint32_t free_before(const mr_trace *trace, uint32_t event)
{
    uint32_t object = mr_trace_object(trace, trace->operand[event]);
    uint32_t end = object == MR_NONE ? MR_NONE : trace->object_info[object].free;
    return end != MR_NONE && end < event ? end : MR_NONE;
}

/* What the recorder says of the event, or NONE. */
static mr_misuse_kind kind_at(const mr_trace *trace, uint32_t event)
{
    const mr_ending *ending = &trace->ending;
    for (size_t i = 0; i < ending->misuse_count; i++)
        if (ending->misuses[i].event == event)
            return ending->misuses[i].kind;
    return MR_MISUSE_NONE;
}

static bool add_uses(mr_observed_list *list, const mr_trace *trace)
{
    if (trace->op_counts[MR_OP_FREE] == 0 || trace->members.count == 0)
        return true;
    for (uint32_t event = 0; event < trace->event_count; event++) {
        mr_trace_pass(trace, event);
        if (!mr_op_is_access(trace->op[event]))
            continue;
        uint32_t end = free_before(trace, event);
        if (end == MR_NONE)
            continue;
        mr_observed found = {MR_MISUSE_USE_AFTER_FREE, event, end, 1};
        if (kind_at(trace, event) == MR_MISUSE_DOUBLE_FREE)
            found.kind = MR_MISUSE_DOUBLE_FREE;
        if (!add(list, trace, &found))
            return false;
    }
    return true;
}

/* What is said of an event that the trace has not is passed over. */
static bool add_misuses(mr_observed_list *list, const mr_trace *trace)
{
    for (size_t i = 0; i < trace->ending.misuse_count; i++) {
        const mr_misuse *misuse = &trace->ending.misuses[i];
        bool has_other = misuse->other != MR_MISUSE_NO_EVENT;
        if (misuse->event >= trace->event_count ||
            (has_other && misuse->other >= trace->event_count) ||
            misuse->kind == MR_MISUSE_DOUBLE_FREE || misuse->kind == MR_MISUSE_USE_AFTER_FREE)
            continue;
        mr_observed found = {misuse->kind, (uint32_t)misuse->event,
                             has_other ? (uint32_t)misuse->other : MR_NONE, 1};
        if (!add(list, trace, &found))
            return false;
    }
    return true;
}

static int compare(const void *one, const void *two)
{
    const mr_observed *a = one, *b = two;
    return (a->event > b->event) - (a->event < b->event);
}

bool mr_observed_find(mr_observed_list *list, const mr_trace *trace)
{
    *list = (mr_observed_list){.count = 0};
    bool ok = add_uses(list, trace) && add_misuses(list, trace);
    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, compare);
    return ok;
}

bool mr_observed_any(const mr_trace *trace)
{
    mr_observed_list list;
    bool any = !mr_observed_find(&list, trace) || list.count > 0;
    mr_observed_free(&list);
    return any;
}
