#include "compare.h"

#include "containment.h"

#include "base/ceiling.h"
#include "base/seconds.h"
#include "engine/predict.h"
#include "order/detect/detect.h"

#include <stdlib.h>
#include <string.h>

/* A run of mr_compare. */
typedef struct comparing {
    const mr_config *config;
    const mr_progress *progress;
    mr_halt *halt;
    mr_comparison *result;
    mr_map numbers;                         /* (low, high) to index in result->races */
    mr_u32s racy_events[MR_RELATION_COUNT]; /* of the orders that are done */
    mr_error *error;
} comparing;

const char *mr_finder_name(int finder)
{
    if (finder < MR_RELATION_COUNT)
        return mr_relation_name((mr_relation)finder);
    return mr_model_name((mr_model)(finder - MR_FINDER_RF));
}

static int find_finder(const char *word, size_t length)
{
    for (int finder = 0; finder < MR_FINDER_COUNT; finder++) {
        const char *name = mr_finder_name(finder);
        if (strlen(name) == length && memcmp(name, word, length) == 0)
            return finder;
    }
    return -1;
}

mr_status mr_finder_parse(const char *list, unsigned *finders, mr_error *error)
{
    *finders = 0;
    while (*list != '\0') {
        list += strspn(list, " ,");
        size_t length = strcspn(list, " ,");
        int finder = find_finder(list, length);
        if (length > 0 && finder < 0)
            return mr_error_set(error, MR_ERR_CONFIG, NULL, 0,
                                "there is no relation or model '%.*s'; the list takes hb, fhb, "
                                "shb, cp, wcp, syncp, c17, hybrid, rf, value and branch",
                                length > 40 ? 40 : (int)length, list);
        if (length > 0)
            *finders |= 1U << finder;
        list += length;
    }
    if (*finders == 0)
        return mr_error_set(error, MR_ERR_CONFIG, NULL, 0,
                            "the list of relations is empty; it takes hb, fhb, shb, cp, wcp, "
                            "syncp, c17, hybrid, rf, value and branch");
    return MR_OK;
}

/* The entry of a static race, made when it is new; `first` and `second` are then its example. */
static mr_compared_race *get_race(comparing *self, uint32_t a, uint32_t b, uint32_t first,
                                  uint32_t second)
{
    mr_comparison *result = self->result;
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    uint32_t *number = mr_map_at(&self->numbers, mr_map_key(low, high), UINT32_MAX);
    if (number == NULL)
        return NULL;
    if (*number == UINT32_MAX) {
        void *races = result->races;
        if (!mr_grow(&races, &result->race_capacity, result->race_count + 1, sizeof *result->races))
            return NULL;
        result->races = races;
        *number = (uint32_t)result->race_count;
        result->races[result->race_count++] =
            (mr_compared_race){.low = low, .high = high, .first = first, .second = second};
    }
    return &result->races[*number];
}

static mr_status run_relation(comparing *self, int finder)
{
    mr_finder_figures *finding = &self->result->findings[finder];
    mr_race_list list;
    mr_detect_options options = {
        .most_examples = 1,
        .keep_events = true,
        .opaque = (mr_opaque)mr_config_choice(self->config, "opaque"),
        .progress = self->progress,
        .halt = self->halt,
    };
    mr_status status =
        mr_detect((mr_relation)finder, self->result->trace, &options, &list, self->error);
    if (status == MR_ERR_HALTED) {
        finding->ended_by = mr_halt_asked(self->halt);
        status = MR_OK;
    }
    for (size_t i = 0; status == MR_OK && i < list.race_count; i++) {
        const mr_static_race *race = &list.races[i];
        const mr_race_example *example = &list.examples[race->first_example];
        mr_compared_race *entry =
            get_race(self, race->low, race->high, example->first.event, example->second.event);
        if (entry == NULL)
            status = mr_error_memory(self->error, "comparing");
        else
            entry->found_by |= 1U << finder;
    }
    if (status == MR_OK) {
        finding->counts_events = true;
        finding->racy_events = list.racy_event_count;
        finding->racy_locations = list.racy_location_count;
        finding->racy_variables = list.racy_variable_count;
        self->racy_events[finder] = list.events;
        list.events = (mr_u32s){0};
    }
    mr_race_list_free(&list);
    return status;
}

