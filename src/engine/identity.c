#include "identity.h"

#include "base/bytes.h"
#include "trace/fingerprint.h"

#include <stdlib.h>
#include <string.h>

/* ---- the trace ---- */

static mr_status fingerprint(const mr_trace *trace, uint64_t *result, mr_error *error)
{
    const mr_value_counts counts = mr_value_counts_of(trace);
    const mr_events events = mr_events_of_trace(trace, 0, (uint32_t)trace->event_count);
    mr_fingerprint print;
    bool made = mr_fingerprint_init(&print);
    if (made) {
        mr_fingerprint_add(&print, &events, trace->value, trace, &counts);
        *result = mr_fingerprint_finish(&print, trace);
    }
    mr_fingerprint_free(&print);
    return made ? MR_OK : mr_error_memory(error, "preparing the checkpoint");
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
    uint64_t print = trace->fingerprint;
    if (!trace->runs) {
        mr_status status = fingerprint(trace, &print, error);
        if (status != MR_OK)
            return status;
    }
    if (!write_settings(config, &settings)) {
        mr_bytes_free(&settings);
        return mr_error_memory(error, "preparing the checkpoint");
    }
    *identity = (mr_identity){.trace = print,
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
