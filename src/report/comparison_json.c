/* comparison_json: a comparison for programs (docs/report-format.md). */
#include "comparison.h"

#include "compare/containment.h"
#include "escape.h"
#include "json_object.h"
#include "phrases.h"

#include <jansson.h>
#include <stdlib.h>

#define DUMP_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(9))

/* NULL: no memory. */
static json_t *text_value(const char *text)
{
    char *escaped = mr_escape(text, false);
    json_t *value = escaped != NULL ? json_string(escaped) : NULL;
    free(escaped);
    return value;
}

/* What a prediction found beside races, by kind. NULL: no memory. */
static json_t *beside_value(const mr_finder_figures *finding)
{
    json_t *value = json_pack("{s:I}", "unknown", (json_int_t)finding->beside_unknown);
    bool ok = value != NULL;
    for (int kind = MR_WITNESS_USE_AFTER_FREE; ok && kind < MR_WITNESS_SEES; kind++)
        ok = json_object_set_new(value, mr_witness_kind_name((mr_witness_kind)kind),
                                 json_integer(finding->beside[kind])) == 0;
    if (ok)
        return value;
    json_decref(value);
    return NULL;
}

static json_t *finding_value(const mr_finder_figures *finding, int finder, bool run)
{
    json_t *value = json_pack("{s:I, s:I}", "static_races", (json_int_t)finding->static_races,
                              "only", (json_int_t)finding->only);
    bool ok = value != NULL;
    if (ok && run)
        ok = json_object_set_new(value, "seconds", json_real(finding->seconds)) == 0;
    if (ok && finding->ended_by != MR_HALT_NONE)
        ok = json_object_set_new(value, "ended_by",
                                 json_string(mr_halt_reason_name(finding->ended_by))) == 0;
    if (ok && finding->counts_events) {
        json_t *events =
            json_pack("{s:I, s:I, s:I}", "racy_events", (json_int_t)finding->racy_events,
                      "racy_locations", (json_int_t)finding->racy_locations, "racy_variables",
                      (json_int_t)finding->racy_variables);
        ok = json_object_update(value, events) == 0;
        json_decref(events);
    }
    if (ok && finder >= MR_RELATION_COUNT)
        ok = json_object_set_new(value, "unknown", json_integer(finding->unknown)) == 0 &&
             json_object_set_new(value, "beside_races", beside_value(finding)) == 0;
    if (ok)
        return value;
    json_decref(value);
    return NULL;
}

/* The names of a set of finders. */
static json_t *set_value(uint32_t set)
{
    json_t *value = json_array();
    for (int finder = 0; finder < MR_FINDER_COUNT; finder++)
        if ((set >> finder & 1) &&
            json_array_append_new(value, json_string(mr_finder_name(finder))) != 0) {
            json_decref(value);
            return NULL;
        }
    return value;
}

static json_t *race_value(const mr_trace *trace, const mr_compared_race *race)
{
    return json_pack(
        "{s:[o,o], s:o, s:[I,I], s:[I,I], s:o, s:o}", "locations",
        text_value(trace->locations.items[race->low].text),
        text_value(trace->locations.items[race->high].text), "variable",
        text_value(trace->variables.items[mr_pair_variable(trace, race->first, race->second)].text),
        "events", (json_int_t)race->first, (json_int_t)race->second, "lines",
        (json_int_t)mr_trace_line(trace, race->first),
        (json_int_t)mr_trace_line(trace, race->second), "found_by", set_value(race->found_by),
        "unknown_by", set_value(race->unknown_by & ~race->found_by));
}

static json_t *trace_value(const mr_comparison *comparison)
{
    const mr_trace *trace = comparison->trace;
    return json_pack("{s:o, s:I, s:I, s:I, s:I, s:I}", "file", text_value(trace->path), "events",
                     (json_int_t)trace->event_count, "threads", (json_int_t)trace->threads.count,
                     "locks", (json_int_t)trace->locks.count, "variables",
                     (json_int_t)trace->variables.count, "locations",
                     (json_int_t)trace->locations.count);
}

/* Fills the three parts of a trace's object. False: no memory. */
static bool fill(const mr_comparison *comparison, bool run, json_t *findings, json_t *races,
                 json_t *breaches)
{
    for (int finder = 0; finder < MR_FINDER_COUNT; finder++)
        if (comparison->findings[finder].done &&
            json_object_set_new(findings, mr_finder_name(finder),
                                finding_value(&comparison->findings[finder], finder, run)) != 0)
            return false;
    for (size_t i = 0; i < comparison->race_count; i++)
        if (json_array_append_new(races, race_value(comparison->trace, &comparison->races[i])) != 0)
            return false;
    for (size_t i = 0; i < comparison->breach_count; i++) {
        char line[512];
        mr_breach_line(comparison, &comparison->breaches[i], line, sizeof line);
        if (json_array_append_new(breaches, text_value(line)) != 0)
            return false;
    }
    return true;
}

static bool put_ending(json_t *object, const mr_ending *ending)
{
    if (!mr_ending_is_known(ending))
        return true;
    mr_json value = mr_json_ending(ending);
    return json_object_set_new(object, "ending", value.json) == 0 && value.ok;
}

/* The trace as an object, without a newline. */
static mr_status write_object(FILE *stream, const mr_comparison *comparison, bool run,
                              mr_error *error)
{
    json_t *object = trace_value(comparison);
    json_t *findings = json_object(), *races = json_array(), *breaches = json_array();
    bool ok = object != NULL && put_ending(object, &comparison->trace->ending) &&
              fill(comparison, run, findings, races, breaches);
    if (ok && run)
        ok = json_object_set_new(object, "read_seconds", json_real(comparison->read_seconds)) == 0;
    ok = ok && json_object_set(object, "findings", findings) == 0 &&
         json_object_set(object, "static_races", races) == 0 &&
         json_object_set(object, "breaches", breaches) == 0;
    mr_status status = MR_OK;
    if (!ok || (json_dumpf(object, stream, DUMP_FLAGS) != 0 && !ferror(stream)))
        status = mr_error_memory(error, "writing the report");
    else if (ferror(stream))
        status = mr_report_write_failed(NULL, error);
    json_decref(findings);
    json_decref(races);
    json_decref(breaches);
    json_decref(object);
    return status;
}

static void print_head(const mr_comparison_report *report)
{
    fputs("{\"tool\":{\"name\":\"maxrace\",\"version\":\"" MR_VERSION "\"},\n\"traces\":[",
          report->stream);
}

static mr_status write_trace(const mr_comparison_report *report, const mr_comparison *comparison,
                             mr_error *error)
{
    fputs(report->count > 0 ? ",\n" : "\n", report->stream);
    return write_object(report->stream, comparison, report->run, error);
}

static void print_end(const mr_comparison_report *report)
{
    fputs("]}\n", report->stream);
}

const mr_comparison_writer mr_comparison_json = {
    .begin = print_head, .write = write_trace, .end = print_end};
