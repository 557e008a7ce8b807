/* config: the values in force, set from text and tested against the table. */
#include "config.h"
#include "base/assert.h"
#include "base/memory.h"
#include "base/resident.h"
#include "store.h"
#include "suggest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Index of the `length` bytes at `word` in "one|two|three", or -1. */
static int find_choice(const char *choices, const char *word, size_t length)
{
    const char *from = choices;
    for (int index = 0;; index++) {
        size_t part = strcspn(from, "|");
        if (part == length && memcmp(from, word, length) == 0)
            return index;
        if (from[part] == '\0')
            return -1;
        from += part + 1;
    }
}

/* The word of `choices` at `index`, as a range of bytes. */
static const char *choice_at(const char *choices, int64_t index, size_t *length)
{
    const char *from = choices;
    while (index-- > 0)
        from += strcspn(from, "|") + 1;
    *length = strcspn(from, "|");
    return from;
}

/* The mask of a comma-separated list of words of `choices`. False: `*wrong` begins with a word that
 * is not among them. */
static bool find_list(const char *choices, const char *list, int64_t *mask, const char **wrong)
{
    *mask = 0;
    for (*wrong = list;; *wrong += strcspn(*wrong, ",") + 1) {
        size_t length = strcspn(*wrong, ",");
        int index = find_choice(choices, *wrong, length);
        if (index < 0)
            return false;
        *mask |= (int64_t)1 << index;
        if ((*wrong)[length] == '\0')
            return true;
    }
}

mr_config *mr_config_new(void)
{
    mr_config *config = mr_calloc(1, sizeof *config);
    if (config == NULL)
        return NULL;
    config->values = mr_calloc(mr_option_count, sizeof *config->values);
    config->profile = mr_calloc(mr_option_count, sizeof *config->profile);
    if (config->values == NULL || config->profile == NULL) {
        mr_config_free(config);
        return NULL;
    }
    for (size_t i = 0; i < mr_option_count; i++) {
        const mr_option *option = &mr_options[i];
        const char *text = option->default_text;
        config->values[i].number = option->default_number;
        if (option->type == MR_OPTION_CHOICE) {
            config->values[i].number = find_choice(option->choices, text, strlen(text));
            MR_ASSERT(config->values[i].number >= 0);
        } else if (option->type == MR_OPTION_LIST) {
            const char *wrong;
            bool right = find_list(option->choices, text, &config->values[i].number, &wrong);
            MR_ASSERT(right);
        }
    }
    return config;
}

static void free_values(mr_value *values)
{
    for (size_t i = 0; values != NULL && i < mr_option_count; i++)
        free(values[i].text);
    free(values);
}

void mr_config_free(mr_config *config)
{
    if (config == NULL)
        return;
    free_values(config->values);
    free_values(config->profile);
    free(config->path);
    free(config);
}

static bool copy_values(mr_value *to, const mr_value *from)
{
    for (size_t i = 0; i < mr_option_count; i++) {
        const char *text = from[i].text;
        to[i] = from[i];
        to[i].text = text != NULL ? mr_strndup(text, strlen(text)) : NULL;
        if (text != NULL && to[i].text == NULL)
            return false;
    }
    return true;
}

mr_config *mr_config_clone(const mr_config *config)
{
    mr_config *copy = mr_config_new();
    if (copy == NULL)
        return NULL;
    bool ok = true;
    if (config->path != NULL) {
        copy->path = mr_strndup(config->path, strlen(config->path));
        ok = copy->path != NULL;
    }
    ok = ok && copy_values(copy->values, config->values) &&
         copy_values(copy->profile, config->profile);
    if (ok)
        return copy;
    mr_config_free(copy);
    return NULL;
}

static mr_status set_int(const mr_option *option, const char *text, int64_t *number,
                         const char *file, uint64_t line, mr_error *error)
{
    char quoted[MR_QUOTED_BYTES];
    const char *digits = text + (text[0] == '-' || text[0] == '+');
    if (digits[0] == '\0' || strspn(digits, "0123456789") != strlen(digits))
        return mr_error_set(error, MR_ERR_CONFIG, file, line,
                            "%s: %s is not a whole number (%" PRId64 " to %" PRId64 " %s)",
                            option->key, mr_quote(text, quoted), option->low, option->high,
                            option->unit);
    errno = 0;
    long long value = strtoll(text, NULL, 10);
    if (errno != 0 || value < option->low || value > option->high)
        return mr_error_set(error, MR_ERR_CONFIG, file, line,
                            "%s: %s is out of range (%" PRId64 " to %" PRId64 " %s)", option->key,
                            mr_quote(text, quoted), option->low, option->high, option->unit);
    *number = value;
    return MR_OK;
}

