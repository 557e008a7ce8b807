#include "json_object.h"
#include "escape.h"
#include "listing/baseline.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

mr_json mr_json_new(void)
{
    json_t *json = json_object();
    return (mr_json){json, json != NULL};
}

void mr_json_put(mr_json *self, const char *key, json_t *value)
{
    if (json_object_set_new(self->json, key, value) != 0)
        self->ok = false;
}

void mr_json_put_object(mr_json *self, const char *key, mr_json value)
{
    self->ok = self->ok && value.ok;
    mr_json_put(self, key, value.json);
}

void mr_json_append(mr_json *self, json_t *array, mr_json item)
{
    self->ok = self->ok && item.ok;
    if (json_array_append_new(array, item.json) != 0)
        self->ok = false;
}

void mr_json_put_number(mr_json *self, const char *key, uint64_t number)
{
    mr_json_put(self, key, json_integer((json_int_t)number));
}

void mr_json_put_seconds(mr_json *self, const char *key, double seconds)
{
    mr_json_put(self, key, json_real(isfinite(seconds) ? seconds : 0));
}

void mr_json_put_text(mr_json *self, const char *key, const char *text)
{
    char *escaped = mr_escape(text, false);
    mr_json_put(self, key, escaped != NULL ? json_string(escaped) : NULL);
    free(escaped);
}

void mr_json_put_name(mr_json *self, const char *key, const char *text_key, const mr_names *names,
                      uint32_t number)
{
    mr_json_put_text(self, key, names->items[number].text);
    if (names->items[number].display != NULL)
        mr_json_put_text(self, text_key, names->items[number].display);
}

mr_status mr_json_dump(FILE *stream, mr_json value, mr_error *error)
{
    mr_status status = MR_OK;
    if (!value.ok)
        status = mr_error_memory(error, "writing the report");
    else if (json_dumpf(value.json, stream, MR_JSON_STYLE) != 0)
        status = ferror(stream) ? mr_report_write_failed(NULL, error)
                                : mr_error_memory(error, "writing the report");
    json_decref(value.json);
    return status;
}

mr_status mr_json_dump_member(FILE *stream, const char *key, mr_json value, mr_error *error)
{
    fprintf(stream, "\"%s\":", key);
    mr_status status = mr_json_dump(stream, value, error);
    fputs(",\n", stream);
    return status;
}

mr_status mr_json_dump_last(FILE *stream, const char *key, mr_json value, mr_error *error)
{
    fprintf(stream, "\"%s\":", key);
    mr_status status = mr_json_dump(stream, value, error);
    fputs("}\n", stream);
    if (status == MR_OK && (fflush(stream) != 0 || ferror(stream)))
        return mr_report_write_failed(NULL, error);
    return status;
}

void mr_json_put_listed(mr_json *self, const mr_listed *finding, const mr_listing *findings)
{
    char text[MR_FINGERPRINT_BYTES];
    mr_fingerprint_print(finding->fingerprint, text);
    mr_json_put_number(self, "number", finding->number);
    mr_json_put_text(self, "fingerprint", text);
    if (findings->has_baseline)
        mr_json_put(self, "known", json_boolean(finding->known));
}

mr_json mr_json_tool(void)
{
    mr_json tool = mr_json_new();
    mr_json_put_text(&tool, "name", "maxrace");
    mr_json_put_text(&tool, "version", MR_VERSION);
    return tool;
}

void mr_json_put_confirmed(mr_json *self, mr_confirmed confirmed, const char *effect)
{
    if (confirmed != MR_CONFIRMED_NOT_ASKED)
        mr_json_put_text(self, "confirmed", mr_confirmed_name(confirmed));
    if (effect)
        mr_json_put_text(self, "effect", effect);
}

void mr_json_put_unseen(mr_json *self, const mr_ending *ending)
{
    json_t *words = json_array();
    if (!ending->unseen) {
        json_decref(words);
        return;
    }
    for (int i = 0; i < MR_UNSEEN_COUNT; i++)
        if (ending->unseen >> i & 1)
            self->ok =
                json_array_append_new(words, json_string(mr_unseen_word((mr_unseen)i))) == 0 &&
                self->ok;
    mr_json_put(self, "unseen", words);
}

mr_json mr_json_ending(const mr_ending *ending)
{
    mr_json self = mr_json_new();
    json_t *details = json_array();
    if (ending->program == MR_PROGRAM_EXITED)
        mr_json_put_number(&self, "exit_status", (uint64_t)ending->number);
    if (ending->program == MR_PROGRAM_SIGNALLED)
        mr_json_put_number(&self, "signal", (uint64_t)ending->number);
    if (ending->stop)
        mr_json_put_text(&self, "stopped", mr_stop_word(ending->stop));
    if (ending->children)
        mr_json_put_number(&self, "children", ending->children);
    for (const char *at = ending->details; at && *at; at += strcspn(at, "\n") + 1) {
        char line[1024];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        char *escaped = mr_escape(line, false);
        self.ok = escaped && json_array_append_new(details, json_string(escaped)) == 0 && self.ok;
        free(escaped);
    }
    mr_json_put_unseen(&self, ending);
    mr_json_put(&self, "bad", json_boolean(mr_ending_is_bad(ending)));
    mr_json_put(&self, "details", details);
    return self;
}