static mr_status note_prediction(comparing *self, int finder, const mr_result *prediction)
{
    const uint32_t *location = self->result->trace->location;
    for (size_t i = 0; i < prediction->race_count; i++) {
        const mr_witness *witness = &prediction->races[i].witness;
        if (witness->kind != MR_WITNESS_RACE)
            continue;
        mr_compared_race *entry =
            get_race(self, location[witness->first], location[witness->second], witness->first,
                     witness->second);
        if (entry == NULL)
            return mr_error_memory(self->error, "comparing");
        entry->found_by |= 1U << finder;
    }
    for (size_t i = 0; i < prediction->unknown_count; i++) {
        const mr_unknown *unknown = &prediction->unknowns[i];
        mr_compared_race *entry =
            get_race(self, location[unknown->first], location[unknown->second], unknown->first,
                     unknown->second);
        if (entry == NULL)
            return mr_error_memory(self->error, "comparing");
        entry->unknown_by |= 1U << finder;
    }
    mr_finder_figures *figures = &self->result->findings[finder];
    for (size_t i = 0; i < prediction->finding_count; i++)
        figures->beside[prediction->findings[i].witness.kind]++;
    self->result->beside_count += prediction->finding_count;
    figures->beside_unknown = (uint32_t)prediction->finding_unknown_count;
    return MR_OK;
}

static mr_status run_prediction(comparing *self, int finder)
{
    mr_result prediction = {0};
    const mr_predict_run run = {.progress = self->progress, .halt = self->halt};
    mr_config *config = mr_config_clone(self->config);
    if (config == NULL)
        return mr_error_memory(self->error, "comparing");
    mr_status status = mr_config_set(config, "model", mr_finder_name(finder), NULL, 0, self->error);
    if (status == MR_OK)
        status =
            mr_config_set(config, "find", "races,memory,deadlocks,pointers", NULL, 0, self->error);
    if (status == MR_OK)
        status = mr_predict(self->result->trace, config, &run, &prediction, self->error);
    if (status == MR_OK && prediction.stats.incomplete)
        self->result->findings[finder].ended_by = prediction.stats.halted;
    if (status == MR_OK)
        status = note_prediction(self, finder, &prediction);
    mr_result_free(&prediction);
    mr_config_free(config);
    return status;
}

static int compare_races(const void *one, const void *two)
{
    const mr_compared_race *x = one, *y = two;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    return (x->high > y->high) - (x->high < y->high);
}

/* Counts the races of each finder, and drops static races that no finder reports. */
static void count(mr_comparison *result)
{
    size_t kept = 0;
    for (size_t i = 0; i < result->race_count; i++) {
        const mr_compared_race race = result->races[i];
        for (int finder = 0; finder < MR_FINDER_COUNT; finder++) {
            uint32_t bit = 1U << finder;
            result->findings[finder].static_races += (race.found_by & bit) != 0;
            result->findings[finder].only += race.found_by == bit;
            result->findings[finder].unknown += (race.unknown_by & ~race.found_by & bit) != 0;
        }
        if (race.found_by != 0)
            result->races[kept++] = race;
    }
    result->race_count = kept;
    if (kept > 0)
        qsort(result->races, kept, sizeof *result->races, compare_races);
}

/* May the prediction look at everything that syncp reports? */
static bool prediction_is_whole(const mr_config *config)
{
    return mr_config_choice(config, "candidates.prefilter") == MR_PREFILTER_ALL &&
           mr_config_choice(config, "candidates.report") == MR_REPORT_STATIC &&
           mr_config_choice(config, "candidates.far") >= MR_FAR_SYNCP &&
           mr_config_text(config, "candidates.only_locations")[0] == '\0' &&
           mr_config_text(config, "candidates.ignore_locations")[0] == '\0';
}

mr_status mr_compare(const mr_trace *trace, const mr_config *config, unsigned finders,
                     const mr_progress *progress, mr_halt *halt, mr_comparison *comparison,
                     mr_error *error)
{
    mr_halt own = {0};
    comparing self = {.config = config,
                      .progress = progress,
                      .halt = halt != NULL ? halt : &own,
                      .result = comparison,
                      .error = error};
    mr_ceiling *ceiling = mr_ceiling_start(mr_config_memory_bytes(config), self.halt);
    *comparison = (mr_comparison){.trace = trace, .finders = finders};
    mr_status status = MR_OK;
    for (int finder = 0; status == MR_OK && finder < MR_FINDER_COUNT; finder++) {
        if (!(finders >> finder & 1) || mr_halt_asked(self.halt) != MR_HALT_NONE)
            continue;
        double begin = mr_seconds();
        status = finder < MR_RELATION_COUNT ? run_relation(&self, finder)
                                            : run_prediction(&self, finder);
        comparison->findings[finder].seconds = mr_seconds() - begin;
        comparison->findings[finder].done = status == MR_OK;
    }
    mr_ceiling_stop(ceiling);
    count(comparison);
    bool checked = mr_containment_check(comparison, self.racy_events, prediction_is_whole(config));
    for (int relation = 0; relation < MR_RELATION_COUNT; relation++)
        mr_u32s_free(&self.racy_events[relation]);
    mr_map_free(&self.numbers);
    return status != MR_OK || checked ? status : mr_error_memory(error, "comparing");
}

void mr_comparison_free(mr_comparison *comparison)
{
    free(comparison->races);
    free(comparison->breaches);
    *comparison = (mr_comparison){0};
}
