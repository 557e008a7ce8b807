/* The static races that are open in a far window. */
#include "far_decider.h"

#include <stdlib.h>

const mr_candidate_group *mr_decider_group_of(const mr_decider *d, const mr_open_race *race)
{
    return &d->candidates.groups[race->group];
}

/* The races of WCP or HB on the full trace. */
static mr_status list_reported(mr_decider *d)
{
    const mr_predict_settings *settings = d->context->settings;
    mr_relation relation = d->limits->weakest == MR_STRENGTH_HB ? MR_RELATION_HB : MR_RELATION_WCP;
    mr_detect_options options = {
        .most_examples = 1, .edges = &settings->opaque, .progress = d->context->dispatch->progress};
    if (d->listed)
        return MR_OK;
    d->listed = true;
    return mr_detect(relation, settings->trace, &options, &d->reported, d->error);
}

/* Their pairs of open static races come first: what they confirm is to be found here. */
static mr_status add_reported(mr_decider *d)
{
    mr_status status = list_reported(d);
    const mr_race_list *list = &d->reported;
    for (size_t i = 0; status == MR_OK && i < list->race_count; i++) {
        const mr_race_example *example = &list->examples[list->races[i].first_example];
        const mr_ledger_entry *entry = mr_ledger_find_static(
            &d->numbers, d->context->settings->trace, example->first.event, example->second.event);
        uint32_t first = mr_reduction_at(&d->reduction, example->first.event);
        uint32_t second = mr_reduction_at(&d->reduction, example->second.event);
        if (entry && first >= d->problem.window->start && second < d->problem.window->end)
            mr_close_pairs_add(&d->open[entry->unknown_index].pairs, first, second);
    }
    return status;
}

/* A static race as one to be decided; what it has cost before counts on. */
static mr_status add_open(mr_decider *d, uint32_t number, const mr_decider *before)
{
    const mr_candidate_group *group = &d->candidates.groups[number];
    const mr_ledger_entry *old =
        mr_ledger_find(&before->numbers, group->location_1, group->location_2);
    mr_ledger_entry *entry = mr_ledger_get(&d->numbers, group->location_1, group->location_2);
    if (!entry)
        return mr_error_memory(d->error, "deciding far races");
    entry->unknown_index = d->open_count;
    mr_open_race *race = &d->open[d->open_count++];
    race->group = number;
    race->spent = old ? before->open[old->unknown_index].spent : 0;
    race->refused = old && before->open[old->unknown_index].refused;
    mr_close_pairs_find(&race->pairs, &d->problem, &d->candidates, group);
    return MR_OK;
}

/* Lists the static races that have candidates in the far window. */
static mr_status list_open(mr_decider *d)
{
    const mr_candidates *candidates = &d->candidates;
    mr_decider before = *d;
    d->numbers = (mr_ledger){0};
    d->open_count = 0;
    d->open = mr_calloc(candidates->group_count, sizeof *d->open);
    d->todo = mr_calloc(candidates->group_count, sizeof *d->todo);
    mr_status status = d->open && d->todo ? MR_OK : mr_error_memory(d->error, "deciding far races");
    for (uint32_t g = 0; status == MR_OK && g < candidates->group_count; g++)
        if (candidates->groups[g].site_pair_count)
            status = add_open(d, g, &before);
    free(before.open);
    free(before.todo);
    mr_ledger_free(&before.numbers);
    return status == MR_OK && d->open_count ? add_reported(d) : status;
}

mr_status mr_decider_find_open(mr_decider *d)
{
    if (!mr_candidates_find(&d->candidates, d->problem.window, &d->problem.hard, &d->problem.forced,
                            d->hb, d->wcp, &d->candidate_set, &d->arena))
        return mr_error_memory(d->error, "collecting candidates");
    return list_open(d);
}

uint32_t mr_decider_count_open(mr_decider *d)
{
    d->todo_count = 0;
    for (uint32_t i = 0; i < d->open_count; i++)
        if (!mr_decider_is_settled(d, &d->open[i]))
            d->todo[d->todo_count++] = i;
    return d->todo_count;
}
