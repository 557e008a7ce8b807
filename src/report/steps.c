#include "steps.h"

#include "base/assert.h"
#include "witness/pack.h"

#include <stdlib.h>
#include <string.h>

enum { BEFORE_OBSERVED = 400 };

static bool make_list(mr_step_list *list, size_t count)
{
    list->events = mr_calloc(count + 1, sizeof *list->events);
    list->seen = mr_calloc(count + 1, sizeof *list->seen);
    return list->events && list->seen;
}

static int compare(const void *one, const void *two)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)two;
    return (a > b) - (a < b);
}

/* What reads saw in the recorded execution is the link of the trace. */
static void see_observed(mr_step_list *list, const mr_trace *trace)
{
    for (size_t i = 0; i < list->count; i++) {
        uint32_t event = list->events[i];
        list->seen[i] = mr_op_reads(trace->op[event]) ? trace->link[event] : MR_NONE;
    }
}

static bool take_range(mr_step_list *list, uint32_t from, uint32_t to, const mr_trace *trace)
{
    if (!make_list(list, to - from + 1ull))
        return false;
    for (uint32_t event = from; event <= to; event++)
        list->events[list->count++] = event;
    see_observed(list, trace);
    return true;
}

/* The events of the witness and both accesses, in the order of the trace. */
static bool take_same(mr_step_list *list, const mr_step_list *witness, const mr_trace *trace)
{
    if (!make_list(list, witness->count))
        return false;
    memcpy(list->events, witness->events, witness->count * sizeof *list->events);
    list->count = witness->count;
    qsort(list->events, list->count, sizeof *list->events, compare);
    see_observed(list, trace);
    return true;
}

static bool add_seen(mr_step_list *list, uint32_t event, mr_sees *sees)
{
    uint32_t seen;
    if (!mr_sees_step(sees, event, &seen))
        return false;
    list->seen[list->count] = seen;
    list->events[list->count++] = event;
    return true;
}

static bool take_witness(mr_steps *steps, const mr_witness *witness, mr_sees *sees, size_t most)
{
    mr_step_list *list = &steps->witness;
    uint32_t count = witness->event_count;
    bool ok = make_list(list, (size_t)count + witness->wait_count + 2);
    mr_sees_start(sees, witness->window_start);
    for (uint32_t i = 0; i < count && ok; i++)
        ok = add_seen(list, witness->events[i], sees);
    if (!ok)
        return false;
    uint32_t stops;
    const uint32_t *last = mr_witness_stops(witness, &stops);
    for (uint32_t i = 0; i < stops; i++) {
        list->seen[list->count] = mr_op_reads(sees->trace->op[last[i]])
                                      ? mr_sees_last(sees, sees->trace->operand[last[i]])
                                      : MR_NONE;
        list->events[list->count++] = last[i];
    }
    steps->left_out = list->count > most ? list->count - most : 0;
    list->count -= steps->left_out;
    memmove(list->events, list->events + steps->left_out, list->count * sizeof *list->events);
    memmove(list->seen, list->seen + steps->left_out, list->count * sizeof *list->seen);
    return true;
}

static bool make_from_witness(mr_steps *steps, const mr_witness *witness, const mr_trace *trace,
                              mr_sees *sees, size_t most)
{
    if (!take_witness(steps, witness, sees, most))
        return false;
    uint32_t low = UINT32_MAX, high = 0;
    for (size_t i = 0; i < steps->witness.count; i++) {
        uint32_t event = steps->witness.events[i];
        low = event < low ? event : low;
        high = event > high ? event : high;
    }
    return high - low < most ? take_range(&steps->observed, low, high, trace)
                             : take_same(&steps->observed, &steps->witness, trace);
}

bool mr_steps_make(mr_steps *steps, const mr_listed *finding, const mr_trace *trace, mr_sees *sees,
                   size_t most)
{
    *steps = (mr_steps){0};
    if (mr_listed_happened(finding->kind)) {
        uint32_t from = finding->second != MR_NONE && finding->second < finding->first &&
                                finding->first - finding->second < most
                            ? finding->second
                            : finding->first;
        from = from > BEFORE_OBSERVED ? from - BEFORE_OBSERVED : 0;
        return take_range(&steps->observed, from, finding->first, trace);
    }
    mr_witness room;
    const mr_witness *open = mr_witness_open(trace, finding->witness, &room);
    bool ok = open && make_from_witness(steps, open, trace, sees, most);
    mr_witness_free(&room);
    return ok;
}

void mr_steps_free(mr_steps *steps)
{
    free(steps->observed.events);
    free(steps->observed.seen);
    free(steps->witness.events);
    free(steps->witness.seen);
    *steps = (mr_steps){0};
}
