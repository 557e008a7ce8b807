/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _DEFAULT_SOURCE /* madvise */

#include "mrt_source.h"

#include "base/assert.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* How much is read before more memory is taken, and the steps in which used pages are given back.
 */
enum {
    MR_MRT_READ_BYTES = 1 << 20,
    MR_MRT_RELEASE_BYTES = 8 << 20,
    /* So much stays, which is more than a stream reads ahead of the events that its user has. */
    MR_MRT_BEHIND_BYTES = 64 << 20,
    MR_MRT_TIGHT_SHARE = 8,
    /* When memory is tight, this part of the limit stays of each pass, and is the step: but no more and no less than these. A page
     * that is given back too early comes back when it is touched. */
    MR_MRT_TIGHT_PARTS = 32,
    MR_MRT_TIGHT_LEAST_BYTES = 1 << 20,
    MR_MRT_TIGHT_MOST_BYTES = 8 << 20,
};

typedef unsigned long long number; /* for %llu */

static mr_status check_header(const mr_mrt_header *header, mr_error *error)
{
    if (memcmp(header->magic, mr_mrt_magic, sizeof mr_mrt_magic) != 0)
        return mr_error_set(error, MR_ERR_TRACE, NULL, 0, "this is no .mrt file");
    if (header->checksum != mr_mrt_header_checksum(header))
        return mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                            "the header of the .mrt file is damaged (its checksum differs)");
    if (header->byte_order != MR_MRT_BYTE_ORDER)
        return mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                            "the .mrt file has another byte order (%08x)", header->byte_order);
    if (header->version < MR_MRT_OLDEST_VERSION || header->version > MR_MRT_VERSION)
        return mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                            "the .mrt file has format version %u, this maxrace reads versions %d "
                            "to %d; use the maxrace that wrote it (%.*s) to convert it to text",
                            header->version, MR_MRT_OLDEST_VERSION, MR_MRT_VERSION,
                            (int)strnlen(header->writer, sizeof header->writer), header->writer);
    return MR_OK;
}

static mr_status ends_early(mr_error *error, uint64_t offset)
{
    return mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                        "the .mrt file ends too early (truncated), within what begins at byte %llu",
                        (number)offset);
}

/* Fills `bytes` from the input; `*got` is less than `count` at its end. */
static mr_status read_fully(mr_mrt_source *source, void *bytes, size_t count, size_t *got,
                            mr_error *error)
{
    for (*got = 0; *got < count;) {
        size_t step;
        mr_status status =
            mr_input_read(source->input, (char *)bytes + *got, count - *got, &step, error);
        if (status)
            return status;
        if (!step)
            break;
        *got += step;
    }
    return MR_OK;
}

/* Takes a header of 64 bytes at the current offset. */
static mr_status take_header(mr_mrt_source *source, void *header, mr_error *error)
{
    size_t got = 0;
    source->chunk_offset = source->offset;
    if (source->map) {
        if (source->size_bytes - source->offset < MR_MRT_ALIGN_BYTES)
            return ends_early(error, source->offset);
        memcpy(header, source->map + source->offset, MR_MRT_ALIGN_BYTES);
    } else {
        mr_status status = read_fully(source, header, MR_MRT_ALIGN_BYTES, &got, error);
        if (status)
            return status;
        if (got < MR_MRT_ALIGN_BYTES)
            return ends_early(error, source->offset);
    }
    source->offset += MR_MRT_ALIGN_BYTES;
    return MR_OK;
}

static mr_status start(mr_mrt_source *source, mr_error *error)
{
    mr_mrt_header header = {0};
    mr_status status = mr_mrt_check_machine(error);
    if (!status)
        status = take_header(source, &header, error);
    source->version = header.version;
    return status ? status : check_header(&header, error);
}

static mr_status io_error(mr_error *error, const char *what)
{
    return mr_error_set(error, MR_ERR_IO, NULL, 0, "cannot %s: %s", what, strerror(errno));
}

/* Is the open file one to be mapped? */
static bool can_map(int file, mr_mrt_source *source)
{
    unsigned char magic[MR_MRT_MAGIC_BYTES];
    struct stat info;
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) ||
        (uint64_t)info.st_size < sizeof magic || (uint64_t)info.st_size > SIZE_MAX)
        return false;
    source->size_bytes = (uint64_t)info.st_size;
    source->changed = info.st_mtim;
    return pread(file, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
           mr_mrt_detect(magic, sizeof magic);
}

