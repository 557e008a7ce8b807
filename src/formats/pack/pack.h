/* pack: writes bytes to a file as they are, or packed by gzip (zlib) or zstd: the way back of
 * unpack.h. */
#ifndef MR_FORMATS_PACK_PACK_H
#define MR_FORMATS_PACK_PACK_H

#include "unpack.h"

#include <stdio.h>

typedef struct mr_packer mr_packer;

/* Writes to `file`, which stays the caller's. NULL: no memory. */
mr_packer *mr_packer_new(mr_packing packing, FILE *file);
void mr_packer_free(mr_packer *packer); /* NULL is fine */

/* MR_ERR_IO (a text without place), MR_ERR_MEMORY, MR_ERR_INTERNAL. */
mr_status mr_packer_write(mr_packer *packer, const void *bytes, size_t count, mr_error *error);
/* What is left, and the end of the packed data. */
mr_status mr_packer_finish(mr_packer *packer, mr_error *error);

#endif
