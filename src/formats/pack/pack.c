#include "pack.h"

#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* Levels that keep up with a disk; who wants smaller files packs them again. */
enum { MR_PACK_GZIP_LEVEL = 6, MR_PACK_ZSTD_LEVEL = 3, MR_PACK_ROOM_BYTES = 1 << 17 };

struct mr_packer {
    mr_packing packing;
    FILE *file;
    z_stream gzip;
    bool gzip_ready;
    ZSTD_CStream *zstd;
    unsigned char room[MR_PACK_ROOM_BYTES];
};

static void *zlib_allocate(void *unused, unsigned count, unsigned size_bytes)
{
    (void)unused;
    return mr_calloc(count, size_bytes);
}

static void zlib_free(void *unused, void *block)
{
    (void)unused;
    free(block);
}

mr_packer *mr_packer_new(mr_packing packing, FILE *file)
{
    mr_packer *packer = mr_malloc(sizeof *packer, 0);
    if (!packer)
        return NULL;
    packer->packing = packing;
    packer->file = file;
    packer->gzip = (z_stream){.zalloc = zlib_allocate, .zfree = zlib_free};
    packer->gzip_ready = false;
    packer->zstd = NULL;
    if (packing == MR_PACKING_GZIP) {
        packer->gzip_ready =
            deflateInit2(&packer->gzip, MR_PACK_GZIP_LEVEL, Z_DEFLATED, MAX_WBITS + 16,
                         MAX_MEM_LEVEL - 1, Z_DEFAULT_STRATEGY) == Z_OK;
    } else if (packing == MR_PACKING_ZSTD) {
        packer->zstd = ZSTD_createCStream();
        if (packer->zstd && ZSTD_isError(ZSTD_CCtx_setParameter(
                                packer->zstd, ZSTD_c_compressionLevel, MR_PACK_ZSTD_LEVEL))) {
            ZSTD_freeCStream(packer->zstd);
            packer->zstd = NULL;
        }
    }
    if ((packing == MR_PACKING_GZIP && !packer->gzip_ready) ||
        (packing == MR_PACKING_ZSTD && !packer->zstd)) {
        free(packer);
        return NULL;
    }
    return packer;
}

void mr_packer_free(mr_packer *packer)
{
    if (!packer)
        return;
    if (packer->gzip_ready)
        deflateEnd(&packer->gzip);
    ZSTD_freeCStream(packer->zstd);
    free(packer);
}

static mr_status write_out(mr_packer *packer, const void *bytes, size_t count, mr_error *error)
{
    errno = 0;
    if (!count || fwrite(bytes, 1, count, packer->file) == count)
        return MR_OK;
    return mr_error_set(error, MR_ERR_IO, NULL, 0, "cannot write: %s",
                        strerror(errno ? errno : EIO));
}

/* Packs all of it; with `finish` ends the packed data, too. */
static mr_status run_gzip(mr_packer *packer, const void *bytes, size_t count, bool finish,
                          mr_error *error)
{
    z_stream *gzip = &packer->gzip;
    const unsigned char *next = bytes;
    int result = Z_OK;
    do {
        uInt step = count < (1u << 30) ? (uInt)count : 1u << 30;
        gzip->next_in = (z_const Bytef *)next;
        gzip->avail_in = step;
        gzip->next_out = packer->room;
        gzip->avail_out = sizeof packer->room;
        result = deflate(gzip, finish ? Z_FINISH : Z_NO_FLUSH);
        if (result == Z_STREAM_ERROR)
            return mr_error_set(error, MR_ERR_INTERNAL, NULL, 0, "cannot pack with gzip");
        next += step - gzip->avail_in;
        count -= step - gzip->avail_in;
        mr_status status =
            write_out(packer, packer->room, sizeof packer->room - gzip->avail_out, error);
        if (status)
            return status;
    } while (finish ? result != Z_STREAM_END : count || !gzip->avail_out);
    return MR_OK;
}

static mr_status run_zstd(mr_packer *packer, const void *bytes, size_t count, bool finish,
                          mr_error *error)
{
    ZSTD_inBuffer in = {bytes, count, 0};
    size_t left;
    do {
        ZSTD_outBuffer out = {packer->room, sizeof packer->room, 0};
        left = ZSTD_compressStream2(packer->zstd, &out, &in, finish ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return mr_error_set(error, MR_ERR_INTERNAL, NULL, 0, "cannot pack with zstd: %s",
                                ZSTD_getErrorName(left));
        mr_status status = write_out(packer, packer->room, out.pos, error);
        if (status)
            return status;
    } while (finish ? left > 0 : in.pos < in.size);
    return MR_OK;
}

mr_status mr_packer_write(mr_packer *packer, const void *bytes, size_t count, mr_error *error)
{
    if (!count)
        return MR_OK;
    if (packer->packing == MR_PACKING_GZIP)
        return run_gzip(packer, bytes, count, false, error);
    if (packer->packing == MR_PACKING_ZSTD)
        return run_zstd(packer, bytes, count, false, error);
    return write_out(packer, bytes, count, error);
}

mr_status mr_packer_finish(mr_packer *packer, mr_error *error)
{
    if (packer->packing == MR_PACKING_GZIP)
        return run_gzip(packer, "", 0, true, error);
    if (packer->packing == MR_PACKING_ZSTD)
        return run_zstd(packer, "", 0, true, error);
    return MR_OK;
}
