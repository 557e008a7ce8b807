#include "file.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "base/seconds.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

/* When the machine goes down, the outcomes of the last seconds are lost: so many. */
static const double SYNC_SECONDS = 5;

enum { MAGIC_BYTES = 8, BYTE_ORDER = 0x01020304, MOST_SETTINGS_BYTES = 1 << 24 };

/* No text begins like this, and a transfer that changes line ends changes it. */
static const uint8_t magic[MAGIC_BYTES] = {0x89, 'M', 'R', 'C', '\r', '\n', 0x1A, '\n'};

typedef struct file_head {
    uint8_t magic[MAGIC_BYTES];
    uint32_t version, byte_order;
    uint64_t trace, event_count;
    uint64_t settings_bytes, settings_checksum;
    uint32_t shard, shards;
    uint64_t checksum; /* of the bytes before it */
} file_head;

typedef struct record_head {
    uint32_t mark, phase;
    uint64_t unit, units, before;
    uint64_t length, body_checksum;
    uint64_t checksum; /* of the bytes before it */
} record_head;

_Static_assert(sizeof(file_head) == 64 && sizeof(record_head) == 56, "no filling in between");

static const uint32_t RECORD_MARK = 0x5D52434Du; /* "MCR]" */

static uint64_t checksum(const void *bytes, size_t count)
{
    return XXH3_64bits(bytes, count);
}

static mr_status io_error(const mr_checkpoint_file *file, const char *what, int number,
                          mr_error *error)
{
    return mr_error_set(error, MR_ERR_IO, file->path, 0, "cannot %s: %s", what, strerror(number));
}

/* ---- reading ---- */

static mr_status check_head(const mr_checkpoint_file *file, const file_head *head, mr_error *error)
{
    if (file->map_bytes < MAGIC_BYTES || memcmp(head->magic, magic, MAGIC_BYTES) != 0)
        return mr_error_set(error, MR_ERR_CONFIG, file->path, 0,
                            "is no checkpoint of maxrace; name another file");
    if (file->map_bytes >= sizeof *head && head->byte_order == BYTE_ORDER &&
        head->version != MR_CHECKPOINT_VERSION)
        return mr_error_set(error, MR_ERR_CONFIG, file->path, 0,
                            "is a checkpoint in format %" PRIu32 ", this maxrace has format %d; "
                            "start anew with another file",
                            head->version, MR_CHECKPOINT_VERSION);
    const uint8_t *settings = file->map + sizeof *head;
    if (file->map_bytes < sizeof *head || head->byte_order != BYTE_ORDER ||
        head->checksum != checksum(head, offsetof(file_head, checksum)) ||
        head->settings_bytes > file->map_bytes - sizeof *head ||
        head->settings_bytes > MOST_SETTINGS_BYTES ||
        head->settings_checksum != checksum(settings, (size_t)head->settings_bytes))
        return mr_error_set(error, MR_ERR_IO, file->path, 0,
                            "the head of the checkpoint is damaged, so nobody can say what it "
                            "belongs to; start anew with another file");
    return MR_OK;
}

static mr_status read_head(mr_checkpoint_file *file, mr_error *error)
{
    file_head head = {0};
    memcpy(&head, file->map, file->map_bytes < sizeof head ? file->map_bytes : sizeof head);
    mr_status status = check_head(file, &head, error);
    if (status != MR_OK)
        return status;
    mr_identity *identity = &file->identity;
    file->shard = head.shard;
    file->shards = head.shards;
    identity->trace = head.trace;
    identity->event_count = head.event_count;
    identity->settings_bytes = (size_t)head.settings_bytes;
    identity->settings = mr_malloc(1, identity->settings_bytes);
    if (!identity->settings)
        return mr_error_memory(error, "reading the checkpoint");
    memcpy(identity->settings, file->map + sizeof head, identity->settings_bytes);
    return MR_OK;
}

/* The record at `offset`, if there is a whole one. */
static bool read_record(const mr_checkpoint_file *file, uint64_t offset,
                        mr_checkpoint_record *record)
{
    record_head head;
    uint64_t left = file->map_bytes - offset;
    if (left < sizeof head)
        return false;
    memcpy(&head, file->map + offset, sizeof head);
    if (head.mark != RECORD_MARK ||
        head.checksum != checksum(&head, offsetof(record_head, checksum)) ||
        head.length > left - sizeof head)
        return false;
    *record = (mr_checkpoint_record){.phase = head.phase,
                                     .unit = head.unit,
                                     .units = head.units,
                                     .before = head.before,
                                     .body = file->map + offset + sizeof head,
                                     .length = head.length,
                                     .offset = offset};
    return head.body_checksum == checksum(record->body, (size_t)head.length);
}

