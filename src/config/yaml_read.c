/*
 * yaml_read: reads a configuration file as a stream of libyaml events. So every message has its
 * line, and no input can take much memory: aliases, anchors and tags are refused, and the size of
 * the file and the depth of nesting are bounded.
 */
#include "base/assert.h"
#include "base/memory.h"
#include "store.h"
#include "suggest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define FILE_MAX_BYTES (1u << 20)
#define DEPTH_MAX      8   /* of mappings; two are meaningful */
#define PATH_BYTES     160 /* longer than any key; longer input is cut and so unknown */

typedef struct loader {
    yaml_parser_t parser;
    const unsigned char *bytes;
    size_t length;
    const char *path;
    mr_config *config;
    bool *seen;         /* options set by this file */
    bool *section_seen; /* at the first option of each section */
    mr_error *error;
} loader;

static uint64_t event_line(const yaml_event_t *event)
{
    return event->start_mark.line + 1;
}

/* Fills the error "text" at a line; `key` (may be NULL) is put before it. */
static mr_status fail(const loader *self, uint64_t line, const char *key, const char *text)
{
    return mr_error_set(self->error, MR_ERR_CONFIG, self->path, line, "%s%s%s",
                        key != NULL ? key : "", key != NULL ? ": " : "", text);
}

/* The error of libyaml about a file that is not YAML. */
static mr_status syntax_error(const loader *self)
{
    const yaml_parser_t *parser = &self->parser;
    if (parser->error == YAML_MEMORY_ERROR)
        return mr_error_memory(self->error, "reading the configuration");
    uint64_t line = parser->problem_mark.line + 1;
    if (parser->error == YAML_READER_ERROR) {
        /* Wrong bytes: libyaml knows the offset only. */
        line = 1;
        for (size_t i = 0; i < self->length && i < parser->problem_offset; i++)
            line += self->bytes[i] == '\n';
    }
    const char *problem = parser->problem != NULL ? parser->problem : "unknown problem";
    if (parser->context != NULL)
        return mr_error_set(self->error, MR_ERR_CONFIG, self->path, line,
                            "not valid YAML: %s (%s, line %zu)", problem, parser->context,
                            parser->context_mark.line + 1);
    return mr_error_set(self->error, MR_ERR_CONFIG, self->path, line, "not valid YAML: %s",
                        problem);
}

/* The next event, to be deleted by the caller when MR_OK is returned. */
static mr_status next_event(loader *self, yaml_event_t *event)
{
    if (!yaml_parser_parse(&self->parser, event))
        return syntax_error(self);
    bool alias = event->type == YAML_ALIAS_EVENT, anchor = false, tag = false;
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor != NULL;
        tag = event->data.scalar.tag != NULL;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor != NULL;
        tag = event->data.mapping_start.tag != NULL;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor != NULL;
        tag = event->data.sequence_start.tag != NULL;
    }
    if (!alias && !anchor && !tag)
        return MR_OK;
    uint64_t line = event_line(event);
    yaml_event_delete(event);
    return fail(self, line, NULL,
                tag ? "tags (!name) are not allowed here; write the plain value"
                    : "anchors and aliases (&name, *name) are not allowed here; write the value");
}

/* Index of the first option in the section `name`, or -1. */
static int find_section(const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < mr_option_count; i++)
        if (strncmp(mr_options[i].key, name, length) == 0 && mr_options[i].key[length] == '.')
            return (int)i;
    return -1;
}

static const char *expected(const mr_option *option)
{
    switch (option->type) {
    case MR_OPTION_BOOL:
        return "true or false";
    case MR_OPTION_INT:
        return "a whole number";
    case MR_OPTION_CHOICE:
        return "one word";
    case MR_OPTION_LIST:
        return "words with commas between them";
    case MR_OPTION_TEXT:
        break;
    }
    return "a text";
}

static mr_status wrong_type(const loader *self, const mr_option *option, uint64_t line,
                            const char *found)
{
    return mr_error_set(self->error, MR_ERR_CONFIG, self->path, line, "%s: expected %s, found %s",
                        option->key, expected(option), found);
}

