#include "report_read.h"

#include "base/memory.h"
#include "witness/checker.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mr_report {
    json_t *json;
    const char *file; /* on loan */
};

typedef struct reader {
    const mr_report *report;
    const mr_trace *trace;
    mr_result *result;
    mr_error *error;
    mr_model model;
    bool good;   /* every number so far names an event */
    bool memory; /* there was enough */
} reader;

/* ---- small values ---- */

static mr_status not_of_trace(const reader *self)
{
    return mr_error_set(self->error, MR_ERR_TRACE, self->report->file, 0,
                        "the report is not one of the trace %s", self->trace->path);
}

static uint32_t bounded(reader *self, const json_t *value, uint64_t limit)
{
    json_int_t number = json_integer_value(value);
    if (json_is_integer(value) && number >= 0 && (uint64_t)number < limit)
        return (uint32_t)number;
    self->good = false;
    return 0;
}

static uint32_t event_number(reader *self, const json_t *value)
{
    return bounded(self, value, self->trace->event_count);
}

/* The event of an access object; MR_NONE when there is none. */
static uint32_t event_of(reader *self, const json_t *object, const char *key)
{
    const json_t *access = json_object_get(object, key);
    return json_is_object(access) ? event_number(self, json_object_get(access, "event")) : MR_NONE;
}

static uint64_t count_of(const json_t *object, const char *key)
{
    json_int_t number = json_integer_value(json_object_get(object, key));
    return number > 0 ? (uint64_t)number : 0;
}

/* The index of the word among `count` ones, or 0. */
static int index_of(const json_t *object, const char *key, int count, const char *(*name)(int))
{
    const char *word = json_string_value(json_object_get(object, key));
    for (int i = 0; word && i < count; i++)
        if (strcmp(word, name(i)) == 0)
            return i;
    return 0;
}

static const char *step_name(int i)
{
    return mr_step_name((mr_step)i);
}

static const char *strength_name(int i)
{
    return mr_strength_name((mr_strength)i);
}

static const char *confirmed_name(int i)
{
    return mr_confirmed_name((mr_confirmed)i);
}

static const char *reason_name(int i)
{
    return mr_unknown_reason_name((mr_unknown_reason)i);
}

static const char *kind_name(int i)
{
    return mr_witness_kind_name((mr_witness_kind)i);
}

enum { STRENGTHS = 4, CONFIRMED = MR_CONFIRMED_DIVERGED + 1 };

static mr_step step_of(const json_t *object)
{
    return (mr_step)index_of(object, "confirmed_by", MR_STEP_COUNT, step_name);
}

/* ---- witnesses ---- */

static void read_window(reader *self, const json_t *object, uint32_t *start, uint32_t *end)
{
    const json_t *window = json_object_get(object, "window");
    *start = bounded(self, json_array_get(window, 0), self->trace->event_count + 1ull);
    *end = bounded(self, json_array_get(window, 1), self->trace->event_count + 1ull);
}

static bool add_events(reader *self, mr_u32s *events, uint32_t first, uint32_t last)
{
    for (uint32_t event = first; event <= last && self->good; event++) {
        if (events->count == self->trace->event_count)
            self->good = false;
        else if (!mr_u32s_push(events, event))
            return false;
    }
    return true;
}

/* The events of "witness", or of "runs". */
static void read_events(reader *self, const json_t *object, mr_witness *witness)
{
    mr_u32s events = {0};
    size_t index;
    const json_t *item;
    bool ok = mr_u32s_push(&events, 0); /* so that there is an array */
    events.count = 0;
    json_array_foreach(json_object_get(object, "witness"), index, item)
    {
        uint32_t event = event_number(self, item);
        ok = ok && add_events(self, &events, event, event);
    }
    json_array_foreach(json_object_get(object, "runs"), index, item)
    {
        uint32_t first = event_number(self, json_array_get(item, 0));
        uint32_t last = event_number(self, json_array_get(item, 1));
        ok = ok && add_events(self, &events, first, last);
    }
    witness->events = events.items;
    witness->event_count = (uint32_t)events.count;
    self->memory = self->memory && ok;
}

