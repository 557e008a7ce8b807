#include "identity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void mr_identity_free(mr_identity *identity)
{
    free(identity->settings);
    *identity = (mr_identity){0};
}

/* The text at `*at`, which moves behind it; "" at the end, or when the text has no end. */
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

/* The value of a key; NULL: the identity has no such key. */
static const char *value_of(const mr_identity *identity, const char *key)
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

mr_status mr_identity_compare(const mr_identity *found, const mr_identity *wanted, const char *path,
                              mr_error *error)
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

mr_status mr_identity_each(const mr_identity *found, const char *path,
                           mr_status (*set)(void *context, const char *key, const char *value,
                                            const char *path, mr_error *error),
                           void *context, mr_error *error)
{
    const char *at = found->settings, *end = at + found->settings_bytes;
    const char *version = value_of(found, "version");
    mr_status status = MR_OK;
    if (!is_this_version(version))
        return other_version(path, version, error);
    while (at < end && status == MR_OK) {
        const char *key = next(&at, end), *value = next(&at, end);
        if (strcmp(key, "version") != 0)
            status = set(context, key, value, path, error);
    }
    return status;
}