/* A scalar in the place of a section's mapping. An empty scalar is an empty section. */
static mr_status section_scalar(const loader *self, const char *key, const yaml_event_t *event)
{
    if (event->data.scalar.length == 0 && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return MR_OK;
    return mr_error_set(self->error, MR_ERR_CONFIG, self->path, event_line(event),
                        "%s: expected a mapping of keys such as '%s', found a single value", key,
                        mr_options[find_section(key)].key);
}

static mr_status duplicate(const loader *self, bool *seen, const char *key, uint64_t line)
{
    bool again = *seen;
    char quoted[MR_QUOTED_BYTES];
    *seen = true;
    if (!again)
        return MR_OK;
    return mr_error_set(self->error, MR_ERR_CONFIG, self->path, line, "duplicate key %s",
                        mr_quote(key, quoted));
}

static mr_status read_scalar(loader *self, const mr_option *option, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    uint64_t line = event_line(event);
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (strlen(text) != length)
        return wrong_type(self, option, line, "a zero byte");
    if (option->type == MR_OPTION_TEXT) {
        if (plain && (strcmp(text, "~") == 0 || strcmp(text, "null") == 0))
            text = "";
    } else if (length == 0) {
        return wrong_type(self, option, line, "nothing");
    } else if (!plain && option->type != MR_OPTION_CHOICE && option->type != MR_OPTION_LIST) {
        return wrong_type(self, option, line, "a text in quotes");
    }
    return mr_config_set(self->config, option->key, text, self->path, line, self->error);
}

static mr_status read_mapping(loader *self, const char *prefix, uint64_t line, int depth);

/* The value of `key`, which stands on `line`. */
static mr_status read_value(loader *self, const char *key, uint64_t line, yaml_event_t *event,
                            int depth)
{
    int index = mr_config_find(key), section = find_section(key);
    yaml_event_type_t type = event->type;
    mr_status status;
    if (index >= 0) {
        status = duplicate(self, &self->seen[index], key, line);
        if (status != MR_OK)
            return status;
        if (type == YAML_SCALAR_EVENT)
            return read_scalar(self, &mr_options[index], event);
        return wrong_type(self, &mr_options[index], event_line(event),
                          type == YAML_SEQUENCE_START_EVENT ? "a list" : "a mapping");
    }
    if (section >= 0) {
        status = duplicate(self, &self->section_seen[section], key, line);
        if (status != MR_OK)
            return status;
        if (type == YAML_SCALAR_EVENT)
            return section_scalar(self, key, event);
        if (type == YAML_SEQUENCE_START_EVENT)
            return fail(self, event_line(event), key, "expected a mapping of keys, found a list");
    }
    /* An unknown section is entered for a message that names the whole key. */
    if (type == YAML_MAPPING_START_EVENT)
        return read_mapping(self, key, line, depth + 1);
    return mr_config_unknown_key(key, self->path, line, self->error);
}

/* One key and its value; `event` is the key. */
static mr_status read_entry(loader *self, const char *prefix, const yaml_event_t *event, int depth)
{
    uint64_t line = event_line(event);
    if (event->type != YAML_SCALAR_EVENT)
        return fail(self, line, NULL, "a key must be a single word");
    const char *word = (const char *)event->data.scalar.value;
    if (strlen(word) != event->data.scalar.length)
        return fail(self, line, NULL, "a key must not contain a zero byte");
    char key[PATH_BYTES];
    snprintf(key, sizeof key, "%s%s%s", prefix != NULL ? prefix : "", prefix != NULL ? "." : "",
             word);
    yaml_event_t value;
    mr_status status = next_event(self, &value);
    if (status != MR_OK)
        return status;
    status = read_value(self, key, line, &value, depth);
    yaml_event_delete(&value);
    return status;
}

/* The keys of a mapping up to its end; `prefix` is its own key on `line`, NULL at the top. */
static mr_status read_mapping(loader *self, const char *prefix, uint64_t line, int depth)
{
    if (depth > DEPTH_MAX)
        return fail(self, line, NULL, "mappings are nested too deeply");
    for (uint64_t count = 0;; count++) {
        yaml_event_t event;
        mr_status status = next_event(self, &event);
        if (status != MR_OK)
            return status;
        bool end = event.type == YAML_MAPPING_END_EVENT;
        if (!end)
            status = read_entry(self, prefix, &event, depth);
        else if (count == 0 && prefix != NULL && find_section(prefix) < 0)
            status = mr_config_unknown_key(prefix, self->path, line, self->error);
        yaml_event_delete(&event);
        if (end || status != MR_OK)
            return status;
    }
}

/* Reads the top of the document. */
static mr_status read_root(loader *self, const yaml_event_t *event)
{
    if (event->type == YAML_MAPPING_START_EVENT)
        return read_mapping(self, NULL, event_line(event), 1);
    if (event->type == YAML_SCALAR_EVENT && event->data.scalar.length == 0 &&
        event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return MR_OK;
    return fail(self, event_line(event), NULL,
                "expected a mapping of keys, such as 'model: value'");
}

static mr_status read_stream(loader *self)
{
    bool document_seen = false;
    for (;;) {
        yaml_event_t event;
        mr_status status = next_event(self, &event);
        if (status != MR_OK)
            return status;
        yaml_event_type_t type = event.type;
        if (type == YAML_DOCUMENT_START_EVENT) {
            if (document_seen)
                status = fail(self, event_line(&event), NULL,
                              "a second document begins here; only one is allowed");
            document_seen = true;
        } else if (type != YAML_STREAM_START_EVENT && type != YAML_STREAM_END_EVENT &&
                   type != YAML_DOCUMENT_END_EVENT) {
            status = read_root(self, &event);
        }
        yaml_event_delete(&event);
        if (status != MR_OK || type == YAML_STREAM_END_EVENT)
            return status;
    }
}

/* The whole file in memory; `*bytes` is freed by the caller in every case. */
static mr_status read_file(const char *path, unsigned char **bytes, size_t *length, mr_error *error)
{
    *length = 0;
    *bytes = mr_malloc(FILE_MAX_BYTES + 1, 0);
    if (*bytes == NULL)
        return mr_error_memory(error, "reading the configuration");
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return mr_error_set(error, MR_ERR_CONFIG, path, 0, "cannot open: %s", strerror(errno));
    errno = 0;
    *length = fread(*bytes, 1, FILE_MAX_BYTES + 1, file);
    int problem = ferror(file) ? errno : 0;
    fclose(file);
    if (problem != 0)
        return mr_error_set(error, MR_ERR_CONFIG, path, 0, "cannot read: %s", strerror(problem));
    if (*length > FILE_MAX_BYTES)
        return mr_error_set(error, MR_ERR_CONFIG, path, 0,
                            "larger than 1 MiB; this cannot be a configuration");
    return MR_OK;
}

static mr_status parse(loader *self, mr_error *error)
{
    if (!yaml_parser_initialize(&self->parser))
        return mr_error_memory(error, "reading the configuration");
    yaml_parser_set_input_string(&self->parser, self->bytes, self->length);
    mr_status status = read_stream(self);
    yaml_parser_delete(&self->parser);
    return status;
}

/* Forgets the lines of an earlier file: a value only has a line in the file last loaded. */
static bool start_file(mr_config *config, const char *path)
{
    char *copy = mr_strndup(path, strlen(path));
    if (copy == NULL)
        return false;
    free(config->path);
    config->path = copy;
    for (size_t i = 0; i < mr_option_count; i++)
        config->values[i].line = 0;
    return true;
}

mr_status mr_config_load(mr_config *config, const char *path, mr_error *error)
{
    unsigned char *bytes = NULL;
    size_t length;
    mr_status status = read_file(path, &bytes, &length, error);
    if (status != MR_OK) {
        free(bytes);
        return status;
    }
    loader self = {.bytes = bytes, .length = length, .path = path, .error = error};
    self.config = mr_config_clone(config);
    self.seen = mr_calloc(mr_option_count, 2 * sizeof *self.seen);
    if (self.config == NULL || self.seen == NULL || !start_file(self.config, path)) {
        status = mr_error_memory(error, "reading the configuration");
    } else {
        self.section_seen = self.seen + mr_option_count;
        status = parse(&self, error);
    }
    if (status == MR_OK) {
        MR_ASSERT(self.config != NULL);
        mr_config old = *config;
        *config = *self.config;
        *self.config = old;
    }
    mr_config_free(self.config);
    free(self.seen);
    free(bytes);
    return status;
}
