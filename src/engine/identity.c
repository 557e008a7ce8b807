#include "identity.h"

#include "base/bytes.h"

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
        if (!mr_config_decides(i))
            continue;
        add(to, mr_options[i].key);
        add(to, mr_config_value_text(resolved, i, buffer));
    }
    mr_config_free(resolved);
    return !to->failed;
}

mr_status mr_identity_of(mr_identity *identity, const mr_trace *trace, const mr_config *config,
                         mr_error *error)
{
    mr_bytes settings = {0};
    if (!write_settings(config, &settings)) {
        mr_bytes_free(&settings);
        return mr_error_memory(error, "preparing the checkpoint");
    }
    *identity = (mr_identity){.trace = fingerprint(trace),
                              .event_count = trace->event_count,
                              .settings = (char *)settings.items,
                              .settings_bytes = settings.count};
    return MR_OK;
}

mr_status mr_predict_open_checkpoint(const mr_checkpoint_request *request, const mr_trace *trace,
                                     const mr_config *config, mr_checkpoint **checkpoint,
                                     mr_error *error)
{
    mr_identity own = {0};
    *checkpoint = NULL;
    mr_status status = mr_identity_of(&own, trace, config, error);
    if (status == MR_OK)
        status = mr_checkpoint_open(request, &own, checkpoint, error);
    mr_identity_free(&own);
    return status;
}

static mr_status set(void *context, const char *key, const char *value, const char *path,
                     mr_error *error)
{
    return mr_config_set(context, key, value, path, 0, error);
}

mr_status mr_predict_settings_of_checkpoint(const char *path, mr_config *config, mr_error *error)
{
    mr_identity found = {0};
    mr_status status = mr_checkpoint_identity(path, &found, error);
    if (status == MR_OK)
        status = mr_identity_each(&found, path, set, config, error);
    mr_identity_free(&found);
    return status;
}