static void read_waits(reader *self, const json_t *object, mr_witness *witness)
{
    const json_t *waits = json_object_get(object, "waits");
    size_t count = json_array_size(waits), index;
    const json_t *wait;
    witness->waits = mr_calloc(count + 1, sizeof *witness->waits);
    self->memory = self->memory && witness->waits;
    self->good = self->good && count > 1;
    if (!witness->waits || !self->good)
        return;
    json_array_foreach(waits, index, wait)
    {
        witness->waits[witness->wait_count++] = event_number(self, json_object_get(wait, "event"));
    }
    witness->first = witness->waits[0];
    witness->second = witness->waits[1];
}

/* The witness of a race or of another finding. */
static mr_witness read_witness(reader *self, const json_t *object)
{
    mr_witness witness = {
        .kind = (mr_witness_kind)index_of(object, "kind", MR_WITNESS_KINDS, kind_name),
        .model = self->model,
        .freed = MR_NONE};
    switch (witness.kind) {
    case MR_WITNESS_RACE:
    case MR_WITNESS_MEMORY_ORDER:
        witness.first = event_of(self, object, "first");
        witness.second = event_of(self, object, "second");
        break;
    case MR_WITNESS_USE_AFTER_FREE:
        witness.first = event_of(self, object, "free");
        witness.second = event_of(self, object, "use");
        break;
    case MR_WITNESS_DEADLOCK:
        read_waits(self, object, &witness);
        break;
    case MR_WITNESS_NULL:
    case MR_WITNESS_DANGLING:
    case MR_WITNESS_DOUBLE_FREE:
    case MR_WITNESS_SEES:
        witness.first = event_of(self, object, "write");
        witness.second = event_of(self, object, "read");
        witness.freed = event_of(self, object, "free");
        break;
    case MR_WITNESS_KINDS:
        break;
    }
    self->good = self->good && witness.second != MR_NONE;
    read_window(self, object, &witness.window_start, &witness.window_end);
    read_events(self, object, &witness);
    return witness;
}

/* ---- lists ---- */

static void read_race(reader *self, const json_t *object)
{
    mr_result *result = self->result;
    if (!mr_grow((void **)&result->races, &result->race_capacity, result->race_count + 1,
                 sizeof *result->races)) {
        self->memory = false;
        return;
    }
    result->races[result->race_count++] =
        (mr_race){read_witness(self, object),
                  (mr_strength)index_of(object, "order", STRENGTHS, strength_name),
                  step_of(object),
                  (mr_confirmed)index_of(object, "confirmed", CONFIRMED, confirmed_name),
                  json_string_value(json_object_get(object, "effect")),
                  false};
}

static void read_finding(reader *self, const json_t *object)
{
    mr_result *result = self->result;
    if (!mr_grow((void **)&result->findings, &result->finding_capacity, result->finding_count + 1,
                 sizeof *result->findings)) {
        self->memory = false;
        return;
    }
    result->findings[result->finding_count++] =
        (mr_finding){read_witness(self, object), step_of(object),
                     (mr_confirmed)index_of(object, "confirmed", CONFIRMED, confirmed_name),
                     json_string_value(json_object_get(object, "effect"))};
}

static void read_unknown_finding(reader *self, const json_t *object, const mr_unknown *read)
{
    mr_result *result = self->result;
    if (!mr_grow((void **)&result->finding_unknowns, &result->finding_unknown_capacity,
                 result->finding_unknown_count + 1, sizeof *result->finding_unknowns)) {
        self->memory = false;
        return;
    }
    mr_finding_unknown unknown = {
        .kind = (mr_witness_kind)index_of(object, "kind", MR_WITNESS_KINDS, kind_name),
        .first = read->first,
        .second = read->second,
        .window_start = read->window_start,
        .window_end = read->window_end,
        .reason = read->reason};
    memcpy(unknown.detail, read->detail, sizeof unknown.detail);
    result->finding_unknowns[result->finding_unknown_count++] = unknown;
}

