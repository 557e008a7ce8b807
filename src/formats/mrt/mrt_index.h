/*
 * mrt_index: the INDEX chunk of an .mrt file, taken apart: what the writer knew at its end. It
 * becomes an outlook when its numbers are consistent in themselves; whether they are true is seen
 * while the events go by (mrt_check.h).
 */
#ifndef MR_FORMATS_MRT_INDEX_H
#define MR_FORMATS_MRT_INDEX_H

#include "mrt_format.h"
#include "trace/outlook.h"

typedef struct mr_mrt_contents {
    mr_mrt_index index;
    mr_outlook outlook; /* owned; without has_outlook empty: of other rules than this version, or of
                           more than 30,000 threads */
    bool has_outlook;
    mr_error first_dropped;
} mr_mrt_contents;

/* MR_ERR_TRACE (a text without place), MR_ERR_MEMORY. Free in every case. */
mr_status mr_mrt_contents_read(mr_mrt_contents *contents, const unsigned char *payload,
                               uint64_t size_bytes, uint32_t version, mr_error *error);
void mr_mrt_contents_free(mr_mrt_contents *contents);

#endif
