#include "settings.h"

#include "base/bytes.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS, GENERATE, ARGS_FILE, INPUT_SEARCH, FLAGS };
static const char *const flag_names[FLAGS] = {"inputs", "generate", "args-file", "input-search"};

/* NULL: the flag was not given. */
static const char *value_of(const mr_input_options *inputs, int flag)
{
    if (!inputs)
        return NULL;
    switch (flag) {
    case INPUTS:
        return inputs->folder;
    case GENERATE:
        return inputs->generator;
    case ARGS_FILE:
        return inputs->arguments_file;
    default:
        return inputs->solves && inputs->mutates ? "all"
               : inputs->solves                  ? "solve"
               : inputs->mutates                 ? "mutate"
                                                 : "none";
    }
}

/* A value is in one line. */
static char *as_line(const char *value)
{
    char *line = mr_strndup(value, strlen(value));
    for (char *c = line; c && *c; c++)
        *c = *c == '\n' ? ' ' : *c;
    return line;
}

static bool put(mr_bytes *lines, const char *key, const char *value)
{
    char *line = as_line(value);
    if (line) {
        mr_bytes_raw(lines, key, strlen(key));
        mr_bytes_raw(lines, " ", 1);
        mr_bytes_raw(lines, line, strlen(line));
        mr_bytes_raw(lines, "\n", 1);
    }
    free(line);
    return line != NULL;
}

mr_status mr_settings_write(mr_store_folder *store, const mr_hunt_options *options, mr_error *error)
{
    mr_bytes lines = {.items = NULL};
    char seed[40], value[MR_DESCRIPTOR_LINE_BYTES];
    const mr_descriptors *descriptors = options->descriptors;
    bool ok = true;
    for (size_t i = 0; ok && options->arguments[i]; i++)
        ok = put(&lines, "arg", options->arguments[i]);
    for (int flag = 0; ok && flag < FLAGS; flag++) {
        const char *given = value_of(options->inputs, flag);
        ok = !given || put(&lines, flag_names[flag], given);
    }
    for (size_t i = 0; ok && descriptors && i < descriptors->count; i++) {
        mr_descriptor_value(&descriptors->items[i], value);
        ok = put(&lines, "fd", value);
    }
    snprintf(seed, sizeof seed, "seed %" PRIu64, options->seed);
    mr_bytes_raw(&lines, seed, strlen(seed) + 1);
    mr_status status = ok && !lines.failed ? mr_store_line(store, (const char *)lines.items, error)
                                           : mr_error_memory(error, "starting the hunt");
    mr_bytes_free(&lines);
    return status;
}

typedef struct checking {
    const mr_hunt_options *options;
    size_t argument;    /* of the journal so far */
    bool other;         /* it is another program, or its arguments are others */
    char *saved[FLAGS]; /* owned; NULL: not given then */
    mr_descriptors *descriptors;
} checking;

static bool take_setting(void *context, const char *key, const char *value)
{
    checking *self = context;
    if (strcmp(key, "arg") == 0) {
        const char *argument = self->options->arguments[self->argument];
        char *ours = argument ? as_line(argument) : NULL;
        if (argument && !ours)
            return false;
        self->other = self->other || !ours || strcmp(ours, value) != 0;
        self->argument += argument != NULL;
        free(ours);
    }
    if (strcmp(key, "fd") == 0)
        return mr_descriptors_take(self->descriptors, value);
    for (int flag = 0; flag < FLAGS; flag++) {
        if (strcmp(key, flag_names[flag]) != 0)
            continue;
        free(self->saved[flag]);
        self->saved[flag] = mr_strndup(value, strlen(value));
        return self->saved[flag] != NULL;
    }
    return true;
}

static mr_status compare_flag(const checking *self, int flag, mr_error *error)
{
    const char *value = value_of(self->options->inputs, flag), *saved = self->saved[flag];
    char *ours = value ? as_line(value) : NULL;
    mr_status status = MR_OK;
    if (value && !ours)
        status = mr_error_memory(error, "reading the journal");
    else if (saved && (!ours || strcmp(ours, saved) != 0))
        status = mr_error_set(error, MR_ERR_USAGE, self->options->folder, 0,
                              "this hunt was begun with --%s %.200s, so go on with that",
                              flag_names[flag], saved);
    else if (ours && !saved)
        status = mr_error_set(error, MR_ERR_USAGE, self->options->folder, 0,
                              "this hunt was begun without --%s, so go on without it, or begin "
                              "another hunt by --dir",
                              flag_names[flag]);
    free(ours);
    return status;
}

mr_status mr_settings_check(const mr_store_folder *store, const mr_hunt_options *options,
                            mr_descriptors *descriptors, mr_error *error)
{
    checking self = {.options = options, .descriptors = descriptors};
    const mr_store_reader reader = {.context = &self, .setting = take_setting};
    mr_status status = mr_store_read(store, &reader, error);
    if (!status && (self.other || options->arguments[self.argument]))
        status = mr_error_set(error, MR_ERR_USAGE, options->folder, 0,
                              "this hunt is of another program, or of other arguments");
    for (int flag = 0; flag < FLAGS; flag++) {
        if (!status)
            status = compare_flag(&self, flag, error);
        free(self.saved[flag]);
    }
    return status;
}