static mr_status set_choice(const mr_option *option, const char *text, int64_t *number,
                            const char *file, uint64_t line, mr_error *error)
{
    char quoted[MR_QUOTED_BYTES];
    int index = find_choice(option->choices, text, strlen(text));
    if (index < 0)
        return mr_error_set(error, MR_ERR_CONFIG, file, line, "%s: %s is not one of %s",
                            option->key, mr_quote(text, quoted), option->choices);
    /* The words of a boolean are "true|false". */
    *number = option->type == MR_OPTION_BOOL ? 1 - index : index;
    return MR_OK;
}

static mr_status set_list(const mr_option *option, const char *text, int64_t *number,
                          const char *file, uint64_t line, mr_error *error)
{
    char quoted[MR_QUOTED_BYTES], word[64];
    const char *wrong;
    if (find_list(option->choices, text, number, &wrong))
        return MR_OK;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(wrong, ","), wrong);
    return mr_error_set(error, MR_ERR_CONFIG, file, line,
                        "%s: %s is not one of %s (a list is comma-separated, without spaces)",
                        option->key, mr_quote(word, quoted), option->choices);
}

static mr_status set_text(mr_value *value, const char *text, mr_error *error)
{
    char *copy = mr_strndup(text, strlen(text));
    if (copy == NULL)
        return mr_error_memory(error, "setting an option");
    free(value->text);
    value->text = copy;
    return MR_OK;
}

/* Sets a value of any type from text. */
static mr_status set_value(mr_value *value, const mr_option *option, const char *text,
                           const char *file, uint64_t line, mr_error *error)
{
    mr_status status;
    int64_t mask;
    switch (option->type) {
    case MR_OPTION_TEXT:
        return set_text(value, text, error);
    case MR_OPTION_LIST:
        status = set_list(option, text, &mask, file, line, error);
        if (status == MR_OK)
            status = set_text(value, text, error);
        if (status == MR_OK)
            value->number = mask;
        return status;
    case MR_OPTION_INT:
        return set_int(option, text, &value->number, file, line, error);
    case MR_OPTION_BOOL:
    case MR_OPTION_CHOICE:
        break;
    }
    return set_choice(option, text, &value->number, file, line, error);
}

/* Fills the values of the profile that was just set. */
static mr_status take_profile(mr_config *config, mr_error *error)
{
    mr_profile profile = (mr_profile)config->values[mr_config_find("profile")].number;
    for (size_t i = 0; i < mr_option_count; i++) {
        const char *text = mr_profile_text(profile, mr_options[i].key);
        config->profile[i].given = MR_GIVEN_NOWHERE;
        if (text == NULL)
            continue;
        mr_status status = set_value(&config->profile[i], &mr_options[i], text, NULL, 0, error);
        if (status != MR_OK)
            return status;
        config->profile[i].given = config->values[mr_config_find("profile")].given;
    }
    return MR_OK;
}

mr_status mr_config_set(mr_config *config, const char *key, const char *text, const char *file,
                        uint64_t line, mr_error *error)
{
    int index = mr_config_find(key);
    if (index < 0)
        return mr_config_unknown_key(key, file, line, error);
    mr_value *value = &config->values[index];
    mr_status status = set_value(value, &mr_options[index], text, file, line, error);
    if (status != MR_OK)
        return status;
    value->line = file != NULL ? line : 0;
    value->given = file != NULL ? MR_GIVEN_BY_FILE : MR_GIVEN_BY_HAND;
    return strcmp(key, "profile") == 0 ? take_profile(config, error) : MR_OK;
}

