#include "unpack.h"

#include "base/memory.h"
#include "input.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

struct mr_unpacker {
    mr_packing packing;
    bool between; /* no member or frame is open */
    bool padding; /* zero bytes after the last gzip member, as tape blocks leave them */
    bool begun;   /* a member was complete before */
    z_stream gzip;
    ZSTD_DStream *zstd;
};

mr_packing mr_packing_detect(const unsigned char *bytes, size_t count, const char **name)
{
    static const struct {
        const char *magic, *name;
        size_t length;
        mr_packing packing;
    } packings[] = {
        {"\x1F\x8B", "gzip", 2, MR_PACKING_GZIP},
        {"\x28\xB5\x2F\xFD", "zstd", 4, MR_PACKING_ZSTD},
        {"\xFD\x37zXZ", "xz", 5, MR_PACKING_UNKNOWN},
        {"BZh", "bzip2", 3, MR_PACKING_UNKNOWN},
        {"\x04\x22\x4D\x18", "lz4", 4, MR_PACKING_UNKNOWN},
        {"PK\x03\x04", "zip", 4, MR_PACKING_UNKNOWN},
    };
    /* A zstd stream may begin with a skippable frame: 0x184D2A50 … 5F, little-endian. */
    if (count >= 4 && (bytes[0] & 0xF0) == 0x50 && !memcmp(bytes + 1, "\x2A\x4D\x18", 3)) {
        *name = "zstd";
        return MR_PACKING_ZSTD;
    }
    for (size_t i = 0; i < sizeof packings / sizeof *packings; i++) {
        if (count >= packings[i].length && !memcmp(bytes, packings[i].magic, packings[i].length)) {
            *name = packings[i].name;
            return packings[i].packing;
        }
    }
    *name = "text";
    return MR_PACKING_NONE;
}

static void *zlib_alloc(void *unused, unsigned count, unsigned size_bytes)
{
    (void)unused;
    return mr_calloc(count, size_bytes);
}

static void zlib_free(void *unused, void *memory)
{
    (void)unused;
    free(memory);
}

static bool init_gzip(mr_unpacker *unpacker)
{
    unpacker->gzip.zalloc = zlib_alloc;
    unpacker->gzip.zfree = zlib_free;
    enum { GZIP_ONLY = 16 };
    return inflateInit2(&unpacker->gzip, MAX_WBITS + GZIP_ONLY) == Z_OK;
}

static bool init_zstd(mr_unpacker *unpacker)
{
    unpacker->zstd = ZSTD_createDStream();
    return unpacker->zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(
                                 unpacker->zstd, ZSTD_d_windowLogMax, MR_INPUT_WINDOW_LOG));
}

mr_unpacker *mr_unpacker_new(mr_packing packing)
{
    mr_unpacker *unpacker = mr_calloc(1, sizeof *unpacker);
    if (!unpacker)
        return NULL;
    unpacker->packing = packing;
    unpacker->between = true;
    if (packing == MR_PACKING_GZIP ? init_gzip(unpacker) : init_zstd(unpacker))
        return unpacker;
    mr_unpacker_free(unpacker);
    return NULL;
}

void mr_unpacker_free(mr_unpacker *unpacker)
{
    if (!unpacker)
        return;
    if (unpacker->packing == MR_PACKING_GZIP)
        inflateEnd(&unpacker->gzip);
    ZSTD_freeDStream(unpacker->zstd);
    free(unpacker);
}

static uInt clip(size_t count)
{
    return count < UINT_MAX ? (uInt)count : UINT_MAX;
}

/* One call of inflate; moves the buffers on. */
static int inflate_some(z_stream *stream, mr_unpack_buffers *buffers)
{
    stream->next_in = (z_const Bytef *)buffers->in;
    stream->avail_in = clip(buffers->in_count);
    stream->next_out = buffers->out;
    stream->avail_out = clip(buffers->out_count);
    int result = inflate(stream, Z_NO_FLUSH);
    buffers->in_count -= (size_t)(stream->next_in - buffers->in);
    buffers->in = stream->next_in;
    buffers->out_count -= (size_t)(stream->next_out - buffers->out);
    buffers->out = stream->next_out;
    return result;
}

/* Goes on even with no input left: the library may hold bytes that had no room before. */
static mr_status run_gzip(mr_unpacker *unpacker, mr_unpack_buffers *buffers, mr_error *error)
{
    while (buffers->out_count && (buffers->in_count || !unpacker->between)) {
        if (unpacker->between && unpacker->begun && !*buffers->in)
            unpacker->padding = true;
        if (unpacker->padding) {
            buffers->in_count = 0;
            return MR_OK;
        }
        unpacker->between = false;
        int result = inflate_some(&unpacker->gzip, buffers);
        if (result == Z_BUF_ERROR)
            return MR_OK;
        if (result == Z_STREAM_END) {
            unpacker->between = unpacker->begun = true;
            result = inflateReset(&unpacker->gzip);
        }
        if (result == Z_MEM_ERROR)
            return mr_error_memory(error, "unpacking gzip data");
        if (result != Z_OK)
            return mr_error_set(error, MR_ERR_TRACE, NULL, 0, "the gzip data is damaged (%s)",
                                unpacker->gzip.msg ? unpacker->gzip.msg : "no reason given");
    }
    return MR_OK;
}

static mr_status zstd_failure(size_t result, mr_error *error)
{
    ZSTD_ErrorCode code = ZSTD_getErrorCode(result);
    if (code == ZSTD_error_memory_allocation)
        return mr_error_memory(error, "unpacking zstd data");
    if (code == ZSTD_error_frameParameter_windowTooLarge)
        return mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                            "the zstd window is larger than 128 MiB; pack the file again with "
                            "zstd --long=%d or less",
                            MR_INPUT_WINDOW_LOG);
    return mr_error_set(error, MR_ERR_TRACE, NULL, 0, "the zstd data is damaged (%s)",
                        ZSTD_getErrorName(result));
}

static mr_status run_zstd(mr_unpacker *unpacker, mr_unpack_buffers *buffers, mr_error *error)
{
    ZSTD_inBuffer in = {buffers->in, buffers->in_count, 0};
    ZSTD_outBuffer out = {buffers->out, buffers->out_count, 0};
    mr_status status = MR_OK;
    /* As above: also with no input left, but never to begin a frame. */
    while (out.pos < out.size && (in.pos < in.size || !unpacker->between)) {
        size_t before = in.pos + out.pos;
        size_t result = ZSTD_decompressStream(unpacker->zstd, &out, &in);
        if (ZSTD_isError(result)) {
            status = zstd_failure(result, error);
            break;
        }
        unpacker->between = result == 0;
        if (in.pos + out.pos == before)
            break;
    }
    buffers->in += in.pos;
    buffers->in_count -= in.pos;
    buffers->out += out.pos;
    buffers->out_count -= out.pos;
    return status;
}

mr_status mr_unpacker_run(mr_unpacker *unpacker, mr_unpack_buffers *buffers, mr_error *error)
{
    if (unpacker->packing == MR_PACKING_GZIP)
        return run_gzip(unpacker, buffers, error);
    return run_zstd(unpacker, buffers, error);
}

bool mr_unpacker_complete(const mr_unpacker *unpacker)
{
    return unpacker->between;
}
