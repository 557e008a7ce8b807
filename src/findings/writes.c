#include "writes.h"

#include "base/memory.h"

#include <stdlib.h>

/* By variable: 1 when a question is about it. NULL: no memory. */
static uint8_t *mark_variables(const mr_asked_trace *asked, bool *any)
{
    const mr_questions *all = asked->questions;
    uint8_t *wanted = mr_calloc((size_t)asked->trace->variables.count + 1, 1);
    *any = false;
    for (uint32_t i = 0; wanted && i < all->count; i++) {
        if (all->items[i].variable == MR_NONE)
            continue;
        wanted[all->items[i].variable] = 1;
        *any = true;
    }
    return wanted;
}

static bool is_wanted(const mr_trace *trace, const uint8_t *wanted, uint32_t event)
{
    mr_trace_pass(trace, event);
    return mr_op_writes(trace->op[event]) && wanted[trace->operand[event]];
}

static bool sort_writes(mr_asked_writes *writes, const mr_trace *trace, const uint8_t *wanted)
{
    uint32_t variables = trace->variables.count;
    writes->first = mr_calloc((size_t)variables + 2, sizeof *writes->first);
    if (!writes->first)
        return false;
    uint32_t *next =
        writes->first + 1; /* of variable v: next[v] is its first place, then its end */
    for (uint32_t e = 0; e < trace->event_count; e++)
        if (is_wanted(trace, wanted, e))
            next[trace->operand[e] + 1]++;
    for (uint32_t v = 0; v < variables; v++)
        next[v + 1] += next[v];
    writes->events = mr_calloc((size_t)next[variables] + 1, sizeof *writes->events);
    if (!writes->events)
        return false;
    for (uint32_t e = 0; e < trace->event_count; e++)
        if (is_wanted(trace, wanted, e))
            writes->events[next[trace->operand[e]]++] = e;
    return true;
}

bool mr_asked_writes_find(mr_asked_writes *writes, const mr_asked_trace *asked)
{
    bool any;
    uint8_t *wanted = mark_variables(asked, &any);
    bool ok = wanted && (!any || sort_writes(writes, asked->trace, wanted));
    free(wanted);
    return ok;
}

void mr_asked_writes_free(mr_asked_writes *writes)
{
    free(writes->first);
    free(writes->events);
}

static bool fits(const mr_asked_trace *asked, const mr_question *question, uint32_t wanted,
                 uint32_t write)
{
    const mr_trace *trace = asked->trace;
    if (!question->value)
        return write == wanted;
    return mr_trace_written_value(trace, write) == question->value &&
           (question->write_place == MR_NONE || trace->location[write] == question->write_place);
}

bool mr_asked_writes_fit(const mr_asked_writes *writes, const mr_asked_trace *asked,
                         const mr_question *question, mr_u32s *fitting)
{
    uint32_t wanted = mr_asked_event(asked, question->write), x = question->variable;
    fitting->count = 0;
    if (x == MR_NONE)
        return true;
    for (uint32_t i = writes->first[x]; i < writes->first[x + 1]; i++)
        if (fits(asked, question, wanted, writes->events[i]) &&
            !mr_u32s_push(fitting, writes->events[i]))
            return false;
    return true;
}

/* How many of the ascending events are before `event`. */
static size_t count_before(const uint32_t *events, size_t count, uint32_t event)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (events[middle] < event)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool mr_asked_writes_may_be_in(const mr_asked_writes *writes, const mr_question *question,
                               const mr_u32s *fitting, uint32_t start, uint32_t end)
{
    uint32_t x = question->variable;
    if (x == MR_NONE)
        return true;
    const uint32_t *all = writes->events + writes->first[x];
    size_t fit = count_before(fitting->items, fitting->count, start);
    size_t before = count_before(all, writes->first[x + 1] - writes->first[x], start);
    if (fit < fitting->count && fitting->items[fit] < end)
        return true;
    if (!before)
        return question->may_be_initial;
    return fit && fitting->items[fit - 1] == all[before - 1];
}
