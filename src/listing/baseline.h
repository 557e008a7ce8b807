/*
 * baseline: the fingerprints of an earlier report in JSON, of `predict`, `merge` or `run`.
 */
#ifndef MR_LISTING_BASELINE_H
#define MR_LISTING_BASELINE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mr_baseline {
    uint64_t *items; /* sorted */
    size_t count, capacity;
} mr_baseline;

/* MR_ERR_CONFIG for a file that cannot be read or is no such report; MR_ERR_MEMORY. Free in every case. */
mr_status mr_baseline_read(mr_baseline *self, const char *file, mr_error *error);
bool mr_baseline_has(const mr_baseline *self, uint64_t fingerprint);
void mr_baseline_free(mr_baseline *self);

enum { MR_FINGERPRINT_BYTES = 17 };
/* 16 hexadecimal digits. */
void mr_fingerprint_print(uint64_t fingerprint, char text[MR_FINGERPRINT_BYTES]);

#endif