static void read_unknown(reader *self, const json_t *object)
{
    mr_result *result = self->result;
    const char *detail = json_string_value(json_object_get(object, "detail"));
    mr_unknown unknown = {
        .first = event_of(self, object, "first"),
        .second = event_of(self, object, "second"),
        .strength = (mr_strength)index_of(object, "order", STRENGTHS, strength_name),
        .reason = (mr_unknown_reason)index_of(object, "reason", MR_UNKNOWN_COUNT, reason_name)};
    read_window(self, object, &unknown.window_start, &unknown.window_end);
    snprintf(unknown.detail, sizeof unknown.detail, "%s", detail ? detail : "");
    self->good = self->good && unknown.first != MR_NONE;
    if (json_object_get(object, "kind")) {
        read_unknown_finding(self, object, &unknown);
        return;
    }
    self->good = self->good && unknown.second != MR_NONE;
    if (!mr_grow((void **)&result->unknowns, &result->unknown_capacity, result->unknown_count + 1,
                 sizeof *result->unknowns)) {
        self->memory = false;
        return;
    }
    result->unknowns[result->unknown_count++] = unknown;
}

static void read_list(reader *self, const char *key,
                      void (*read)(reader *self, const json_t *object))
{
    size_t index;
    const json_t *object;
    json_array_foreach(json_object_get(self->report->json, key), index, object)
    {
        if (self->good && self->memory)
            read(self, object);
    }
}

/* ---- counts ---- */

static void read_incomplete(const json_t *json, mr_stats *stats)
{
    static const char *const reasons[] = {"failure", "signal", "time_limit", "memory.limit_mb"};
    const char *reason = json_string_value(json_object_get(json, "ended_by"));
    stats->incomplete = json_is_object(json);
    for (int i = 0; reason && i < (int)(sizeof reasons / sizeof *reasons); i++)
        if (strcmp(reason, reasons[i]) == 0)
            stats->halted = (mr_halt_reason)i;
    stats->windows_missing = count_of(json, "windows_missing");
    stats->far_missing = json_is_true(json_object_get(json, "far_missing"));
    stats->findings_missing = json_is_true(json_object_get(json, "findings_missing"));
}

static void read_stats(const json_t *json, mr_stats *stats)
{
    const json_t *far = json_object_get(json, "far");
    stats->windows = count_of(json, "windows");
    stats->windows_stopped = count_of(json, "windows_stopped");
    stats->candidates = count_of(json, "candidates");
    for (int i = 0; i < MR_STEP_COUNT; i++) {
        stats->settled[i] = count_of(json_object_get(json, "settled"), step_name(i));
        stats->races[i] = count_of(json_object_get(json, "races"), step_name(i));
    }
    for (int i = 0; i < MR_UNKNOWN_COUNT; i++)
        stats->unknown[i] = count_of(json_object_get(json, "unknown"), reason_name(i));
    stats->far_pairs = count_of(far, "pairs");
    stats->far_no_race = count_of(far, "no_race");
    stats->far_unknown = count_of(far, "unknown");
    stats->far_parts = count_of(far, "in_parts");
    stats->far_windows = count_of(far, "windows");
    stats->far_events = count_of(far, "events");
    stats->rejected_witnesses = count_of(json, "rejected_witnesses");
    stats->static_races = count_of(json, "static_races");
    stats->memory_order_races = count_of(json, "memory_order_races");
    stats->cycles_missing = json_is_true(json_object_get(json, "cycles_missing"));
    for (int kind = 0; kind < MR_WITNESS_KINDS; kind++) {
        const json_t *one = json_object_get(json_object_get(json, "findings"), kind_name(kind));
        stats->findings[kind] = (mr_finding_stats){
            .candidates = count_of(one, "candidates"),
            .questions = count_of(one, "questions"),
            .found = count_of(one, "found"),
            .impossible = count_of(one, "impossible"),
            .unknown = count_of(one, "unknown"),
        };
    }
    read_incomplete(json_object_get(json, "incomplete"), stats);
}

/* ---- the checker ---- */

static mr_status check(const reader *self, mr_checker *checker, const mr_witness *witness)
{
    mr_error reason;
    mr_status status = mr_checker_check(checker, witness, &reason);
    if (status == MR_ERR_INTERNAL)
        return not_of_trace(self);
    if (status != MR_OK)
        *self->error = reason;
    return status;
}

static mr_status check_all(const reader *self, mr_opaque opaque)
{
    const mr_result *result = self->result;
    mr_status status = MR_OK;
    mr_checker *checker = mr_checker_new(self->trace, opaque);
    if (!checker)
        return mr_error_memory(self->error, "checking the witnesses");
    for (size_t i = 0; i < result->race_count && status == MR_OK; i++)
        status = check(self, checker, &result->races[i].witness);
    for (size_t i = 0; i < result->finding_count && status == MR_OK; i++)
        status = check(self, checker, &result->findings[i].witness);
    mr_checker_free(checker);
    return status;
}

