#include "saved_identity.h"

#include "base/bytes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- the trace ---- */

static uint64_t mix(uint64_t seed, const void *bytes, size_t count)
{
    return count ? XXH3_64bits_withSeed(bytes, count, seed) : seed + 1;
}

static uint64_t mix_names(uint64_t seed, const mr_names *names)
{
    seed = mix(seed, &names->count, sizeof names->count);
    for (uint32_t i = 0; i < names->count; i++)
        seed = mix(seed, names->items[i].text, (size_t)names->items[i].length + 1);
    return seed;
}

static uint64_t fingerprint(const mr_trace *trace)
{
    size_t count = trace->event_count, column = count * sizeof(uint32_t);
    uint64_t seed = mix(count, trace->op, count);
    seed = mix(seed, trace->thread, column);
    seed = mix(seed, trace->operand, column);
    seed = mix(seed, trace->location, column);
    seed = mix(seed, trace->value, column);
    seed = mix(seed, trace->values, trace->value_count * sizeof *trace->values);
    seed = mix(seed, trace->updates, trace->update_count * sizeof *trace->updates);
    seed = mix(seed, trace->reaches, trace->reach_count * sizeof *trace->reaches);
    seed = mix(seed, trace->reach_items.items, trace->reach_items.count * sizeof(uint32_t));
    const mr_names *const names[] = {&trace->threads,   &trace->variables, &trace->locks,
                                     &trace->locations, &trace->calls,     &trace->reach_names};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        seed = mix_names(seed, names[i]);
    return seed;
}

/* ---- the settings ---- */

/* Those of a report, and of other commands. What is not listed counts: a new option, too. */
static bool decides(size_t option)
{
    static const char *const others[] = {"format",        "witness.full_schedule",
                                         "witness.check", "relation",
                                         "relations",     "examples",
                                         "mark",          "confirm"};
    const char *key = mr_options[option].key;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(key, others[i]) == 0)
            return false;
    return !mr_config_is_run_only(option) && strncmp(key, "record.", 7) != 0;
}

static void add(mr_bytes *to, const char *text)
{
    mr_bytes_raw(to, text, strlen(text) + 1);
}

static bool write_settings(const mr_config *config, mr_bytes *to)
{
    char buffer[32];
    mr_config *resolved = mr_config_clone(config);
    if (!resolved)
        return false;
    mr_config_resolve(resolved);
    add(to, "version");
    add(to, MR_VERSION);
    for (size_t i = 0; i < mr_option_count; i++) {
        if (!decides(i))
            continue;
        add(to, mr_options[i].key);
        add(to, mr_config_value_text(resolved, i, buffer));
    }
    mr_config_free(resolved);
    return !to->failed;
}

mr_status mr_saved_identity_of(mr_saved_identity *identity, const mr_trace *trace,
                               const mr_config *config, mr_error *error)
{
    mr_bytes settings = {0};
    if (!write_settings(config, &settings)) {
        mr_bytes_free(&settings);
        return mr_error_memory(error, "preparing the checkpoint");
    }
    *identity = (mr_saved_identity){.trace = fingerprint(trace),
                                    .event_count = trace->event_count,
                                    .settings = (char *)settings.items,
                                    .settings_bytes = settings.count};
    return MR_OK;
}

void mr_saved_identity_free(mr_saved_identity *identity)
{
    free(identity->settings);
    *identity = (mr_saved_identity){0};
}

/* ---- comparing ---- */

/* The next text of `settings`, and what follows it; "" at the end, or when the end is missing. */
static const char *next(const char **at, const char *end)
{
    const char *text = *at;
    const char *stop = text < end ? memchr(text, '\0', (size_t)(end - text)) : NULL;
    if (!stop) {
        *at = end;
        return "";
    }
    *at = stop + 1;
    return text;
}

/* The value of a key; NULL: the key is not there. */
static const char *value_of(const mr_saved_identity *identity, const char *key)
{
    const char *at = identity->settings, *end = at + identity->settings_bytes;
    while (at < end) {
        const char *name = next(&at, end), *value = next(&at, end);
        if (strcmp(name, key) == 0)
            return value;
    }
    return NULL;
}

static mr_status other_version(const char *path, const char *version, mr_error *error)
{
    return mr_error_set(error, MR_ERR_CONFIG, path, 0,
                        "was written by maxrace %s, this is " MR_VERSION
                        "; finish with that version, or start anew with another file",
                        version ? version : "of an unknown version");
}

static bool is_this_version(const char *version)
{
    return version && strcmp(version, MR_VERSION) == 0;
}

mr_status mr_saved_identity_compare(const mr_saved_identity *found, const mr_saved_identity *wanted,
                                    const char *path, mr_error *error)
{
    const char *version = value_of(found, "version");
    if (!is_this_version(version))
        return other_version(path, version, error);
    if (found->event_count != wanted->event_count)
        return mr_error_set(error, MR_ERR_CONFIG, path, 0,
                            "belongs to a trace of %" PRIu64 " events, this one has %" PRIu64
                            "; use the file of this trace",
                            found->event_count, wanted->event_count);
    if (found->trace != wanted->trace)
        return mr_error_set(error, MR_ERR_CONFIG, path, 0,
                            "belongs to another trace with as many events; use the file of this "
                            "trace");
    const char *at = wanted->settings, *end = at + wanted->settings_bytes;
    while (at < end) {
        const char *key = next(&at, end), *value = next(&at, end);
        const char *other = value_of(found, key);
        if (!other || strcmp(value, other) != 0)
            return mr_error_set(error, MR_ERR_CONFIG, path, 0,
                                "was made with %s: %.100s, this run has %.100s; use the same "
                                "settings, or another file",
                                key, other ? other : "(none)", value);
    }
    return MR_OK;
}

mr_status mr_saved_identity_apply(const mr_saved_identity *found, const char *path,
                                  mr_config *config, mr_error *error)
{
    const char *at = found->settings, *end = at + found->settings_bytes;
    const char *version = value_of(found, "version");
    mr_status status = MR_OK;
    if (!is_this_version(version))
        return other_version(path, version, error);
    while (at < end && status == MR_OK) {
        const char *key = next(&at, end), *value = next(&at, end);
        if (strcmp(key, "version") != 0)
            status = mr_config_set(config, key, value, path, 0, error);
    }
    return status;
}
