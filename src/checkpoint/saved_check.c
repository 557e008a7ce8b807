#include "saved_check.h"

#include "witness/pack.h"

void mr_saved_check_free(mr_saved_check *check)
{
    mr_checker_free(check->checker);
    check->checker = NULL;
}

static mr_status refuse(const char *why, mr_error *error)
{
    return mr_error_set(error, MR_ERR_INTERNAL, NULL, 0, "%s", why);
}

/* Are they conflicting accesses, and are the keys of the record theirs? */
static bool is_pair_of(const mr_saved_check *check, const mr_record *record, uint32_t first,
                       uint32_t second)
{
    const uint32_t *location = check->trace->location;
    uint32_t one = check->by_event ? first : location[first];
    uint32_t two = check->by_event ? second : location[second];
    return mr_events_conflict(check->trace, first, second) &&
           record->key_1 == (one < two ? one : two) && record->key_2 == (one < two ? two : one);
}

static bool pairs_are_right(const mr_saved_check *check, const mr_record *record)
{
    const mr_witness *witness = &record->race.witness;
    return is_pair_of(check, record, record->first, record->second) &&
           (!record->has_unknown ||
            is_pair_of(check, record, record->open.first, record->open.second)) &&
           (!record->has_race || is_pair_of(check, record, witness->first, witness->second));
}

static mr_status check_race(mr_saved_check *check, const mr_witness *witness, mr_error *error)
{
    mr_witness room;
    if (witness->model != check->model)
        return refuse("a witness of another model", error);
    if (!check->checker)
        check->checker = mr_checker_new(check->trace, check->calls);
    if (!check->checker)
        return mr_error_memory(error, "reading the checkpoint");
    const mr_witness *open = mr_witness_open(check->trace, witness, &room);
    mr_status status = open ? mr_checker_check(check->checker, open, error)
                            : mr_error_memory(error, "reading the checkpoint");
    mr_witness_free(&room);
    return status;
}

mr_status mr_saved_check_outcome(mr_saved_check *check, const mr_outcome *outcome, mr_error *error)
{
    mr_status status = MR_OK;
    if (outcome->no_room) /* that is never saved */
        return refuse("it says that there was no room", error);
    for (size_t i = 0; i < outcome->count && status == MR_OK; i++) {
        const mr_record *record = &outcome->records[i];
        if (!pairs_are_right(check, record))
            return refuse("a pair of places is none", error);
        if (record->has_race)
            status = check_race(check, &record->race.witness, error);
    }
    return status;
}
