#include "containment.h"

#include <stdio.h>

typedef struct containment {
    mr_comparison *result;
    const mr_u32s *racy_events; /* by relation */
} containment;

static bool add_breach(mr_comparison *result, mr_breach breach)
{
    void *breaches = result->breaches;
    if (!mr_grow(&breaches, &result->breach_capacity, result->breach_count + 1,
                 sizeof *result->breaches))
        return false;
    result->breaches = breaches;
    result->breaches[result->breach_count++] = breach;
    return true;
}

/* The first event of `smaller` that is not in `greater`; both ascend. */
static bool check_events(containment *self, int smaller, int greater)
{
    const mr_u32s *one = &self->racy_events[smaller], *two = &self->racy_events[greater];
    size_t at = 0;
    for (size_t i = 0; i < one->count; i++) {
        while (at < two->count && two->items[at] < one->items[i])
            at++;
        if (at == two->count || two->items[at] != one->items[i])
            return add_breach(self->result, (mr_breach){.smaller = smaller,
                                                        .greater = greater,
                                                        .by_event = true,
                                                        .event = one->items[i]});
    }
    return true;
}

static bool check_races(containment *self, int smaller, int greater)
{
    const mr_comparison *result = self->result;
    for (size_t i = 0; i < result->race_count; i++) {
        const mr_compared_race *race = &result->races[i];
        if ((race->found_by >> smaller & 1) &&
            !((race->found_by | race->unknown_by) >> greater & 1))
            return add_breach(self->result, (mr_breach){.smaller = smaller,
                                                        .greater = greater,
                                                        .low = race->low,
                                                        .high = race->high});
    }
    return true;
}

bool mr_containment_check(mr_comparison *comparison, const mr_u32s racy_events[MR_RELATION_COUNT],
                          bool whole)
{
    containment self = {comparison, racy_events};
    static const int pairs[][2] = {
        {MR_RELATION_FHB, MR_RELATION_SHB},     {MR_RELATION_SHB, MR_RELATION_HB},
        {MR_RELATION_HB, MR_RELATION_CP},       {MR_RELATION_CP, MR_RELATION_WCP},
        {MR_RELATION_HB, MR_RELATION_WCP},      {MR_RELATION_SHB, MR_RELATION_SYNCP},
        {MR_RELATION_SYNCP, MR_FINDER_RF},      {MR_FINDER_RF, MR_FINDER_VALUE},
        {MR_FINDER_VALUE, MR_FINDER_BRANCH},    {MR_RELATION_SHB, MR_RELATION_C17},
        {MR_RELATION_WCP, MR_RELATION_HYBRID},  {MR_RELATION_SYNCP, MR_RELATION_HYBRID},
        {MR_RELATION_C17, MR_RELATION_HYBRID},  {MR_RELATION_HB, MR_RELATION_HYBRID},
        {MR_FINDER_RF, MR_RELATION_HYBRID},     {MR_FINDER_VALUE, MR_RELATION_HYBRID},
        {MR_FINDER_BRANCH, MR_RELATION_HYBRID},
    };
    /* hybrid gives each wait one unit; in a reordering it may take another. */
    bool has_waits = comparison->trace->op_counts[MR_OP_WAIT] > 0;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        int smaller = pairs[i][0], greater = pairs[i][1];
        const mr_finder_figures *findings = comparison->findings;
        if (!findings[smaller].done || !findings[greater].done ||
            findings[greater].ended_by != MR_HALT_NONE || (greater == MR_FINDER_RF && !whole) ||
            (greater == MR_RELATION_HYBRID && smaller >= MR_FINDER_RF && has_waits))
            continue;
        bool events = findings[smaller].counts_events && findings[greater].counts_events;
        if (!check_races(&self, smaller, greater) ||
            (events && !check_events(&self, smaller, greater)))
            return false;
    }
    return true;
}

void mr_breach_line(const mr_comparison *comparison, const mr_breach *breach, char *buffer,
                    size_t size_bytes)
{
    const mr_trace *trace = comparison->trace;
    const char *smaller = mr_finder_name(breach->smaller),
               *greater = mr_finder_name(breach->greater);
    if (breach->by_event)
        snprintf(buffer, size_bytes, "event %u (line %llu) is racy by %s and not by %s",
                 breach->event, (unsigned long long)mr_trace_line(trace, breach->event), smaller,
                 greater);
    else
        snprintf(buffer, size_bytes, "%s reports the static race '%.100s' - '%.100s', %s does not",
                 smaller, trace->locations.items[breach->low].text,
                 trace->locations.items[breach->high].text, greater);
}