mr_status mr_config_unknown_key(const char *key, const char *file, uint64_t line, mr_error *error)
{
    char quoted[MR_QUOTED_BYTES];
    int near = mr_config_suggest(key);
    if (near < 0)
        return mr_error_set(error, MR_ERR_CONFIG, file, line, "unknown key %s",
                            mr_quote(key, quoted));
    return mr_error_set(error, MR_ERR_CONFIG, file, line, "unknown key %s (did you mean '%s'?)",
                        mr_quote(key, quoted), mr_options[near].key);
}

mr_status mr_config_check(const mr_config *config, mr_error *error)
{
    int64_t size = mr_config_int(config, "window.size");
    int64_t overlap = mr_config_int(config, "window.overlap");
    if (size == 0 || overlap < size)
        return MR_OK;
    uint64_t size_line = config->values[mr_config_find("window.size")].line;
    uint64_t overlap_line = config->values[mr_config_find("window.overlap")].line;
    uint64_t line = size_line > overlap_line ? size_line : overlap_line;
    return mr_error_set(error, MR_ERR_CONFIG, line > 0 ? config->path : NULL, line,
                        "window.overlap (%" PRId64
                        " events) must be less than window.size (%" PRId64
                        " events); set window.overlap to at most %" PRId64,
                        overlap, size, size - 1);
}

const char *mr_config_place(const mr_config *config, const char *key, uint64_t *line)
{
    *line = config->values[mr_config_find(key)].line;
    return *line > 0 ? config->path : NULL;
}

int64_t mr_config_overlap(const mr_config *config)
{
    int64_t overlap = mr_config_int(config, "window.overlap");
    return overlap < 0 ? mr_config_int(config, "window.size") / 2 : overlap;
}

uint64_t mr_config_memory_bytes(const mr_config *config)
{
    int64_t limit = mr_config_int(config, "memory.limit_mb");
    return limit < 0 ? mr_machine_bytes() / 5 * 4 : (uint64_t)limit << 20;
}

void mr_config_resolve(mr_config *config)
{
    config->values[mr_config_find("window.overlap")].number = mr_config_overlap(config);
}

/* The value in force: that of the profile, unless the same source or a stronger one set the option. */
static const mr_value *in_force(const mr_config *config, size_t option)
{
    const mr_value *value = &config->values[option], *profile = &config->profile[option];
    return profile->given > value->given ? profile : value;
}

static const mr_value *value_of(const mr_config *config, const char *key, mr_option_type type)
{
    int index = mr_config_find(key);
    MR_REQUIRE(index >= 0 && mr_options[index].type == type);
    return in_force(config, (size_t)index);
}

bool mr_config_bool(const mr_config *config, const char *key)
{
    return value_of(config, key, MR_OPTION_BOOL)->number != 0;
}

int64_t mr_config_int(const mr_config *config, const char *key)
{
    return value_of(config, key, MR_OPTION_INT)->number;
}

int mr_config_choice(const mr_config *config, const char *key)
{
    return (int)value_of(config, key, MR_OPTION_CHOICE)->number;
}

static const char *text_or_default(const mr_config *config, size_t option)
{
    const char *text = in_force(config, option)->text;
    return text != NULL ? text : mr_options[option].default_text;
}

const char *mr_config_text(const mr_config *config, const char *key)
{
    int index = mr_config_find(key);
    MR_REQUIRE(index >= 0 && mr_options[index].type == MR_OPTION_TEXT);
    return text_or_default(config, (size_t)index);
}

unsigned mr_config_set_of(const mr_config *config, const char *key)
{
    return (unsigned)value_of(config, key, MR_OPTION_LIST)->number;
}

const char *mr_config_value_text(const mr_config *config, size_t option, char buffer[32])
{
    const mr_option *row = &mr_options[option];
    const mr_value *value = in_force(config, option);
    size_t length;
    const char *word;
    switch (row->type) {
    case MR_OPTION_BOOL:
        return value->number != 0 ? "true" : "false";
    case MR_OPTION_INT:
        snprintf(buffer, 32, "%" PRId64, value->number);
        return buffer;
    case MR_OPTION_CHOICE:
        word = choice_at(row->choices, value->number, &length);
        MR_ASSERT(length < 32);
        snprintf(buffer, 32, "%.*s", (int)length, word);
        return buffer;
    case MR_OPTION_LIST:
    case MR_OPTION_TEXT:
        break;
    }
    return text_or_default(config, option);
}
