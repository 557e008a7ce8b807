/*
 * identity: what outcomes belong to: an input, the settings that decide them, and the version of
 * maxrace. Outcomes of one identity may be put together; outcomes of two may not.
 *
 * Who opens a checkpoint says its own identity (engine/identity.h); a file tells that of the run
 * that made it.
 */
#ifndef MR_CHECKPOINT_IDENTITY_H
#define MR_CHECKPOINT_IDENTITY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mr_identity {
    uint64_t trace; /* digest of the contents of the trace */
    uint64_t event_count;
    char *settings; /* owned; "version" NUL "0.1.0" NUL, then key NUL value NUL … */
    size_t settings_bytes;
} mr_identity;

void mr_identity_free(mr_identity *identity);

/* MR_OK, or MR_ERR_CONFIG: `found`, the identity in the file `path`, is not `wanted`. The error
 * names the first difference. */
mr_status mr_identity_compare(const mr_identity *found, const mr_identity *wanted, const char *path,
                              mr_error *error);

/* Calls `set` with each setting but the version, until one fails. MR_ERR_CONFIG: the file `path`,
 * where the identity was found, is of another version. */
mr_status mr_identity_each(const mr_identity *found, const char *path,
                           mr_status (*set)(void *context, const char *key, const char *value,
                                            const char *path, mr_error *error),
                           void *context, mr_error *error);

#endif
