/*
 * json: a result for programs (docs/report-format.md). The outermost object is written by hand and
 * each part of it by jansson, one race at a time, so that memory does not grow with the number of
 * races.
 */
#include "escape.h"
#include "report.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DUMP_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(9))

/* An object under construction; `ok` turns false when memory runs out, and stays so. */
typedef struct object {
    json_t *json;
    bool ok;
} object;

typedef struct writer {
    FILE *stream;
    const mr_trace *trace;
    const mr_result *result;
    mr_error *error;
} writer;

static object object_new(void)
{
    json_t *json = json_object();
    return (object){json, json != NULL};
}

/* Takes `value` over. */
static void put(object *self, const char *key, json_t *value)
{
    if (json_object_set_new(self->json, key, value) != 0)
        self->ok = false;
}

static void put_object(object *self, const char *key, object value)
{
    self->ok = self->ok && value.ok;
    put(self, key, value.json);
}

static void put_number(object *self, const char *key, uint64_t number)
{
    put(self, key, json_integer((json_int_t)number));
}

static void put_seconds(object *self, const char *key, double seconds)
{
    put(self, key, json_real(isfinite(seconds) ? seconds : 0));
}

static void put_text(object *self, const char *key, const char *text)
{
    char *escaped = mr_escape(text, false);
    put(self, key, escaped != NULL ? json_string(escaped) : NULL);
    free(escaped);
}

/* The name as in the file, and its text for people where there is one. */
static void put_name(object *self, const char *key, const char *text_key, const mr_names *names,
                     uint32_t number)
{
    put_text(self, key, names->items[number].text);
    if (names->items[number].display != NULL)
        put_text(self, text_key, names->items[number].display);
}

static mr_status write_failed(const writer *self)
{
    return mr_error_set(self->error, MR_ERR_IO, NULL, 0, "cannot write the report: %s",
                        strerror(errno != 0 ? errno : EIO));
}

/* Writes the object and frees it. */
static mr_status dump(const writer *self, object value)
{
    mr_status status = MR_OK;
    if (!value.ok)
        status = mr_error_memory(self->error, "writing the report");
    else if (json_dumpf(value.json, self->stream, DUMP_FLAGS) != 0)
        status = ferror(self->stream) ? write_failed(self)
                                      : mr_error_memory(self->error, "writing the report");
    json_decref(value.json);
    return status;
}

static mr_status dump_member(const writer *self, const char *key, object value)
{
    fprintf(self->stream, "\"%s\":", key);
    mr_status status = dump(self, value);
    fputs(",\n", self->stream);
    return status;
}

static object tool_object(void)
{
    object tool = object_new();
    put_text(&tool, "name", "maxrace");
    put_text(&tool, "version", MR_VERSION);
    return tool;
}

static object trace_object(const mr_trace *trace)
{
    object self = object_new(), operations = object_new();
    put_text(&self, "file", trace->path);
    put_number(&self, "events", trace->event_count);
    put_number(&self, "threads", trace->threads.count);
    put_number(&self, "locks", trace->locks.count);
    put_number(&self, "variables", trace->variables.count);
    put_number(&self, "locations", trace->locations.count);
    put_number(&self, "by_source_variables", trace->by_source_count);
    for (int op = 0; op < MR_OP_COUNT; op++)
        if (trace->op_counts[op] > 0)
            put_number(&operations, mr_op_name((mr_op)op), trace->op_counts[op]);
    put_object(&self, "operations", operations);
    put_number(&self, "dropped", trace->dropped_count);
    if (trace->dropped_count > 0) {
        char line[1152];
        mr_error_line(&trace->first_dropped, line, sizeof line);
        put_text(&self, "first_dropped", line);
    }
    return self;
}

static void put_option(object *self, const char *key, const mr_config *config, size_t i)
{
    char buffer[32];
    switch (mr_options[i].type) {
    case MR_OPTION_BOOL:
        put(self, key, json_boolean(mr_config_bool(config, mr_options[i].key)));
        break;
    case MR_OPTION_INT:
        put(self, key, json_integer(mr_config_int(config, mr_options[i].key)));
        break;
    case MR_OPTION_CHOICE:
    case MR_OPTION_TEXT:
        put_text(self, key, mr_config_value_text(config, i, buffer));
        break;
    }
}

static object config_object(const mr_config *config)
{
    object self = object_new();
    for (size_t i = 0; i < mr_option_count && self.ok; i++) {
        const char *key = mr_options[i].key, *dot = strchr(key, '.');
        if (dot == NULL) {
            put_option(&self, key, config, i);
            continue;
        }
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(dot - key), key);
        if (json_object_get(self.json, name) == NULL)
            put(&self, name, json_object());
        object section = {json_object_get(self.json, name), self.ok};
        put_option(&section, dot + 1, config, i);
        self.ok = section.ok;
    }
    return self;
}

static object access_object(const mr_trace *trace, uint32_t event)
{
    object self = object_new();
    put_number(&self, "event", event);
    put_number(&self, "line", mr_trace_line(trace, event));
    put_name(&self, "thread", "thread_text", &trace->threads, trace->thread[event]);
    put_text(&self, "op", mr_op_name((mr_op)trace->op[event]));
    put_name(&self, "variable", "variable_text", &trace->variables, trace->operand[event]);
    if (mr_op_is_access(trace->op[event]) && trace->value[event] != 0)
        put(&self, "value", json_integer(trace->values[trace->value[event]]));
    put_name(&self, "location", "location_text", &trace->locations, trace->location[event]);
    return self;
}

