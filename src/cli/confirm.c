#include "confirm.h"

#include "replaying.h"
#include "witness/pack.h"

#include <stdlib.h>

/* What a replay made of a witness. */
typedef struct replay_end {
    mr_confirmed confirmed;
    const char *effect;
    int rank; /* the worst effect first, then what was not reached, then what was not tried */
} replay_end;

/* One of a kind; those of one rank keep their order. */
typedef struct ranked_race {
    mr_race race;
    int rank;
    size_t number;
} ranked_race;

typedef struct ranked_finding {
    mr_finding finding;
    int rank;
    size_t number;
} ranked_finding;

static int by_numbers(int rank_1, int rank_2, size_t number_1, size_t number_2)
{
    return rank_1 != rank_2 ? (rank_1 < rank_2 ? -1 : 1) : number_1 < number_2 ? -1 : 1;
}

static int by_race(const void *a, const void *b)
{
    const ranked_race *one = a, *two = b;
    return by_numbers(one->rank, two->rank, one->number, two->number);
}

/* Findings stand by their kind. */
static int by_finding(const void *a, const void *b)
{
    const ranked_finding *one = a, *two = b;
    mr_witness_kind kind_1 = one->finding.witness.kind, kind_2 = two->finding.witness.kind;
    return kind_1 != kind_2 ? (kind_1 < kind_2 ? -1 : 1)
                            : by_numbers(one->rank, two->rank, one->number, two->number);
}

/* Of an earlier error nothing more is tried. */
static mr_status confirm(mr_replaying *replaying, const mr_witness *packed, replay_end *end,
                         mr_status earlier, mr_error *error)
{
    mr_replayed replayed = {.attempts = 0};
    mr_witness room = {.events = NULL};
    *end = (replay_end){.confirmed = MR_CONFIRMED_NOT_TRIED, .rank = MR_EFFECT_UNKNOWN + 1};
    if (earlier || packed->kind == MR_WITNESS_SEES)
        return earlier;
    const mr_witness *witness = mr_witness_open(replaying->trace, packed, &room);
    if (!witness)
        return mr_error_memory(error, "reading a witness");
    mr_status status = mr_replaying_race(replaying, witness, UINT32_MAX, &replayed, error);
    bool reached = replayed.goal.outcome == MR_REPLAY_GOAL;
    end->rank = (int)replayed.effect;
    end->confirmed = reached ? MR_CONFIRMED_YES : MR_CONFIRMED_DIVERGED;
    end->effect = replayed.effect == MR_EFFECT_UNKNOWN ? NULL : mr_effect_text(replayed.effect);
    mr_replayed_free(&replayed);
    mr_witness_free(&room);
    return status;
}

static mr_status confirm_races(mr_replaying *replaying, mr_result *result, mr_status status,
                               mr_error *error)
{
    ranked_race *races = mr_calloc(result->race_count + 1, sizeof *races);
    if (!races)
        return status ? status : mr_error_memory(error, "replaying the races");
    for (size_t i = 0; i < result->race_count; i++) {
        replay_end end;
        status = confirm(replaying, &result->races[i].witness, &end, status, error);
        races[i] = (ranked_race){result->races[i], end.rank, i};
        races[i].race.confirmed = end.confirmed;
        races[i].race.effect = end.effect;
    }
    qsort(races, result->race_count, sizeof *races, by_race);
    for (size_t i = 0; i < result->race_count; i++)
        result->races[i] = races[i].race;
    free(races);
    return status;
}

static mr_status confirm_findings(mr_replaying *replaying, mr_result *result, mr_status status,
                                  mr_error *error)
{
    ranked_finding *findings = mr_calloc(result->finding_count + 1, sizeof *findings);
    if (!findings)
        return status ? status : mr_error_memory(error, "replaying the findings");
    for (size_t i = 0; i < result->finding_count; i++) {
        replay_end end;
        status = confirm(replaying, &result->findings[i].witness, &end, status, error);
        findings[i] = (ranked_finding){result->findings[i], end.rank, i};
        findings[i].finding.confirmed = end.confirmed;
        findings[i].finding.effect = end.effect;
    }
    qsort(findings, result->finding_count, sizeof *findings, by_finding);
    for (size_t i = 0; i < result->finding_count; i++)
        result->findings[i] = findings[i].finding;
    free(findings);
    return status;
}

mr_status mr_confirm(const mr_cli *cli, const char *path, const mr_trace *trace, mr_result *result,
                     bool sandbox, mr_error *error)
{
    mr_replaying replaying = {.leftover = -1};
    if (!result->race_count && !result->finding_count)
        return MR_OK;
    mr_status status = mr_replaying_open(&replaying, cli, path, trace, error);
    if (!status && sandbox)
        status = mr_replaying_use_sandbox(&replaying, NULL, error);
    status = confirm_races(&replaying, result, status, error);
    status = confirm_findings(&replaying, result, status, error);
    mr_replaying_close(&replaying);
    return status;
}
