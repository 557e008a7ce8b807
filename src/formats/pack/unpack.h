/* unpack: streaming decompression of gzip (zlib) and zstd (libzstd) behind one call. */
#ifndef MR_FORMATS_PACK_UNPACK_H
#define MR_FORMATS_PACK_UNPACK_H

#include "base/error.h"

#include <stdbool.h>

typedef enum mr_packing {
    MR_PACKING_NONE,
    MR_PACKING_GZIP,
    MR_PACKING_ZSTD,
    MR_PACKING_UNKNOWN, /* packed by something that is not supported */
} mr_packing;

/* Tells the packing by the first bytes of a file; `*name` is for messages. */
mr_packing mr_packing_detect(const unsigned char *bytes, size_t count, const char **name);

typedef struct mr_unpacker mr_unpacker;

/* NULL: no memory. `packing` is gzip or zstd. */
mr_unpacker *mr_unpacker_new(mr_packing packing);
void mr_unpacker_free(mr_unpacker *unpacker); /* NULL is fine */

/* Packed bytes still to be used, and room for unpacked ones; both are moved on by mr_unpacker_run.
 */
typedef struct mr_unpack_buffers {
    const unsigned char *in;
    size_t in_count;
    unsigned char *out;
    size_t out_count;
} mr_unpack_buffers;

/* Unpacks until the input or the room is used up. MR_ERR_TRACE: damaged data; MR_ERR_MEMORY. */
mr_status mr_unpacker_run(mr_unpacker *unpacker, mr_unpack_buffers *buffers, mr_error *error);

/* Does the data that was given so far end where a member or frame ends? */
bool mr_unpacker_complete(const mr_unpacker *unpacker);

#endif
