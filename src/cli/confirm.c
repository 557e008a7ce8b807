#include "confirm.h"

#include "replaying.h"
#include "witness/pack.h"

#include <stdlib.h>

/* The worst effect first, then what was not reached; races of one rank keep their order. */
typedef struct ranked {
    mr_race race;
    int rank;
    size_t number;
} ranked;

static int by_rank(const void *a, const void *b)
{
    const ranked *one = a, *two = b;
    return one->rank != two->rank      ? (one->rank < two->rank ? -1 : 1)
           : one->number < two->number ? -1
                                       : 1;
}

static mr_status confirm(mr_replaying *replaying, ranked *self, mr_error *error)
{
    mr_replayed replayed = {.attempts = 0};
    mr_witness room = {.events = NULL};
    const mr_witness *witness = mr_witness_open(replaying->trace, &self->race.witness, &room);
    if (!witness)
        return mr_error_memory(error, "reading a witness");
    mr_status status = mr_replaying_race(replaying, witness, UINT32_MAX, &replayed, error);
    bool reached = replayed.goal.outcome == MR_REPLAY_GOAL;
    self->rank = (int)replayed.effect;
    self->race.confirmed = reached ? MR_CONFIRMED_YES : MR_CONFIRMED_DIVERGED;
    self->race.effect =
        replayed.effect == MR_EFFECT_UNKNOWN ? NULL : mr_effect_text(replayed.effect);
    mr_replayed_free(&replayed);
    mr_witness_free(&room);
    return status;
}

mr_status mr_confirm_races(const mr_cli *cli, const char *path, const mr_trace *trace,
                           mr_result *result, bool sandbox, mr_error *error)
{
    mr_replaying replaying = {.leftover = -1};
    if (!result->race_count)
        return MR_OK;
    ranked *races = mr_calloc(result->race_count, sizeof *races);
    mr_status status = races ? mr_replaying_open(&replaying, cli, path, trace, error)
                             : mr_error_memory(error, "replaying the races");
    if (!status && sandbox)
        status = mr_replaying_use_sandbox(&replaying, NULL, error);
    for (size_t i = 0; races && i < result->race_count; i++) {
        races[i] = (ranked){result->races[i], MR_EFFECT_UNKNOWN + 1, i};
        races[i].race.confirmed = MR_CONFIRMED_NOT_TRIED;
        if (!status)
            status = confirm(&replaying, &races[i], error);
    }
    if (races)
        qsort(races, result->race_count, sizeof *races, by_rank);
    for (size_t i = 0; races && i < result->race_count; i++)
        result->races[i] = races[i].race;
    free(races);
    mr_replaying_close(&replaying);
    return status;
}
