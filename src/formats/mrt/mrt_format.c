#include "mrt_format.h"

#include <string.h>
#include <xxhash.h>

/* No text begins like this, and a transfer that changes line ends changes it. */
const unsigned char mr_mrt_magic[MR_MRT_MAGIC_BYTES] = {0x89, 'M',  'R',  'T',
                                                        '\r', '\n', 0x1A, '\n'};

bool mr_mrt_detect(const void *bytes, size_t count)
{
    return count && !memcmp(bytes, mr_mrt_magic,
                            count < MR_MRT_MAGIC_BYTES ? count : (size_t)MR_MRT_MAGIC_BYTES);
}

uint64_t mr_mrt_checksum(const void *bytes, size_t count)
{
    return XXH3_64bits(bytes, count);
}

uint64_t mr_mrt_header_checksum(const mr_mrt_header *header)
{
    return mr_mrt_checksum(header, offsetof(mr_mrt_header, checksum));
}

uint64_t mr_mrt_chunk_checksum(const mr_mrt_chunk *chunk)
{
    return mr_mrt_checksum(chunk, offsetof(mr_mrt_chunk, checksum));
}

mr_status mr_mrt_check_machine(mr_error *error)
{
    const uint16_t probe = 1;
    unsigned char low;
    memcpy(&low, &probe, 1);
    if (low)
        return MR_OK;
    return mr_error_set(error, MR_ERR_UNSUPPORTED, NULL, 0,
                        ".mrt files are for little-endian machines; use the text format here");
}