/* ---- the whole ---- */

/* Sets the options that decide the result; those of reports are the user's. */
static mr_status set_option(mr_config *config, const char *key, const json_t *value,
                            mr_error *error)
{
    static const char users[] = " format brief source_dir suppressions baseline fail_on ";
    char word[140], number[32];
    snprintf(word, sizeof word, " %s ", key);
    if (strstr(users, word) || mr_config_find(key) < 0)
        return MR_OK;
    snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    const char *text = json_is_string(value)    ? json_string_value(value)
                       : json_is_integer(value) ? number
                       : json_is_true(value)    ? "true"
                                                : "false";
    return mr_config_set(config, key, text, NULL, 0, error);
}

static mr_status set_options(mr_config *config, const json_t *values, mr_error *error)
{
    const char *name, *inner;
    json_t *value, *part;
    mr_status status = MR_OK;
    json_object_foreach((json_t *)values, name, value)
    {
        /* cppcheck-suppress knownConditionTrueFalse; not in later rounds */
        if (status == MR_OK && !json_is_object(value))
            status = set_option(config, name, value, error);
        if (strcmp(name, "report") == 0)
            continue;
        json_object_foreach(value, inner, part)
        {
            char key[128];
            snprintf(key, sizeof key, "%s.%s", name, inner);
            if (status == MR_OK)
                status = set_option(config, key, part, error);
        }
    }
    return status;
}

mr_status mr_report_open(const char *file, mr_config *config, mr_report **report, mr_error *error)
{
    json_error_t problem;
    *report = NULL;
    FILE *stream = fopen(file, "rb");
    if (!stream)
        return mr_error_set(error, MR_ERR_IO, file, 0, "cannot open: %s", strerror(errno));
    json_t *json = json_loadf(stream, 0, &problem);
    fclose(stream);
    if (!json)
        return mr_error_set(error, MR_ERR_CONFIG, file,
                            problem.line > 0 ? (uint64_t)problem.line : 0,
                            "cannot read the report: %s", problem.text);
    *report = mr_calloc(1, sizeof **report);
    if (!*report) {
        json_decref(json);
        return mr_error_memory(error, "reading the report");
    }
    **report = (mr_report){json, file};
    if (json_object_get(json, "runs"))
        return mr_error_set(error, MR_ERR_CONFIG, file, 0,
                            "a report of several runs: give 'run' the format at once");
    if (!json_is_array(json_object_get(json, "races")) ||
        !json_is_array(json_object_get(json, "unknown")) || !mr_report_trace(*report))
        return mr_error_set(error, MR_ERR_CONFIG, file, 0,
                            "no report of 'predict', 'merge' or 'run' in JSON");
    return set_options(config, json_object_get(json, "config"), error);
}

const char *mr_report_trace(const mr_report *report)
{
    return json_string_value(json_object_get(json_object_get(report->json, "trace"), "file"));
}

mr_status mr_report_result(const mr_report *report, const mr_trace *trace, const mr_config *config,
                           mr_result *result, mr_error *error)
{
    static const char *const others[] = {"memory", "deadlocks", "pointers"};
    reader self = {.report = report,
                   .trace = trace,
                   .result = result,
                   .error = error,
                   .model = (mr_model)mr_config_choice(config, "model"),
                   .good = true,
                   .memory = true};
    *result = (mr_result){0};
    read_list(&self, "races", read_race);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        read_list(&self, others[i], read_finding);
    read_list(&self, "unknown", read_unknown);
    const json_t *sees = json_object_get(report->json, "sees");
    if (json_object_get(sees, "read") && self.good && self.memory)
        read_finding(&self, sees);
    if (!self.memory)
        return mr_error_memory(error, "reading the report");
    if (!self.good)
        return not_of_trace(&self);
    read_stats(json_object_get(report->json, "stats"), &result->stats);
    if (sees)
        result->stats.findings[MR_WITNESS_SEES].found = json_object_get(sees, "read") != NULL;
    return check_all(&self, (mr_opaque)mr_config_choice(config, "opaque"));
}

void mr_report_close(mr_report *report)
{
    if (!report)
        return;
    json_decref(report->json);
    free(report);
}