static void put_window(object *self, uint32_t start, uint32_t end)
{
    json_t *array = json_array();
    if (json_array_append_new(array, json_integer(start)) != 0 ||
        json_array_append_new(array, json_integer(end)) != 0)
        self->ok = false;
    put(self, "window", array);
}

static object race_object(const mr_trace *trace, const mr_race *race)
{
    const mr_witness *witness = &race->witness;
    object self = object_new();
    put_object(&self, "first", access_object(trace, witness->first));
    put_object(&self, "second", access_object(trace, witness->second));
    put_text(&self, "order", mr_strength_name(race->strength));
    put_text(&self, "confirmed_by", mr_step_name(race->confirmed_by));
    put_window(&self, witness->window_start, witness->window_end);
    json_t *events = json_array();
    for (uint32_t i = 0; i < witness->event_count && self.ok; i++)
        if (json_array_append_new(events, json_integer(witness->events[i])) != 0)
            self.ok = false;
    put(&self, "witness", events);
    return self;
}

static object unknown_object(const mr_trace *trace, const mr_unknown *unknown)
{
    object self = object_new();
    put_object(&self, "first", access_object(trace, unknown->first));
    put_object(&self, "second", access_object(trace, unknown->second));
    put_text(&self, "order", mr_strength_name(unknown->strength));
    put_text(&self, "reason", mr_unknown_reason_name(unknown->reason));
    put_text(&self, "detail", unknown->detail);
    put_window(&self, unknown->window_start, unknown->window_end);
    return self;
}

static object steps_object(const uint64_t counts[MR_STEP_COUNT])
{
    object self = object_new();
    for (int step = 0; step < MR_STEP_COUNT; step++)
        put_number(&self, mr_step_name((mr_step)step), counts[step]);
    return self;
}

static object seconds_object(const mr_stats *stats)
{
    object self = object_new();
    put_seconds(&self, "read", stats->read_seconds);
    put_seconds(&self, "order", stats->order_seconds);
    put_seconds(&self, "window", stats->window_seconds);
    put_seconds(&self, "decide", stats->decide_seconds);
    put_seconds(&self, "solver", stats->solver_seconds);
    put_seconds(&self, "far", stats->far_seconds);
    put_seconds(&self, "witness", stats->witness_seconds);
    put_seconds(&self, "total", stats->total_seconds);
    return self;
}

static object stats_object(const mr_result *result)
{
    const mr_stats *stats = &result->stats;
    object self = object_new(), unknown = object_new();
    put_number(&self, "windows", stats->windows);
    put_number(&self, "candidates", stats->candidates);
    put_object(&self, "settled", steps_object(stats->settled));
    put_object(&self, "races", steps_object(stats->races));
    for (int reason = 0; reason < MR_UNKNOWN_COUNT; reason++)
        put_number(&unknown, mr_unknown_reason_name((mr_unknown_reason)reason),
                   stats->unknown[reason]);
    put_object(&self, "unknown", unknown);
    put_number(&self, "rejected_witnesses", stats->rejected_witnesses);
    put_number(&self, "static_races", stats->static_races);
    put_object(&self, "seconds", seconds_object(stats));
    put_number(&self, "peak_memory_bytes", stats->peak_memory_bytes);
    return self;
}

static mr_status dump_races(const writer *self)
{
    mr_status status = MR_OK;
    fputs("\"races\":[", self->stream);
    for (size_t i = 0; i < self->result->race_count && status == MR_OK; i++) {
        fputs(i > 0 ? ",\n" : "\n", self->stream);
        status = dump(self, race_object(self->trace, &self->result->races[i]));
    }
    fputs("],\n", self->stream);
    return status;
}

static mr_status dump_unknowns(const writer *self)
{
    mr_status status = MR_OK;
    fputs("\"unknown\":[", self->stream);
    for (size_t i = 0; i < self->result->unknown_count && status == MR_OK; i++) {
        fputs(i > 0 ? ",\n" : "\n", self->stream);
        status = dump(self, unknown_object(self->trace, &self->result->unknowns[i]));
    }
    fputs("],\n", self->stream);
    return status;
}

mr_status mr_report_json(FILE *stream, const mr_trace *trace, const mr_config *config,
                         const mr_result *result, mr_error *error)
{
    writer self = {stream, trace, result, error};
    errno = 0;
    fputs("{", stream);
    mr_status status = dump_member(&self, "tool", tool_object());
    if (status == MR_OK)
        status = dump_member(&self, "trace", trace_object(trace));
    if (status == MR_OK)
        status = dump_member(&self, "config", config_object(config));
    if (status == MR_OK)
        status = dump_races(&self);
    if (status == MR_OK)
        status = dump_unknowns(&self);
    if (status != MR_OK)
        return status;
    fputs("\"stats\":", stream);
    status = dump(&self, stats_object(result));
    fputs("}\n", stream);
    if (status == MR_OK && (fflush(stream) != 0 || ferror(stream)))
        status = write_failed(&self);
    return status;
}
