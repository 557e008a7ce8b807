#include "confirm.h"

#include "interrupt.h"
#include "replaying.h"
#include "witness/pack.h"

#include <stdlib.h>
#include <string.h>

/* What a replay made of a witness. */
typedef struct replay_end {
    mr_confirmed confirmed;
    const char *effect;
    int rank; /* the worst effect first, then what was not reached, then what was not tried */
} replay_end;

/* Where it stands in the report: by `group`, then by rank; those of one rank keep their order. */
typedef struct place {
    int group, rank;
    size_t number;
} place;

/* What is confirmed of one race or finding. */
typedef struct confirmable {
    const mr_witness *witness;
    mr_confirmed *confirmed;
    const char **effect;
    int group;
} confirmable;

/* The races, or the findings. */
typedef struct found {
    void *items;
    size_t count, item_bytes;
    confirmable (*at)(void *items, size_t index);
} found;

static confirmable race_at(void *items, size_t index)
{
    mr_race *race = (mr_race *)items + index;
    return (confirmable){&race->witness, &race->confirmed, &race->effect, 0};
}

/* Findings stand by their kind. */
static confirmable finding_at(void *items, size_t index)
{
    mr_finding *finding = (mr_finding *)items + index;
    return (confirmable){&finding->witness, &finding->confirmed, &finding->effect,
                         (int)finding->witness.kind};
}

static int by_place(const void *a, const void *b)
{
    const place *one = a, *two = b;
    if (one->group != two->group)
        return one->group < two->group ? -1 : 1;
    if (one->rank != two->rank)
        return one->rank < two->rank ? -1 : 1;
    return one->number < two->number ? -1 : 1;
}

/* Of an earlier error, and when a signal has ended the replays, nothing more is tried. */
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
    if (!replaying->stopped)
        *end = (replay_end){
            .confirmed = reached ? MR_CONFIRMED_YES : MR_CONFIRMED_DIVERGED,
            .effect = replayed.effect == MR_EFFECT_UNKNOWN ? NULL : mr_effect_text(replayed.effect),
            .rank = (int)replayed.effect};
    mr_replayed_free(&replayed);
    mr_witness_free(&room);
    return status;
}

/* Puts the items where they stand now. */
static void reorder(const found *all, const place *places, char *copy)
{
    memcpy(copy, all->items, all->count * all->item_bytes);
    for (size_t i = 0; i < all->count; i++)
        memcpy((char *)all->items + i * all->item_bytes, copy + places[i].number * all->item_bytes,
               all->item_bytes);
}

static mr_status confirm_all(mr_replaying *replaying, const found *all, mr_status status,
                             mr_error *error)
{
    place *places = mr_calloc(all->count + 1, sizeof *places);
    char *copy = mr_calloc(all->count + 1, all->item_bytes);
    if (!places || !copy)
        status = status ? status : mr_error_memory(error, "replaying what was found");
    for (size_t i = 0; i < all->count && places && copy; i++) {
        confirmable item = all->at(all->items, i);
        replay_end end;
        status = confirm(replaying, item.witness, &end, status, error);
        places[i] = (place){item.group, end.rank, i};
        *item.confirmed = end.confirmed;
        *item.effect = end.effect;
    }
    if (places && copy && all->count) {
        qsort(places, all->count, sizeof *places, by_place);
        reorder(all, places, copy);
    }
    free(places);
    free(copy);
    return status;
}

mr_status mr_confirm(const mr_cli *cli, const char *path, const mr_trace *trace, mr_result *result,
                     bool sandbox, bool *stopped, mr_error *error)
{
    mr_replaying replaying = {.leftover = -1};
    mr_halt halt = {.reason = MR_HALT_NONE};
    const found races = {result->races, result->race_count, sizeof *result->races, race_at};
    const found findings = {result->findings, result->finding_count, sizeof *result->findings,
                            finding_at};
    *stopped = false;
    if (!result->race_count && !result->finding_count)
        return MR_OK;
    mr_status status = mr_replaying_open(&replaying, cli, path, trace, error);
    if (!status && sandbox)
        status = mr_replaying_use_sandbox(&replaying, NULL, error);
    replaying.halt = &halt;
    mr_interrupt_start(&halt);
    status = confirm_all(&replaying, &races, status, error);
    status = confirm_all(&replaying, &findings, status, error);
    mr_interrupt_end();
    *stopped = replaying.stopped;
    mr_replaying_close(&replaying);
    return status;
}
