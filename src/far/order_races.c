/*
 * order_races: mr_far_search, mr_far_merge_search and mr_far_confirm (far.h). They find the far races of a
 * whole-trace order: those of SHB, or all sync-preserving races, among which are those of SHB.
 */
#include "far.h"

#include "base/assert.h"
#include "base/memory.h"
#include "estimate.h"
#include "order/detect/detect.h"
#include "order/syncp/syncp.h"

#include <inttypes.h>
#include <stdlib.h>

/* A unit of mr_far_confirm confirms so many races. */
enum { RACES_OF_UNIT = 16 };

/* The windows of the witnesses that the search itself makes have as many events in all as the trace, or so many. */
enum { LEAST_CONFIRMED_EVENTS = 1 << 20 };

/* A pair of the search, and the first event of the window of its witness. */
typedef struct far_race {
    uint32_t first, second, start;
} far_race;

/* A phase that confirms races. */
typedef struct confirmer {
    mr_far_context *far;
    far_race *races;
    size_t count;
    mr_syncp_index *index;  /* owned */
    mr_syncp_index **views; /* one a worker, made by its first unit; owned */
} confirmer;

/* Orders races by their windows, so that a worker plays the events before its windows once. */
static int compare_start(const void *one, const void *two)
{
    const far_race *x = one, *y = two;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->second > y->second) - (x->second < y->second);
}

/* Estimates, by two passes over the trace, whether the room has enough memory for far races. */
static mr_status look_for_room(const mr_predict_settings *settings, bool *fits, mr_error *error)
{
    uint64_t syncp = 0, left = mr_room_left(settings->room);
    mr_far_bytes decide = {0};
    *fits = true;
    if (!settings->room)
        return MR_OK;
    if ((settings->far != MR_FAR_SHB && !mr_syncp_bytes(settings->trace, &syncp)) ||
        (settings->far >= MR_FAR_HB &&
         !mr_far_bytes_find(&decide, settings->trace, settings->model, settings->far_limits.size)))
        return mr_error_memory(error, "looking for far races");
    *fits = syncp <= left && mr_far_bytes_peak(&decide) <= left;
    return MR_OK;
}

/* Builds the witness of a race, and adds the race to the verdict. When the checker rejects the
 * witness, the pair is unknown. */
static mr_status confirm(mr_worker *worker, mr_syncp_index *index, const far_race *race,
                         mr_pair_verdict *verdict)
{
    mr_decision decision = {.step = MR_STEP_FAR};
    mr_u32s events = {0};
    uint32_t one = worker->trace->location[race->first];
    uint32_t two = worker->trace->location[race->second];
    verdict->key_1 = one < two ? one : two;
    verdict->key_2 = one < two ? two : one;
    verdict->first = race->first;
    verdict->second = race->second;
    if (!mr_syncp_schedule(index, race->first, race->second, race->start, &events)) {
        mr_u32s_free(&events);
        return mr_error_memory(worker->error, "building the witness of a far race");
    }
    MR_ASSERT(race->start <= race->first && race->first < race->second);
    mr_witness witness = {.first = race->first,
                          .second = race->second,
                          .window_start = race->start,
                          .window_end = race->second + 1,
                          .model = worker->settings->model,
                          .events = events.items,
                          .event_count = (uint32_t)events.count};
    mr_status status =
        mr_worker_confirm_witness(worker, &witness, MR_STRENGTH_BEYOND_WCP, &decision, verdict);
    if (status != MR_OK || verdict->has_race)
        return status;
    mr_window window = {.start = race->start, .end = race->second + 1};
    mr_pair_verdict_note_unknown(&window, race->first, race->second, MR_STRENGTH_BEYOND_WCP,
                                 &decision, verdict);
    return MR_OK;
}

static bool is_ignored(const mr_predict_settings *settings, const mr_event_pair *pair)
{
    const uint32_t *location = settings->trace->location;
    const bool *ignored = settings->ignored_locations;
    return ignored && (ignored[location[pair->first]] || ignored[location[pair->second]]);
}

/* ---- the search ---- */

/* The races of the order. `*index` stays NULL after an error, and when SHB finds none. */
static mr_status find(const mr_predict_settings *settings, const mr_wanted *open,
                      mr_race_list *list, mr_syncp_index **index, mr_error *error)
{
    const mr_trace *trace = settings->trace;
    mr_detect_options options = {.outlook = mr_facts_outlook(settings->facts),
                                 .most_examples = 1,
                                 .edges = &settings->opaque,
                                 .wanted = open,
                                 .halt = settings->halt};
    *index = NULL;
    mr_race_list_init(list, 1, false);
    if (!options.outlook)
        return mr_error_memory(error, "looking for far races");
    if (settings->far != MR_FAR_SHB)
        return mr_syncp_find(trace, &options, list, index, error);
    mr_status status = mr_detect(MR_RELATION_SHB, trace, &options, list, error);
    return status == MR_OK && list->race_count ? mr_syncp_index_new(trace, &options, index, error)
                                               : status;
}