/* The offset of the next whole record; the size of the file when there is none. */
static uint64_t find_record(const mr_checkpoint_file *file, uint64_t offset)
{
    mr_checkpoint_record record;
    const uint8_t first = RECORD_MARK & 0xff;
    while (offset < file->map_bytes) {
        const uint8_t *at = memchr(file->map + offset, first, file->map_bytes - offset);
        if (!at)
            break;
        offset = (uint64_t)(at - file->map);
        if (read_record(file, offset, &record))
            return offset;
        offset++;
    }
    return file->map_bytes;
}

static mr_status read_records(mr_checkpoint_file *file, mr_error *error)
{
    uint64_t offset = sizeof(file_head) + file->identity.settings_bytes;
    file->end = offset;
    while (offset < file->map_bytes) {
        void *records = file->records;
        mr_checkpoint_record record;
        if (!read_record(file, offset, &record)) {
            uint64_t next = find_record(file, offset + 1);
            if (next == file->map_bytes)
                break;
            if (!file->damaged++)
                file->damaged_at = offset;
            offset = next;
            continue;
        }
        if (!mr_grow(&records, &file->capacity, file->count + 1, sizeof *file->records))
            return mr_error_memory(error, "reading the checkpoint");
        file->records = records;
        file->records[file->count++] = record;
        offset += sizeof(record_head) + record.length;
        file->end = offset;
    }
    file->torn_bytes = file->map_bytes - file->end;
    return MR_OK;
}

static mr_status map_file(mr_checkpoint_file *file, mr_error *error)
{
    struct stat info;
    if (fstat(file->fd, &info) != 0)
        return io_error(file, "read", errno, error);
    if (!S_ISREG(info.st_mode))
        return mr_error_set(error, MR_ERR_CONFIG, file->path, 0,
                            "is no file that can be gone on with; name another one");
    file->map_bytes = (size_t)info.st_size;
    if (!file->map_bytes)
        return MR_OK;
    void *map = mmap(NULL, file->map_bytes, PROT_READ, MAP_PRIVATE, file->fd, 0);
    if (map == MAP_FAILED)
        return io_error(file, "read", errno, error);
    file->map = map;
    return MR_OK;
}

/* Opens the file and locks it: against writers, and to write also against readers. Without effect
 * on a file system that has no locks. */
