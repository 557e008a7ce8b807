#include "fits.h"

static bool record_fits_window(const mr_record *record, uint32_t start, uint32_t end)
{
    const mr_race *race = &record->race;
    const mr_unknown *open = &record->open;
    if (record->first < start || record->second >= end ||
        (record->in_trace_order && !record->has_race))
        return false;
    if (record->has_race && (race->witness.window_start < start ||
                             race->witness.window_end != end || race->confirmed_by == MR_STEP_FAR))
        return false;
    return !record->has_unknown || (open->window_start == start && open->window_end == end);
}

bool mr_fits_window(const mr_outcome *outcome, uint32_t start, uint32_t end)
{
    for (size_t i = 0; i < outcome->count; i++)
        if (!record_fits_window(&outcome->records[i], start, end))
            return false;
    return !outcome->pair_count;
}

bool mr_fits_search(const mr_trace *trace, const mr_outcome *outcome)
{
    const mr_event_pair *before = NULL;
    for (size_t i = 0; i < outcome->pair_count; i++) {
        const mr_event_pair *pair = &outcome->pairs[i];
        if (!mr_events_conflict(trace, pair->first, pair->second))
            return false;
        if (before && (pair->second < before->second ||
                       (pair->second == before->second && pair->first <= before->first)))
            return false;
        before = pair;
    }
    return !outcome->count;
}

bool mr_far_question_is_of(const mr_far_question *question, const mr_record *record)
{
    return record->key_1 == question->key_1 && record->key_2 == question->key_2 &&
           (!question->one_pair ||
            (record->first == question->first && record->second == question->second));
}

bool mr_fits_question(const mr_record *record, const mr_far_question *question)
{
    const mr_race *race = &record->race;
    if (!mr_far_question_is_of(question, record) || record->asked != question->asked ||
        record->steps < question->least_steps || record->steps > question->most_steps ||
        record->unanswered > question->asked || record->rejected_witnesses > 1 ||
        (question->one_pair && record->has_unknown))
        return false;
    if (!record->has_race)
        return true;
    return race->witness.window_end == question->window_end && race->confirmed_by == MR_STEP_FAR &&
           race->strength == MR_STRENGTH_BEYOND_WCP &&
           (!question->one_pair ||
            (race->witness.first == question->first && race->witness.second == question->second));
}