static int compare_length(const void *one, const void *two)
{
    const far_race *x = one, *y = two;
    uint32_t length = x->second - x->start, other = y->second - y->start;
    return length != other ? (length > other) - (length < other) : compare_start(one, two);
}

/* Keeps the races with the shortest windows, in the order of compare_start. Returns how many there are. */
static size_t keep_cheap(const mr_trace *trace, far_race *races, size_t count)
{
    uint64_t left =
        trace->event_count > LEAST_CONFIRMED_EVENTS ? trace->event_count : LEAST_CONFIRMED_EVENTS;
    size_t kept = 0;
    qsort(races, count, sizeof *races, compare_length);
    for (; kept < count && races[kept].second - races[kept].start < left; kept++)
        left -= races[kept].second - races[kept].start + 1;
    qsort(races, kept, sizeof *races, compare_start);
    return kept;
}

/* Moves the cheap pairs of the outcome to `races`, and sets `*count`. */
static void choose(const mr_predict_settings *settings, mr_syncp_index *index, mr_outcome *outcome,
                   far_race *races, size_t *count)
{
    size_t wanted = 0, left = 0;
    for (size_t i = 0; i < outcome->pair_count; i++) {
        const mr_event_pair *pair = &outcome->pairs[i];
        if (!is_ignored(settings, pair))
            races[wanted++] =
                (far_race){.first = pair->first,
                           .second = pair->second,
                           .start = mr_syncp_window(index, pair->first, pair->second)};
    }
    *count = keep_cheap(settings->trace, races, wanted);
    for (size_t i = *count; i < wanted; i++)
        outcome->pairs[left++] = (mr_event_pair){races[i].first, races[i].second};
    outcome->pair_count = left;
}

/* Confirms cheap pairs at once, so that a run that is ended within its windows has their races. */
static mr_status confirm_cheap(mr_worker *worker, mr_syncp_index *index, mr_outcome *outcome)
{
    mr_status status = MR_OK;
    size_t count = 0;
    far_race *races = mr_calloc(outcome->pair_count, sizeof *races);
    if (!races)
        return mr_error_memory(worker->error, "looking for far races");
    choose(worker->settings, index, outcome, races, &count);
    for (size_t i = 0; status == MR_OK && i < count; i++) {
        if (mr_halt_asked(worker->settings->halt) != MR_HALT_NONE)
            break;
        mr_pair_verdict *verdict = mr_outcome_add(outcome);
        status = verdict ? confirm(worker, index, &races[i], verdict)
                         : mr_error_memory(worker->error, "recording a race");
    }
    free(races);
    return status;
}

static mr_status search(mr_worker *worker, const mr_wanted *open, mr_outcome *outcome,
                        mr_error *error)
{
    mr_race_list list;
    mr_syncp_index *index = NULL;
    mr_status status = find(worker->settings, open, &list, &index, error);
    if (status == MR_OK) {
        outcome->pairs = mr_calloc(list.race_count, sizeof *outcome->pairs);
        if (!outcome->pairs)
            status = mr_error_memory(error, "looking for far races");
    }
    for (size_t i = 0; outcome->pairs && i < list.race_count; i++) {
        const mr_race_example *example = &list.examples[list.races[i].first_example];
        outcome->pairs[outcome->pair_count++] =
            (mr_event_pair){example->first.event, example->second.event};
    }
    mr_race_list_free(&list);
    if (outcome->pairs && outcome->pair_count)
        status = confirm_cheap(worker, index, outcome);
    mr_syncp_index_free(index);
    return status;
}

mr_status mr_far_search(mr_worker *worker, const mr_wanted *open, mr_outcome *outcome,
                        mr_error *error)
{
    bool fits = false;
    worker->error = error;
    mr_status status = look_for_room(worker->settings, &fits, error);
    outcome->no_room = status == MR_OK && !fits;
    return status == MR_OK && fits ? search(worker, open, outcome, error) : status;
}

/* ---- confirming the rest, by the workers ---- */

static mr_status view_of(confirmer *self, unsigned number, mr_syncp_index **view, mr_error *error)
{
    if (!self->views[number])
        self->views[number] = mr_syncp_index_view(self->index);
    *view = self->views[number];
    return *view ? MR_OK : mr_error_memory(error, "building the witness of a far race");
}

static mr_status decide_unit(void *context, unsigned number, uint64_t unit, mr_outcome **outcome,
                             mr_error *error)
{
    confirmer *self = context;
    mr_worker *worker = NULL;
    mr_syncp_index *view = NULL;
    mr_outcome *made = *outcome = mr_outcome_new(unit);
    if (!made)
        return mr_error_memory(error, "building the witness of a far race");
    mr_status status = self->far->worker_of(self->far->context, number, &worker, error);
    if (status == MR_OK)
        status = view_of(self, number, &view, error);
    if (status != MR_OK)
        return status;
    worker->error = error;
    MR_REQUIRE(unit * RACES_OF_UNIT < self->count);
    size_t end = (unit + 1) * RACES_OF_UNIT;
    for (size_t i = unit * RACES_OF_UNIT; status == MR_OK && i < end && i < self->count; i++) {
        if (mr_halt_asked(self->far->settings->halt) != MR_HALT_NONE) {
            mr_outcome_free(made);
            *outcome = NULL;
            return MR_OK;
        }
        mr_pair_verdict *verdict = mr_outcome_add(made);
        status = verdict ? confirm(worker, view, &self->races[i], verdict)
                         : mr_error_memory(error, "recording a race");
    }
    return status;
}