static mr_status open_locked(mr_checkpoint_file *file, const char *path, bool write, int flags,
                             mr_error *error)
{
    file->path = mr_strndup(path, strlen(path));
    if (!file->path)
        return mr_error_memory(error, "opening the checkpoint");
    file->writable = write;
    file->fd = open(path, flags | O_CLOEXEC, 0666);
    if (file->fd < 0)
        return io_error(file, write ? "write the checkpoint" : "read the checkpoint", errno, error);
    if (flock(file->fd, (write ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return mr_error_set(error, MR_ERR_IO, path, 0,
                            "another run uses this checkpoint now; wait for its end, or name "
                            "another file");
    return MR_OK;
}

mr_status mr_checkpoint_file_read(mr_checkpoint_file *file, const char *path, mr_error *error)
{
    mr_status status = open_locked(file, path, false, O_RDONLY, error);
    if (status == MR_OK)
        status = map_file(file, error);
    if (status == MR_OK)
        status = read_head(file, error);
    return status == MR_OK ? read_records(file, error) : status;
}

/* ---- writing ---- */

/* Writes all of it at the end of the file, or nothing. */
static bool write_whole(mr_checkpoint_file *file, const uint8_t *bytes, size_t count)
{
    size_t done = 0;
    while (done < count) {
        ssize_t now = pwrite(file->fd, bytes + done, count - done, (off_t)(file->end + done));
        if (now > 0)
            done += (size_t)now;
        else if (now == 0 || errno != EINTR)
            break;
    }
    if (done == count) {
        file->end += count;
        return true;
    }
    int number = errno ? errno : EIO;
    /* Best effort: bytes that stay behind the end are a torn record, which the next run cuts
     * off. */
    if (ftruncate(file->fd, (off_t)file->end) != 0)
        errno = number;
    errno = number;
    return false;
}

bool mr_checkpoint_file_is_new(const char *path)
{
    struct stat info;
    return stat(path, &info) != 0 || (S_ISREG(info.st_mode) && info.st_size == 0);
}

mr_status mr_checkpoint_file_exists_error(const char *path, mr_error *error)
{
    return mr_error_set(error, MR_ERR_USAGE, path, 0,
                        "exists; go on with it by --resume, or name another file");
}

static bool make_head(const mr_checkpoint_file *file, const mr_identity *identity, mr_bytes *bytes)
{
    file_head head = {.version = MR_CHECKPOINT_VERSION,
                      .byte_order = BYTE_ORDER,
                      .trace = identity->trace,
                      .event_count = identity->event_count,
                      .settings_bytes = identity->settings_bytes,
                      .settings_checksum = checksum(identity->settings, identity->settings_bytes),
                      .shard = file->shard,
                      .shards = file->shards};
    memcpy(head.magic, magic, sizeof head.magic);
    head.checksum = checksum(&head, offsetof(file_head, checksum));
    mr_bytes_raw(bytes, &head, sizeof head);
    mr_bytes_raw(bytes, identity->settings, identity->settings_bytes);
    return !bytes->failed;
}

/* Was the run that made the file stopped before it had written the head? Then the file is as good
 * as empty. */
static bool is_unborn(const mr_checkpoint_file *file, const mr_bytes *head)
{
    return file->map_bytes < head->count &&
           (!file->map_bytes || memcmp(file->map, head->items, file->map_bytes) == 0);
}

static mr_status write_head(mr_checkpoint_file *file, const mr_bytes *head, mr_error *error)
{
    if (!write_whole(file, head->items, head->count))
        return io_error(file, "write the checkpoint", errno, error);
    return MR_OK;
}

static mr_status go_on(mr_checkpoint_file *file, const mr_identity *identity, mr_error *error)
{
    mr_status status = read_head(file, error);
    if (status == MR_OK)
        status = mr_identity_compare(&file->identity, identity, file->path, error);
    if (status == MR_OK)
        status = read_records(file, error);
    if (status == MR_OK && file->torn_bytes && ftruncate(file->fd, (off_t)file->end) != 0)
        status = io_error(file, "cut off what is damaged at its end", errno, error);
    return status;
}

mr_status mr_checkpoint_file_start(mr_checkpoint_file *file, const char *path,
                                   const mr_identity *identity, bool resume, mr_error *error)
{
    mr_bytes head = {0};
    mr_status status = open_locked(file, path, true, O_RDWR | O_CREAT, error);
    if (status == MR_OK)
        status = map_file(file, error);
    if (status == MR_OK && !make_head(file, identity, &head))
        status = mr_error_memory(error, "preparing the checkpoint");
    if (status == MR_OK && file->map_bytes && !resume)
        status = mr_checkpoint_file_exists_error(path, error);
    else if (status == MR_OK)
        status =
            is_unborn(file, &head) ? write_head(file, &head, error) : go_on(file, identity, error);
    file->synced_seconds = mr_seconds();
    mr_bytes_free(&head);
    return status;
}

/* The system may tell an error of the disk only here, long after the write. */
static bool sync_file(mr_checkpoint_file *file)
{
    file->synced_seconds = mr_seconds();
    return fdatasync(file->fd) == 0 || errno == EINVAL || errno == EROFS;
}

static mr_status save_error(mr_checkpoint_file *file, int number, mr_error *error)
{
    file->failed = true;
    return mr_error_set(error, MR_ERR_IO, file->path, 0,
                        "cannot save: %s; all that was saved before is kept: make room and go on "
                        "with --resume",
                        strerror(number));
}

mr_status mr_checkpoint_file_append(mr_checkpoint_file *file, const mr_checkpoint_record *record,
                                    mr_error *error)
{
    const size_t length = (size_t)record->length;
    record_head head = {.mark = RECORD_MARK,
                        .phase = record->phase,
                        .unit = record->unit,
                        .units = record->units,
                        .before = record->before,
                        .length = length,
                        .body_checksum = checksum(record->body, length)};
    head.checksum = checksum(&head, offsetof(record_head, checksum));
    if (file->failed)
        return MR_OK; /* it has been told */
    mr_bytes bytes = {0};
    mr_bytes_raw(&bytes, &head, sizeof head);
    mr_bytes_raw(&bytes, record->body, length);
    mr_status status = MR_OK;
    if (bytes.failed)
        status = mr_error_memory(error, "saving what was found");
    else if (!write_whole(file, bytes.items, bytes.count) ||
             (mr_seconds() - file->synced_seconds > SYNC_SECONDS && !sync_file(file)))
        status = save_error(file, errno, error);
    else
        file->appended++;
    mr_bytes_free(&bytes);
    return status;
}

mr_status mr_checkpoint_file_close(mr_checkpoint_file *file, mr_error *error)
{
    mr_status status = MR_OK;
    if (file->path && file->fd >= 0) {
        if (file->writable && file->appended && !file->failed && !sync_file(file))
            status = save_error(file, errno, error);
        close(file->fd);
    }
    if (file->map)
        munmap((void *)file->map, file->map_bytes);
    mr_identity_free(&file->identity);
    free(file->records);
    free(file->path);
    *file = (mr_checkpoint_file){0};
    return status;
}
