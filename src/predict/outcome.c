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
        if (outcome->records[i].has_race)
            mr_witness_free(&outcome->records[i].race.witness);
    free(outcome->records);
    free(outcome->pairs);
    free(outcome);
}

mr_record *mr_outcome_add(mr_outcome *outcome)
{
    void *records = outcome->records;
    if (!mr_grow(&records, &outcome->capacity, outcome->count + 1, sizeof *outcome->records))
        return NULL;
    outcome->records = records;
    mr_record *record = &outcome->records[outcome->count++];
    *record = (mr_record){0};
    return record;
}