mr_status mr_mrt_source_open(mr_mrt_source *source, const char *path, bool *mapped, mr_error *error)
{
    *source = (mr_mrt_source){0};
    *mapped = false;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return io_error(error, "open");
    if (!can_map(file, source)) {
        close(file);
        return MR_OK;
    }
    void *map = mmap(NULL, (size_t)source->size_bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (map == MAP_FAILED) {
        mr_status failed = io_error(error, "map");
        close(file);
        return failed;
    }
    source->map = map;
    source->file = file;
    *mapped = true;
    madvise(map, (size_t)source->size_bytes, MADV_SEQUENTIAL); /* a hint */
    mr_status status = start(source, error);
    if (status)
        mr_mrt_source_close(source);
    return status;
}

bool mr_mrt_source_changed(const mr_mrt_source *source)
{
    struct stat info;
    if (!source->map)
        return false;
    return fstat(source->file, &info) != 0 || (uint64_t)info.st_size != source->size_bytes ||
           info.st_mtim.tv_sec != source->changed.tv_sec ||
           info.st_mtim.tv_nsec != source->changed.tv_nsec;
}

mr_status mr_mrt_source_attach(mr_mrt_source *source, mr_input *input, mr_error *error)
{
    *source = (mr_mrt_source){.input = input};
    return start(source, error);
}

void mr_mrt_source_close(mr_mrt_source *source)
{
    if (source->map) {
        munmap((void *)source->map, (size_t)source->size_bytes);
        close(source->file);
    }
    free(source->buffer);
    *source = (mr_mrt_source){0};
}

static bool chunk_is_sound(const mr_mrt_chunk *chunk, uint64_t chunk_number)
{
    return chunk->checksum == mr_mrt_chunk_checksum(chunk) && chunk->mark == MR_MRT_CHUNK_MARK &&
           chunk->number == chunk_number;
}

mr_status mr_mrt_source_next(mr_mrt_source *source, mr_mrt_chunk *chunk, mr_error *error)
{
    mr_status status = take_header(source, chunk, error);
    if (status)
        return status;
    if (chunk_is_sound(chunk, source->chunk_number++))
        return MR_OK;
    return mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                        "the .mrt file is damaged at byte %llu (no chunk begins there)",
                        (number)source->chunk_offset);
}

static bool checksum_differs(const mr_mrt_chunk *chunk, const unsigned char *payload)
{
    return mr_mrt_checksum(payload, (size_t)mr_mrt_filled(chunk->size_bytes)) !=
           chunk->payload_checksum;
}

/* The first multiple of 64 in the buffer. */
static unsigned char *aligned(unsigned char *buffer)
{
    return buffer + (-(uintptr_t)buffer & (MR_MRT_ALIGN_BYTES - 1));
}

/* Makes room for `size_bytes` after the first `used` bytes, which stay. */
static bool make_room(mr_mrt_source *source, size_t used, size_t size_bytes)
{
    if (used + size_bytes + MR_MRT_ALIGN_BYTES <= source->buffer_capacity)
        return true;
    size_t capacity = 2 * (used + size_bytes) + MR_MRT_ALIGN_BYTES;
    unsigned char *buffer = mr_malloc(capacity, 0);
    if (!buffer)
        return false;
    if (used)
        memcpy(aligned(buffer), aligned(source->buffer), used);
    free(source->buffer);
    source->buffer = buffer;
    source->buffer_capacity = capacity;
    return true;
}

/* The file claims a size. Memory is taken only as the bytes arrive. */
static mr_status read_payload(mr_mrt_source *source, uint64_t size_bytes, bool keep,
                              mr_error *error)
{
    for (uint64_t done = 0; done < size_bytes;) {
        uint64_t left = size_bytes - done;
        size_t step = left < MR_MRT_READ_BYTES ? (size_t)left : MR_MRT_READ_BYTES, got = 0;
        size_t used = keep ? (size_t)done : 0;
        if (!make_room(source, used, step))
            return mr_error_memory(error, "reading the trace");
        mr_status status = read_fully(source, aligned(source->buffer) + used, step, &got, error);
        if (status)
            return status;
        if (got < step)
            return ends_early(error, source->chunk_offset);
        done += step;
    }
    return MR_OK;
}

static bool is_whole(const mr_mrt_source *source, uint64_t offset, const mr_mrt_chunk *chunk)
{
    uint64_t left = source->size_bytes - offset;
    return chunk->size_bytes <= left && mr_mrt_filled(chunk->size_bytes) <= left;
}

static mr_status check_size(const mr_mrt_source *source, const mr_mrt_chunk *chunk, mr_error *error)
{
    if (chunk->size_bytes > (UINT64_MAX >> 1) ||
        (source->map && !is_whole(source, source->offset, chunk)))
        return ends_early(error, source->chunk_offset);
    return MR_OK;
}

bool mr_mrt_source_place(const mr_mrt_source *source, const void *from, size_t bytes, void *to)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t offset = (uintptr_t)from - (uintptr_t)source->map;
    if (!source->map || ((uintptr_t)to | offset | bytes) % page)
        return false;
    const int access = PROT_READ | PROT_WRITE, own = MAP_PRIVATE | MAP_FIXED;
    if (mmap(to, bytes, access, own, source->file, (off_t)offset) == to)
        return true;
    MR_REQUIRE(mmap(to, bytes, access, own | MAP_ANONYMOUS, -1, 0) == to);
    return false;
}

