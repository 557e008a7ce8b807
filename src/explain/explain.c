#include "explain.h"

#include "engine/predict.h"
#include "pairs.h"
#include "reason_text.h"
#include "trace/places.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* So many pairs of events of two places are decided one by one. */
enum { DECIDED_PAIRS = 4 };

typedef struct explainer {
    FILE *stream;
    const mr_trace *trace;
    const mr_config *config;
    const mr_progress *progress;
    bool *one, *two;   /* by location; owned */
    char *patterns[2]; /* that these were found by; owned */
    mr_place_groups groups;
    mr_config *asked; /* `config`, with these places alone; owned */
    mr_result result;
    mr_error *error;
} explainer;

static mr_status no_memory(mr_error *error)
{
    return mr_error_memory(error, "explaining pairs of accesses");
}

/* ---- the places ---- */

/* Does it end with a colon and a number? */
static bool names_line(const char *pattern)
{
    size_t length = strlen(pattern), digits = length;
    while (digits > 0 && pattern[digits - 1] >= '0' && pattern[digits - 1] <= '9')
        digits--;
    return digits < length && digits > 0 && pattern[digits - 1] == ':';
}

/* Sets which locations the operand means, and `*found` to the pattern that finds them: where no place is FILE:LINE, that
 * means its columns. */
static mr_status match(explainer *self, const char *pattern, char **found, bool *chosen)
{
    bool matches = true;
    const size_t bytes = strlen(pattern) + sizeof ":*";
    *found = mr_calloc(bytes, 1);
    if (!*found)
        return no_memory(self->error);
    snprintf(*found, bytes, "%s", pattern);
    mr_status status = mr_places_match(self->trace, *found, chosen, &matches, self->error);
    if (status == MR_OK && !matches && names_line(pattern)) {
        snprintf(*found, bytes, "%s:*", pattern);
        status = mr_places_match(self->trace, *found, chosen, &matches, self->error);
    }
    if (status == MR_OK && !matches)
        status = mr_error_set(self->error, MR_ERR_USAGE, NULL, 0,
                              "the trace has no place and no function '%s'; 'maxrace predict' and "
                              "'maxrace convert TRACE -' show places",
                              pattern);
    return status;
}

/* What the accesses at the places of one operand are, for those that conflict with nothing. */
typedef struct place_facts {
    uint64_t accesses, writes, plain;
    uint32_t thread; /* of all of them; MR_NONE: of several */
} place_facts;

static place_facts facts_of(const mr_trace *trace, const bool *chosen)
{
    place_facts facts = {0};
    for (uint32_t event = 0; event < trace->event_count; event++) {
        uint8_t op = trace->op[event];
        bool frees = mr_op_ends_life(op);
        if (!chosen[trace->location[event]] || (!mr_op_is_access(op) && !frees))
            continue;
        if (!facts.accesses++)
            facts.thread = trace->thread[event];
        else if (facts.thread != trace->thread[event])
            facts.thread = MR_NONE;
        facts.writes += frees || mr_op_writes(op);
        facts.plain += frees || mr_op_is_plain(op);
    }
    return facts;
}

/* Why no two accesses conflict. */
static void print_no_conflict(explainer *self, const char *one, const char *two)
{
    const mr_trace *trace = self->trace;
    const char *pattern[] = {one, two ? two : "any place"};
    place_facts facts[] = {facts_of(trace, self->one), facts_of(trace, self->two)};
    fprintf(self->stream, "%s and %s: no race, as no two accesses conflict\n", one, pattern[1]);
    for (int i = 0; i < 2; i++)
        if (!facts[i].accesses) {
            fprintf(self->stream, "  %s: no access was recorded there\n", pattern[i]);
            return;
        }
    if (!facts[0].writes && !facts[1].writes)
        fputs("  both only read\n", self->stream);
    else if (!facts[0].plain && !facts[1].plain)
        fputs("  all accesses are atomic\n", self->stream);
    else if (facts[0].thread != MR_NONE && facts[0].thread == facts[1].thread)
        fprintf(self->stream, "  one thread does them all: %s\n",
                mr_names_display(&trace->threads, facts[0].thread));
    else
        fputs(
            "  there is no variable that different threads access there, one of them writing, one "
            "not atomically\n",
            self->stream);
}

/* ---- the verdicts ---- */

