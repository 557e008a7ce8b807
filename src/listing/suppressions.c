#include "suppressions.h"

#include "base/memory.h"
#include "config/suggest.h"
#include "match.h"
#include "place.h"
#include "trace/stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 4096, NAME_BYTES = 2048, CALLED_FRAMES = 2 };

static const char *const words[MR_RULE_COUNT] = {
#define WORD(id, word) [MR_RULE_##id] = (word),
    MR_RULE_MAP(WORD)
#undef WORD
};

const char *mr_rule_word(mr_rule_type type)
{
    return words[type];
}

/* ---- the file ---- */

static mr_status bad_line(const mr_suppressions *self, uint64_t line, const char *text,
                          mr_error *error)
{
    char quoted[MR_QUOTED_BYTES];
    return mr_error_set(error, MR_ERR_CONFIG, self->file, line,
                        "%s is no suppression; one is type:pattern, with the type race, race_top, "
                        "called_from_lib, mutex, deadlock, thread or signal",
                        mr_quote(text, quoted));
}

typedef enum added { ADDED, NO_RULE, NO_MEMORY } added;

static added add_line(mr_suppressions *self, uint64_t line, const char *text)
{
    for (int type = 0; type < MR_RULE_COUNT; type++) {
        size_t length = strlen(words[type]);
        if (strncmp(text, words[type], length) != 0 || text[length] != ':')
            continue;
        const char *pattern = text + length + 1;
        if (!mr_grow((void **)&self->items, &self->capacity, self->count + 1, sizeof *self->items))
            return NO_MEMORY;
        char *copy = mr_strndup(pattern, strlen(pattern));
        if (!copy)
            return NO_MEMORY;
        self->items[self->count++] =
            (mr_suppression){.type = (mr_rule_type)type, .pattern = copy, .line = line};
        return ADDED;
    }
    return NO_RULE;
}

/* Takes the blanks at both ends away. */
static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r\n", text[length - 1]))
        text[--length] = '\0';
    return text;
}

mr_status mr_suppressions_read(mr_suppressions *self, const char *file, mr_error *error)
{
    char line[LINE_BYTES];
    mr_status status = MR_OK;
    *self = (mr_suppressions){.file = file};
    if (file[0] == '\0')
        return MR_OK;
    FILE *stream = fopen(file, "r");
    if (!stream)
        return mr_error_set(error, MR_ERR_CONFIG, file, 0, "cannot read the suppressions: %s",
                            strerror(errno));
    for (uint64_t number = 1; status == MR_OK && fgets(line, sizeof line, stream); number++) {
        char *text = trim(line);
        added how = text[0] != '\0' && text[0] != '#' ? add_line(self, number, text) : ADDED;
        if (how == NO_RULE)
            status = bad_line(self, number, text, error);
        else if (how == NO_MEMORY)
            status = mr_error_memory(error, "reading suppressions");
    }
    if (status == MR_OK && ferror(stream))
        status = mr_error_set(error, MR_ERR_CONFIG, file, 0, "cannot read the suppressions: %s",
                              strerror(errno));
    fclose(stream);
    return status;
}

bool mr_suppressions_add_own(mr_suppressions *self, const mr_ending *ending)
{
    char line[LINE_BYTES];
    for (const char *at = ending->suppressions ? ending->suppressions : ""; *at;) {
        size_t length = strcspn(at, "\n");
        bool fits = length < sizeof line; /* a part of a pattern matches more */
        snprintf(line, sizeof line, "%.*s", (int)length, at);
        if (fits && add_line(self, 0, trim(line)) == NO_MEMORY)
            return false;
        at += length + 1;
    }
    return true;
}

void mr_suppressions_free(mr_suppressions *self)
{
    for (size_t i = 0; i < self->count; i++)
        free(self->items[i].pattern);
    free(self->items);
    *self = (mr_suppressions){0};
}

/* ---- matching ---- */

static bool match_part(const char *pattern, const char *text, size_t length)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    return mr_match(pattern, name);
}

/* The length of the file or the module. */
static size_t name_length(const char *place, size_t length)
{
    return mr_place_parse(place, length).file_length;
}

static bool is_module(const char *place, size_t length)
{
    mr_place parsed = mr_place_parse(place, length);
    return parsed.line == 0 && parsed.file_length < length;
}

static bool match_frame(const char *pattern, const mr_trace *trace, uint32_t stack)
{
    mr_frame frame = mr_frame_of(&trace->frames.items[trace->stacks[stack].frame]);
    return match_part(pattern, frame.function, frame.function_length) ||
           match_part(pattern, frame.place, name_length(frame.place, frame.place_length));
}

/* Does one of the first `most` frames of the event's stack match? Without a stack, its place. */
static bool match_stack(const char *pattern, const mr_trace *trace, uint32_t event, uint32_t most)
{
    if (event == MR_NONE)
        return false;
    uint32_t stack = mr_trace_stack(trace, event);
    if (!stack) {
        const char *place = mr_names_display(&trace->locations, trace->location[event]);
        return match_part(pattern, place, name_length(place, strlen(place)));
    }
    for (; stack && most > 0; stack = trace->stacks[stack].caller, most--)
        if (match_frame(pattern, trace, stack))
            return true;
    return false;
}

static bool match_library(const char *pattern, const mr_trace *trace, uint32_t event)
{
    uint32_t stack = event == MR_NONE ? 0 : mr_trace_stack(trace, event);
    for (int i = 0; stack && i < CALLED_FRAMES; stack = trace->stacks[stack].caller, i++) {
        mr_frame frame = mr_frame_of(&trace->frames.items[trace->stacks[stack].frame]);
        if (is_module(frame.place, frame.place_length) &&
            match_part(pattern, frame.place, name_length(frame.place, frame.place_length)))
            return true;
    }
    return false;
}

static bool match_any_library(const char *pattern, const mr_trace *trace,
                              const mr_suppressed_thing *thing)
{
    for (size_t i = 0; i < thing->count; i++)
        if (match_library(pattern, trace, thing->events[i]))
            return true;
    return false;
}

static uint32_t start_of(const mr_trace *trace, uint32_t event)
{
    return event == MR_NONE ? MR_NONE : trace->thread_info[trace->thread[event]].fork;
}

static bool matches(const mr_suppression *rule, const mr_trace *trace,
                    const mr_suppressed_thing *thing)
{
    const char *pattern = rule->pattern;
    if (rule->type == MR_RULE_CALLED_FROM_LIB && thing->type == MR_RULE_RACE)
        return match_any_library(pattern, trace, thing);
    bool top = rule->type == MR_RULE_RACE_TOP && thing->type == MR_RULE_RACE;
    if (!top && rule->type != thing->type)
        return false;
    uint32_t most = top ? 1 : UINT32_MAX;
    for (size_t i = 0; i < thing->count; i++)
        if (match_stack(pattern, trace, thing->events[i], most) ||
            match_stack(pattern, trace, start_of(trace, thing->events[i]), most))
            return true;
    return !top && mr_match(pattern, thing->subject);
}

mr_suppression *mr_suppressions_find(mr_suppressions *self, const mr_trace *trace,
                                     const mr_suppressed_thing *thing)
{
    for (size_t i = 0; i < self->count; i++)
        if (matches(&self->items[i], trace, thing))
            return &self->items[i];
    return NULL;
}
