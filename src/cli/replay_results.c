#include "replay_results.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Keys on which findings depend; those that end with a dot stand for all that begin so. */
static const char *const kept[] = {"model",   "find",        "sees",    "opaque",
                                   "window.", "candidates.", "solver.", "witness.minimise"};

typedef struct taking {
    mr_config *config, *defaults;
    const char *path;
    mr_error *error;
} taking;

bool mr_replay_is_results(const char *path)
{
    FILE *file = fopen(path, "r");
    int first = file ? fgetc(file) : EOF;
    if (file)
        fclose(file);
    return first == '{';
}

static bool is_kept(const char *key)
{
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        size_t length = strlen(kept[i]);
        if (strncmp(key, kept[i], length) == 0 && (kept[i][length - 1] == '.' || !key[length]))
            return true;
    }
    return false;
}

/* A value as a user would write it. NULL: it is none. */
static const char *text_of(const json_t *value, char *room, size_t room_bytes)
{
    if (json_is_string(value))
        return json_string_value(value);
    if (json_is_boolean(value))
        return json_is_true(value) ? "true" : "false";
    snprintf(room, room_bytes, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    return json_is_integer(value) ? room : NULL;
}

static mr_status take_value(const taking *self, const char *key, const json_t *value)
{
    char number[32], now[32], before[32];
    const char *text = text_of(value, number, sizeof number);
    int option = mr_config_find(key);
    if (!text || option < 0 || !is_kept(key))
        return MR_OK;
    const char *given = mr_config_value_text(self->config, (size_t)option, now);
    bool is_given =
        strcmp(given, mr_config_value_text(self->defaults, (size_t)option, before)) != 0;
    if (is_given && strcmp(given, text) != 0)
        return mr_error_set(
            self->error, MR_ERR_USAGE, self->path, 0,
            "the report was made with %s %s, and here it is %s; leave it out, or replay "
            "the trace itself",
            key, text, given);
    return mr_config_set(self->config, key, text, self->path, 0, self->error);
}

static mr_status take_config(const taking *self, const json_t *config)
{
    mr_status status = MR_OK;
    const char *key, *inner;
    const json_t *value, *below;
    char whole[128];
    json_object_foreach((json_t *)config, key, value)
    {
        if (!json_is_object(value))
            status = take_value(self, key, value);
        json_object_foreach((json_t *)value, inner, below)
        {
            snprintf(whole, sizeof whole, "%s.%s", key, inner);
            if (!status)
                status = take_value(self, whole, below);
        }
        if (status)
            return status;
    }
    return status;
}

/* Where the trace is: as the report says, or beside it. */
static void find_trace(const char *report, const char *named, char trace[MR_REPLAY_TRACE_BYTES])
{
    const char *slash = strrchr(report, '/'), *name = strrchr(named, '/');
    snprintf(trace, MR_REPLAY_TRACE_BYTES, "%.4000s", named);
    if (access(trace, R_OK) == 0)
        return;
    snprintf(trace, MR_REPLAY_TRACE_BYTES, "%.*s%.4000s", slash ? (int)(slash - report + 1) : 0,
             report, name ? name + 1 : named);
    if (access(trace, R_OK) != 0)
        snprintf(trace, MR_REPLAY_TRACE_BYTES, "%.4000s", named);
}

mr_status mr_replay_results(mr_cli *cli, const char *path, char trace[MR_REPLAY_TRACE_BYTES],
                            uint64_t *events, mr_error *error)
{
    json_error_t problem;
    json_t *report = json_load_file(path, 0, &problem);
    if (!report)
        return mr_error_set(error, MR_ERR_TRACE, path,
                            problem.line > 0 ? (uint64_t)problem.line : 0,
                            "this is no JSON report: %s", problem.text);
    const json_t *of = json_object_get(report, "trace");
    const json_t *config = json_object_get(report, "config");
    const char *named = json_string_value(json_object_get(of, "file"));
    taking self = {cli->config, mr_config_new(), path, error};
    mr_status status = MR_OK;
    if (!self.defaults)
        status = mr_error_memory(error, "reading the report");
    else if (!named || !json_is_object(config) || !json_object_get(report, "races"))
        status = mr_error_set(error, MR_ERR_TRACE, path, 0,
                              "this is no JSON report of predict; give that, or an .mrt file");
    else
        status = take_config(&self, config);
    if (!status && named) {
        *events = (uint64_t)json_integer_value(json_object_get(of, "events"));
        find_trace(path, named, trace);
    }
    mr_config_free(self.defaults);
    json_decref(report);
    return status;
}