/* Decides all pairs of the places, whatever else the settings look for or leave out. */
static mr_status predict(explainer *self, const char *one, const char *two)
{
    static const char *const whole[][2] = {{"find", "races"},
                                           {"candidates.report", "static"},
                                           {"candidates.far", "all"},
                                           {"candidates.prefilter", "all"},
                                           {"candidates.ignore_locations", ""},
                                           {"candidates.only_locations", ""},
                                           {"sees", ""}};
    const mr_predict_run run = {.progress = self->progress};
    /* A list of patterns cannot hold a comma; a verdict takes candidates at all places then. */
    bool lists = two && !strchr(one, ',') && !strchr(two, ',');
    size_t bytes = strlen(one) + (two ? strlen(two) : 0) + 2;
    char *places = mr_calloc(bytes, 1);
    mr_status status = MR_OK;
    self->asked = mr_config_clone(self->config);
    if (!places || !self->asked)
        status = no_memory(self->error);
    for (size_t i = 0; i < sizeof whole / sizeof whole[0] && status == MR_OK; i++)
        status = mr_config_set(self->asked, whole[i][0], whole[i][1], NULL, 0, self->error);
    if (status == MR_OK && lists) {
        snprintf(places, bytes, "%s,%s", one, two);
        status =
            mr_config_set(self->asked, "candidates.only_locations", places, NULL, 0, self->error);
    }
    free(places);
    return status == MR_OK ? mr_predict(self->trace, self->asked, &run, &self->result, self->error)
                           : status;
}

static bool is_of(const mr_trace *trace, const mr_place_group *group, uint32_t first,
                  uint32_t second)
{
    uint32_t one = trace->location[first], two = trace->location[second];
    return (one == group->location_1 && two == group->location_2) ||
           (one == group->location_2 && two == group->location_1);
}

static const mr_race *race_of(const explainer *self, const mr_place_group *group)
{
    for (size_t i = 0; i < self->result.race_count; i++) {
        const mr_race *race = &self->result.races[i];
        if (is_of(self->trace, group, race->witness.first, race->witness.second))
            return race;
    }
    return NULL;
}

static const mr_unknown *unknown_of(const explainer *self, const mr_place_group *group)
{
    for (size_t i = 0; i < self->result.unknown_count; i++) {
        const mr_unknown *unknown = &self->result.unknowns[i];
        if (is_of(self->trace, group, unknown->first, unknown->second))
            return unknown;
    }
    return NULL;
}

/* "bank.c:21 and bank.c:34 on bank.balance: " */
static void print_head(const explainer *self, const mr_place_group *group)
{
    const mr_trace *trace = self->trace;
    fprintf(self->stream,
            "%s and %s on %s%s: ", mr_names_display(&trace->locations, group->location_1),
            mr_names_display(&trace->locations, group->location_2),
            mr_names_display(&trace->variables, group->variable),
            group->more_variables ? " and others" : "");
}

/* The reasons of the group's pairs, one of each kind in full. */
static mr_status print_reasons(const explainer *self, const mr_place_group *group)
{
    mr_reason shown[MR_REASON_COUNT] = {0};
    uint64_t counts[MR_REASON_COUNT] = {0}, left = 0, decided = 0;
    for (uint64_t i = 0; i < group->pair_count && i < MR_PAIRS_LOOKED_AT; i++) {
        mr_reason reason;
        mr_status status = MR_OK;
        if (!mr_reason_quick(self->trace, group->pairs[i].first, group->pairs[i].second, &reason))
            return no_memory(self->error);
        if (reason.kind == MR_REASON_OPEN && decided++ >= DECIDED_PAIRS) {
            left++;
            continue;
        }
        if (reason.kind == MR_REASON_OPEN)
            status = mr_reason_find(self->trace, self->config, &reason, self->error);
        if (status != MR_OK)
            return status;
        if (!counts[reason.kind]++)
            shown[reason.kind] = reason;
    }
    for (int kind = 0; kind < MR_REASON_COUNT; kind++)
        if (counts[kind])
            mr_reason_print(self->stream, self->trace, &shown[kind], counts[kind]);
    if (group->pair_count > MR_PAIRS_LOOKED_AT)
        left += group->pair_count - MR_PAIRS_LOOKED_AT;
    if (left)
        fprintf(self->stream, "  %" PRIu64 " more pair%s of events: not gone through one by one\n",
                left, left == 1 ? "" : "s");
    return MR_OK;
}

/* Of a pair of places; in the order in which they are told. */
typedef enum verdict { IS_RACE, IS_UNKNOWN, IS_UNDECIDED, IS_NONE, VERDICTS } verdict;

static verdict verdict_of(const explainer *self, const mr_place_group *group)
{
    const mr_stats *stats = &self->result.stats;
    if (race_of(self, group))
        return IS_RACE;
    if (unknown_of(self, group))
        return IS_UNKNOWN;
    return stats->incomplete || stats->far_missing ? IS_UNDECIDED : IS_NONE;
}

