/* What far questions have cost, and what their answers mean for the result. */
#include "far_decider.h"

bool mr_decider_is_settled(const mr_decider *d, const mr_open_race *race)
{
    const mr_candidate_group *group = mr_decider_group_of(d, race);
    const mr_ledger_entry *entry =
        mr_ledger_find(&d->context->merge->ledger, group->location_1, group->location_2);
    return entry && entry->race;
}

static bool can_pay(const mr_decider *d, const mr_open_race *race, uint64_t work)
{
    const mr_far_limits *limits = d->limits;
    return (!limits->per_race || race->spent + work <= limits->per_race) &&
           (!limits->all || d->spent + work <= limits->all);
}

bool mr_decider_is_due(const mr_decider *d, const mr_open_race *race, uint64_t work)
{
    return !mr_decider_is_settled(d, race) && can_pay(d, race, work);
}

bool mr_decider_may_ask(const mr_decider *d, const mr_open_race *race, uint64_t work,
                        uint64_t unanswered)
{
    uint64_t most = d->context->settings->max_unanswered;
    return mr_decider_is_due(d, race, work) && (!most || race->unanswered + unanswered < most);
}

bool mr_decider_is_due_now(mr_decider *d, const mr_open_race *race, uint64_t work)
{
    pthread_mutex_lock(&d->lock);
    bool due = mr_decider_is_due(d, race, work);
    pthread_mutex_unlock(&d->lock);
    return due;
}

bool mr_decider_may_ask_now(mr_decider *d, const mr_open_race *race, uint64_t work,
                            uint64_t unanswered)
{
    pthread_mutex_lock(&d->lock);
    bool may = mr_decider_may_ask(d, race, work, unanswered);
    pthread_mutex_unlock(&d->lock);
    return may;
}

void mr_decider_pay(mr_decider *d, mr_open_race *race, uint64_t work)
{
    race->spent += work;
    d->spent += work;
}

mr_status mr_decider_count(mr_decider *d, mr_open_race *race, mr_pair_verdict *verdict,
                           mr_error *error)
{
    mr_stats *stats = &d->context->merge->result->stats;
    mr_decider_pay(d, race, verdict->steps);
    race->unanswered += verdict->unanswered;
    race->refused |= verdict->unknown[MR_UNKNOWN_MEMORY] != 0;
    stats->settled[MR_STEP_FAR] += verdict->has_race;
    stats->races[MR_STEP_FAR] += verdict->has_race;
    return mr_merge_verdict(d->context->merge, verdict, MR_FAR_WINDOW, error);
}

mr_status mr_decider_conclude(mr_decider *d, mr_open_race *race, const mr_unknown *open,
                              mr_error *error)
{
    const mr_candidate_group *group = mr_decider_group_of(d, race);
    mr_stats *stats = &d->context->merge->result->stats;
    if (!open) {
        race->no_race = true;
        stats->far_no_race++;
        stats->settled[MR_STEP_FAR]++;
        return MR_OK;
    }
    mr_pair_verdict verdict = {
        .key_1 = group->location_1, .key_2 = group->location_2, .has_unknown = true, .open = *open};
    stats->far_unknown++;
    stats->unknown[open->reason]++;
    return mr_merge_verdict(d->context->merge, &verdict, MR_FAR_WINDOW, error);
}
