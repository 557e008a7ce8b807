/*
 * saved_identity: what outcomes belong to: a trace, the settings that decide them, and the version
 * of maxrace. Outcomes of one identity may be put together; those of two may not.
 *
 * Settings that only say how a run goes (mr_config_is_run_only), how a result is reported, or what
 * another command does are not part of it.
 */
#ifndef MR_CHECKPOINT_SAVED_IDENTITY_H
#define MR_CHECKPOINT_SAVED_IDENTITY_H

#include "config/config.h"
#include "trace/trace.h"

typedef struct mr_saved_identity {
    uint64_t trace; /* fingerprint of its contents, names included; not of its file */
    uint64_t event_count;
    char *settings; /* owned; "version" NUL "0.1.0" NUL, then key NUL value NUL … */
    size_t settings_bytes;
} mr_saved_identity;

/* One pass over the columns of the trace, at the speed of memory. MR_ERR_MEMORY. */
mr_status mr_saved_identity_of(mr_saved_identity *identity, const mr_trace *trace,
                               const mr_config *config, mr_error *error);
void mr_saved_identity_free(mr_saved_identity *identity);

/* MR_OK, or MR_ERR_CONFIG that says what `found`, which stands in the file `path`, has otherwise
 * than `wanted`. */
mr_status mr_saved_identity_compare(const mr_saved_identity *found, const mr_saved_identity *wanted,
                                    const char *path, mr_error *error);

/* Sets `config` as the outcomes in `path` were made. MR_ERR_CONFIG for those of another version,
 * MR_ERR_MEMORY. */
mr_status mr_saved_identity_apply(const mr_saved_identity *found, const char *path,
                                  mr_config *config, mr_error *error);

#endif