void mr_mrt_source_limit(mr_mrt_source *source, uint64_t memory_bytes)
{
    uint64_t part = memory_bytes / MR_MRT_TIGHT_PARTS;
    part -= part % MR_MRT_TIGHT_LEAST_BYTES;
    if (!source->map || !memory_bytes || source->size_bytes <= memory_bytes / MR_MRT_TIGHT_SHARE)
        return;
    if (part < MR_MRT_TIGHT_LEAST_BYTES)
        part = MR_MRT_TIGHT_LEAST_BYTES;
    source->tight_bytes = part < MR_MRT_TIGHT_MOST_BYTES ? part : MR_MRT_TIGHT_MOST_BYTES;
}

/* What may be given back when all before `offset` was used. */
static uint64_t end_of_release(const mr_mrt_source *source, uint64_t offset)
{
    uint64_t tight = source->tight_bytes, behind = tight ? tight : MR_MRT_BEHIND_BYTES;
    uint64_t used = offset > behind ? offset - behind : 0;
    return used - used % (tight ? tight : MR_MRT_RELEASE_BYTES);
}

static void release(const mr_mrt_source *source, uint64_t first, uint64_t end)
{
    if (end > first)
        madvise((void *)(source->map + first), (size_t)(end - first), MADV_DONTNEED);
}

void mr_mrt_source_release(mr_mrt_source *source, uint64_t offset)
{
    uint64_t end = end_of_release(source, offset);
    if (!offset)
        source->released = 0;
    if (end <= source->released)
        return;
    MR_ASSERT(end <= offset); /* nothing that is still to be read */
    release(source, source->released, end);
    source->released = end;
}

void mr_mrt_source_release_between(const mr_mrt_source *source, uint64_t from, uint64_t offset)
{
    if (source->tight_bytes)
        release(source, end_of_release(source, from), end_of_release(source, offset));
}

mr_status mr_mrt_source_payload(mr_mrt_source *source, const mr_mrt_chunk *chunk,
                                const unsigned char **payload, mr_error *error)
{
    mr_status status = check_size(source, chunk, error);
    uint64_t size_bytes = mr_mrt_filled(chunk->size_bytes);
    if (!status && source->map) {
        mr_mrt_source_release(source, source->chunk_offset);
        *payload = source->map + source->offset;
    } else if (!status) {
        status = make_room(source, 0, 1) ? read_payload(source, size_bytes, true, error)
                                         : mr_error_memory(error, "reading the trace");
        *payload = status ? NULL : aligned(source->buffer);
    }
    if (status)
        return status;
    MR_ASSERT((uintptr_t)*payload % MR_MRT_ALIGN_BYTES == 0); /* columns are used in place */
    source->offset += size_bytes;
    MR_ASSERT(!source->map || source->offset <= source->size_bytes);
    if (checksum_differs(chunk, *payload))
        return mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                            "the .mrt file is damaged after byte %llu (a checksum differs)",
                            (number)source->chunk_offset);
    return MR_OK;
}

mr_status mr_mrt_source_skip(mr_mrt_source *source, const mr_mrt_chunk *chunk, mr_error *error)
{
    mr_status status = check_size(source, chunk, error);
    uint64_t size_bytes = mr_mrt_filled(chunk->size_bytes);
    if (!status && !source->map)
        status = read_payload(source, size_bytes, false, error);
    source->offset += size_bytes;
    return status;
}

mr_status mr_mrt_source_end(mr_mrt_source *source, mr_error *error)
{
    char more;
    size_t got = 0;
    mr_status status = MR_OK;
    if (source->map)
        got = source->offset < source->size_bytes;
    else
        status = read_fully(source, &more, 1, &got, error);
    if (status || !got)
        return status;
    return mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                        "there are bytes after the end of the .mrt file (from byte %llu on)",
                        (number)source->offset);
}

bool mr_mrt_source_peek(const mr_mrt_source *source, uint64_t offset, mr_mrt_kind kind,
                        mr_mrt_chunk *chunk, const unsigned char **payload)
{
    if (!source->map || offset % MR_MRT_ALIGN_BYTES != 0 || offset > source->size_bytes ||
        source->size_bytes - offset < sizeof *chunk)
        return false;
    memcpy(chunk, source->map + offset, sizeof *chunk);
    if (!chunk_is_sound(chunk, chunk->number) || chunk->kind != (uint32_t)kind ||
        !is_whole(source, offset + sizeof *chunk, chunk))
        return false;
    *payload = source->map + offset + sizeof *chunk;
    return !checksum_differs(chunk, *payload);
}
