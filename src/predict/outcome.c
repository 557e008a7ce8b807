#include "outcome.h"

#include "base/memory.h"

#include <stdlib.h>

mr_outcome *mr_outcome_new(uint64_t unit)
{
    mr_outcome *outcome = mr_calloc(1, sizeof *outcome);
    if (outcome)
        outcome->unit = unit;
    return outcome;
}

void mr_outcome_free(mr_outcome *outcome)
{
    if (!outcome)
        return;
    for (size_t i = 0; i < outcome->count; i++)
        if (outcome->verdicts[i].has_race)
            mr_witness_free(&outcome->verdicts[i].race.witness);
    free(outcome->verdicts);
    free(outcome->pairs);
    if (outcome->finding)
        mr_witness_free(&outcome->finding->finding.witness);
    free(outcome->finding);
    free(outcome);
}

mr_pair_verdict *mr_outcome_add(mr_outcome *outcome)
{
    void *verdicts = outcome->verdicts;
    if (!mr_grow(&verdicts, &outcome->capacity, outcome->count + 1, sizeof *outcome->verdicts))
        return NULL;
    outcome->verdicts = verdicts;
    mr_pair_verdict *verdict = &outcome->verdicts[outcome->count++];
    *verdict = (mr_pair_verdict){0};
    return verdict;
}

void mr_outcome_keep_races(mr_outcome *outcome)
{
    size_t kept = 0;
    for (size_t i = 0; i < outcome->count; i++)
        if (outcome->verdicts[i].has_race)
            outcome->verdicts[kept++] = outcome->verdicts[i];
    outcome->count = kept;
    outcome->dropped_by_filter = outcome->dropped_by_cone = 0;
}

bool mr_outcome_add_finding(mr_outcome *outcome)
{
    outcome->finding = mr_calloc(1, sizeof *outcome->finding);
    return outcome->finding != NULL;
}