static void print_race(const explainer *self, const mr_race *race)
{
    fprintf(self->stream, "%s\n  ",
            race->witness.kind == MR_WITNESS_MEMORY_ORDER ? "memory-order race" : "race");
    mr_explain_event(self->stream, self->trace, race->witness.first);
    fputs("\n  ", self->stream);
    mr_explain_event(self->stream, self->trace, race->witness.second);
    fprintf(self->stream, "\n  proven by %s; 'maxrace predict' shows the witness\n",
            mr_step_name(race->confirmed_by));
}

static mr_status print_group(const explainer *self, const mr_place_group *group, verdict told)
{
    print_head(self, group);
    switch (told) {
    case IS_RACE:
        print_race(self, race_of(self, group));
        return MR_OK;
    case IS_UNKNOWN:
        fprintf(self->stream, "unknown (%s)\n",
                mr_unknown_reason_name(unknown_of(self, group)->reason));
        break;
    case IS_UNDECIDED:
        fputs("not decided: the prediction ended before its time\n", self->stream);
        break;
    case IS_NONE:
        fputs("no race\n", self->stream);
        break;
    case VERDICTS:
        break;
    }
    return print_reasons(self, group);
}

static mr_status print_groups(const explainer *self)
{
    mr_status status = MR_OK;
    for (int now = 0; now < VERDICTS; now++)
        for (size_t i = 0; i < self->groups.count && status == MR_OK; i++)
            if (verdict_of(self, &self->groups.items[i]) == (verdict)now)
                status = print_group(self, &self->groups.items[i], (verdict)now);
    return status;
}

static mr_status finish(FILE *stream, mr_status status, mr_error *error)
{
    if (status == MR_OK && (fflush(stream) || ferror(stream)))
        status = mr_error_set(error, MR_ERR_IO, NULL, 0, "cannot write the explanation: %s",
                              strerror(errno ? errno : EIO));
    return status;
}

static mr_status explain_places(explainer *self, const char *one, const char *two)
{
    const uint32_t count = self->trace->locations.count;
    self->one = mr_calloc(count + 1ull, sizeof *self->one);
    self->two = mr_calloc(count + 1ull, sizeof *self->two);
    if (!self->one || !self->two)
        return no_memory(self->error);
    mr_status status = match(self, one, &self->patterns[0], self->one);
    if (status == MR_OK && two)
        status = match(self, two, &self->patterns[1], self->two);
    else
        memset(self->two, true, count);
    errno = 0;
    if (status == MR_OK)
        status =
            mr_place_groups_find(self->trace, self->one, self->two, &self->groups, self->error);
    if (status != MR_OK)
        return status;
    if (!self->groups.count)
        print_no_conflict(self, one, two);
    else
        status = predict(self, self->patterns[0], self->patterns[1]);
    return status == MR_OK ? print_groups(self) : status;
}

mr_status mr_explain_places(FILE *stream, const mr_trace *trace, const mr_config *config,
                            const char *one, const char *two, const mr_progress *progress,
                            mr_error *error)
{
    explainer self = {
        .stream = stream, .trace = trace, .config = config, .progress = progress, .error = error};
    mr_status status = explain_places(&self, one, two);
    mr_result_free(&self.result);
    mr_config_free(self.asked);
    mr_place_groups_free(&self.groups);
    free(self.one);
    free(self.two);
    free(self.patterns[0]);
    free(self.patterns[1]);
    return finish(stream, status, error);
}

mr_status mr_explain_events(FILE *stream, const mr_trace *trace, const mr_config *config,
                            uint32_t one, uint32_t other, mr_error *error)
{
    uint32_t first = one < other ? one : other, second = one < other ? other : one;
    mr_reason reason;
    errno = 0;
    if (second >= trace->event_count)
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "--pair: there is no event %" PRIu32
                            "; the trace has events 0 to %" PRIu64,
                            second, trace->event_count - 1);
    if (!mr_events_conflict(trace, first, second)) {
        fprintf(stream, "events %" PRIu32 " and %" PRIu32 " do not conflict:\n  ", first, second);
        mr_explain_event(stream, trace, first);
        fputs("\n  ", stream);
        mr_explain_event(stream, trace, second);
        fputs("\n  two accesses conflict when different threads access one variable, at least one "
              "writes, and not both are atomic\n",
              stream);
        return finish(stream, MR_OK, error);
    }
    if (!mr_reason_quick(trace, first, second, &reason))
        return no_memory(error);
    mr_status status = MR_OK;
    if (reason.kind == MR_REASON_OPEN)
        status = mr_reason_find(trace, config, &reason, error);
    if (status == MR_OK)
        mr_reason_print(stream, trace, &reason, 1);
    return finish(stream, status, error);
}