mr_json mr_json_trace(const mr_trace *trace)
{
    mr_json self = mr_json_new(), operations = mr_json_new();
    mr_json_put_text(&self, "file", trace->path);
    mr_json_put_number(&self, "events", trace->event_count);
    mr_json_put_number(&self, "threads", trace->threads.count);
    mr_json_put_number(&self, "locks", trace->locks.count);
    mr_json_put_number(&self, "variables", trace->variables.count);
    mr_json_put_number(&self, "locations", trace->locations.count);
    if (trace->objects.count > 0)
        mr_json_put_number(&self, "objects", trace->objects.count);
    for (int op = 0; op < MR_OP_COUNT; op++)
        if (trace->op_counts[op] > 0)
            mr_json_put_number(&operations, mr_op_name((mr_op)op), trace->op_counts[op]);
    mr_json_put_object(&self, "operations", operations);
    if (mr_ending_is_known(&trace->ending))
        mr_json_put_object(&self, "ending", mr_json_ending(&trace->ending));
    mr_json_put_number(&self, "dropped", trace->dropped_count);
    if (trace->dropped_count > 0) {
        char line[1152];
        mr_error_line(&trace->first_dropped, line, sizeof line);
        mr_json_put_text(&self, "first_dropped", line);
    }
    return self;
}

static void put_option(mr_json *self, const char *key, const mr_config *config, size_t i)
{
    char buffer[32];
    switch (mr_options[i].type) {
    case MR_OPTION_BOOL:
        mr_json_put(self, key, json_boolean(mr_config_bool(config, mr_options[i].key)));
        break;
    case MR_OPTION_INT:
        mr_json_put(self, key, json_integer(mr_config_int(config, mr_options[i].key)));
        break;
    case MR_OPTION_CHOICE:
    case MR_OPTION_LIST:
    case MR_OPTION_TEXT:
        mr_json_put_text(self, key, mr_config_value_text(config, i, buffer));
        break;
    }
}

mr_json mr_json_config(const mr_config *config, bool run_only)
{
    mr_json self = mr_json_new();
    for (size_t i = 0; i < mr_option_count && self.ok; i++) {
        const char *key = mr_options[i].key, *dot = strchr(key, '.');
        if (mr_config_is_run_only(i) != run_only)
            continue;
        if (dot == NULL) {
            put_option(&self, key, config, i);
            continue;
        }
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(dot - key), key);
        if (json_object_get(self.json, name) == NULL)
            mr_json_put(&self, name, json_object());
        mr_json section = {json_object_get(self.json, name), self.ok};
        put_option(&section, dot + 1, config, i);
        self.ok = section.ok;
    }
    return self;
}

mr_json mr_json_access(const mr_trace *trace, mr_access access, uint32_t operand)
{
    mr_json self = mr_json_new();
    mr_json_put_number(&self, "event", access.event);
    mr_json_put_number(&self, "line", mr_trace_line(trace, access.event));
    mr_json_put_name(&self, "thread", "thread_text", &trace->threads, access.thread);
    mr_json_put_text(&self, "op", mr_op_name((mr_op)access.op));
    if (mr_op_is_access(access.op))
        mr_json_put_name(&self, "variable", "variable_text", &trace->variables, access.variable);
    else if (mr_op_operand_kind((mr_op)access.op) == MR_OPERAND_OBJECT)
        mr_json_put_name(&self, "object", "object_text", &trace->objects, operand);
    else if (mr_op_operand_kind((mr_op)access.op) == MR_OPERAND_LOCK)
        mr_json_put_name(&self, "lock", "lock_text", &trace->locks, operand);
    mr_json_put_name(&self, "location", "location_text", &trace->locations, access.location);
    return self;
}

mr_json mr_json_event(const mr_trace *trace, uint32_t event, uint32_t other)
{
    return mr_json_access(trace, mr_access_of_event(trace, event, other), trace->operand[event]);
}

void mr_json_put_value(mr_json *self, const mr_trace *trace, uint32_t event)
{
    char number[MR_VALUE_BYTES], text[MR_TYPED_VALUE_BYTES];
    if (!mr_op_is_access(trace->op[event]) || trace->value[event] == 0)
        return;
    int64_t value = trace->values[mr_trace_read_value(trace, event)];
    mr_json_put(self, "value", json_integer(value));
    snprintf(number, sizeof number, "%" PRId64, value);
    if (mr_typed_value_text(mr_value_types_text(&trace->types, trace->operand[event]), value,
                            text) &&
        strcmp(text, number) != 0)
        mr_json_put_text(self, "value_text", text);
}

void mr_json_put_window(mr_json *self, uint32_t start, uint32_t end)
{
    json_t *array = json_array();
    if (json_array_append_new(array, json_integer(start)) != 0 ||
        json_array_append_new(array, json_integer(end)) != 0)
        self->ok = false;
    mr_json_put(self, "window", array);
}

/* The numbers as runs of consecutive ones: [first, last]. */
static json_t *runs_of(mr_json *self, const mr_witness *witness)
{
    json_t *runs = json_array();
    for (uint32_t i = 0, next; i < witness->event_count && self->ok; i = next) {
        for (next = i + 1; next < witness->event_count; next++)
            if (witness->events[next] != witness->events[next - 1] + 1)
                break;
        json_t *run = json_pack("[I, I]", (json_int_t)witness->events[i],
                                (json_int_t)witness->events[next - 1]);
        if (json_array_append_new(runs, run) != 0)
            self->ok = false;
    }
    return runs;
}

void mr_json_put_events(mr_json *self, const char *key, const mr_witness *witness)
{
    if (witness->event_count > MR_JSON_MOST_EVENTS) {
        mr_json_put(self, "runs", runs_of(self, witness));
        return;
    }
    json_t *events = json_array();
    for (uint32_t i = 0; i < witness->event_count && self->ok; i++)
        if (json_array_append_new(events, json_integer(witness->events[i])) != 0)
            self->ok = false;
    mr_json_put(self, key, events);
}