/* ---- merging, by the calling thread ---- */

static mr_status merge_verdict(mr_merge *merge, mr_pair_verdict *verdict, mr_error *error)
{
    mr_stats *stats = &merge->result->stats;
    stats->settled[MR_STEP_FAR] += verdict->has_race;
    stats->races[MR_STEP_FAR] += verdict->has_race;
    if (verdict->has_unknown)
        stats->unknown[verdict->open.reason]++;
    MR_DEBUG(merge->settings->debug, FAR,
             "order=%s first=%" PRIu32 " second=%" PRIu32 " verdict=%s",
             merge->settings->far == MR_FAR_SHB ? "shb" : "syncp", verdict->first, verdict->second,
             verdict->has_race ? "race" : "unknown");
    return mr_merge_verdict(merge, verdict, MR_FAR_WINDOW, error);
}

static mr_status merge_unit(void *context, mr_outcome *outcome, mr_error *error)
{
    const confirmer *self = context;
    mr_status status = MR_OK;
    for (size_t i = 0; status == MR_OK && i < outcome->count; i++)
        status = merge_verdict(self->far->merge, &outcome->verdicts[i], error);
    return status;
}

/* Is the pair to be confirmed: are its places not ignored, and has no window proven their race? */
static bool is_wanted(const mr_merge *merge, const mr_event_pair *pair)
{
    const mr_predict_settings *settings = merge->settings;
    const mr_ledger_entry *entry =
        mr_ledger_find_static(&merge->ledger, settings->trace, pair->first, pair->second);
    return !is_ignored(settings, pair) && (!entry || !entry->race);
}

mr_status mr_far_merge_search(mr_merge *merge, mr_outcome *outcome, mr_error *error)
{
    mr_status status = MR_OK;
    for (size_t i = 0; status == MR_OK && i < outcome->count; i++) {
        mr_pair_verdict *verdict = &outcome->verdicts[i];
        const mr_event_pair pair = {verdict->first, verdict->second};
        if (is_wanted(merge, &pair))
            status = merge_verdict(merge, verdict, error);
    }
    return status;
}

/* Drops pairs that are no races. The search finds no such pair, but its outcome may come from a
 * file. */
static void keep_races(confirmer *self)
{
    size_t kept = 0;
    for (size_t i = 0; i < self->count; i++)
        if (mr_syncp_is_race(self->index, self->races[i].first, self->races[i].second))
            self->races[kept++] = self->races[i];
    self->count = kept;
}

static mr_status start(confirmer *self, mr_error *error)
{
    const mr_predict_settings *settings = self->far->settings;
    mr_detect_options options = {.outlook = mr_facts_outlook(settings->facts),
                                 .edges = &settings->opaque,
                                 .progress = self->far->dispatch->progress,
                                 .halt = settings->halt};
    self->views = mr_calloc(self->far->dispatch->jobs, sizeof(mr_syncp_index *));
    if (!self->views || !options.outlook)
        return mr_error_memory(error, "looking for far races");
    mr_status status = mr_syncp_index_new(settings->trace, &options, &self->index, error);
    if (status == MR_OK)
        keep_races(self);
    for (size_t i = 0; status == MR_OK && i < self->count; i++)
        self->races[i].start =
            mr_syncp_window(self->index, self->races[i].first, self->races[i].second);
    if (status == MR_OK && self->count)
        qsort(self->races, self->count, sizeof *self->races, compare_start);
    return status;
}

static mr_status confirm_all(confirmer *self, mr_error *error)
{
    mr_phase phase = {
        .context = self, .stage = "far races", .decide = decide_unit, .merge = merge_unit};
    mr_status status = start(self, error);
    phase.count = (self->count + RACES_OF_UNIT - 1) / RACES_OF_UNIT;
    if (status == MR_OK)
        status = mr_dispatch_run(self->far->dispatch, &phase, error);
    for (unsigned i = 0; self->views && i < self->far->dispatch->jobs; i++)
        mr_syncp_index_free(self->views[i]);
    free(self->views);
    mr_syncp_index_free(self->index);
    return status;
}

mr_status mr_far_confirm(mr_far_context *far, const mr_event_pair *pairs, size_t count,
                         mr_error *error)
{
    confirmer self = {.far = far, .races = mr_calloc(count, sizeof *self.races)};
    mr_status status = MR_OK;
    if (!self.races)
        return mr_error_memory(error, "looking for far races");
    for (size_t i = 0; i < count; i++)
        if (is_wanted(far->merge, &pairs[i]))
            self.races[self.count++] =
                (far_race){.first = pairs[i].first, .second = pairs[i].second};
    if (self.count)
        status = confirm_all(&self, error);
    if (mr_halt_explains(far->settings->halt, status))
        status = MR_OK; /* the index was not finished, as the run is to end */
    free(self.races);
    return status;
}
