#include "log_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static mr_status io_error(const char *path, mr_error *error)
{
    return mr_error_set(error, MR_ERR_IO, path, 0, "cannot read the log: %s", strerror(errno));
}

static mr_status no_log(const char *path, const char *why, mr_error *error)
{
    return mr_error_set(error, MR_ERR_TRACE, path, 0, "%s", why);
}

static mr_status check(mr_log *log, const char *path, mr_error *error)
{
    if (log->map_bytes < MR_LOG_HEADER_BYTES)
        return no_log(path, "this is no log of a recorded program", error);
    memcpy(&log->header, log->map, sizeof log->header);
    if (memcmp(log->header.magic, MR_LOG_MAGIC, sizeof log->header.magic) != 0)
        return no_log(path, "this is no log of a recorded program", error);
    if (log->header.version != MR_LOG_VERSION)
        return mr_error_set(error, MR_ERR_TRACE, path, 0,
                            "the log has version %u, this maxrace reads version %u; build the "
                            "program again with this 'maxrace cc'",
                            log->header.version, MR_LOG_VERSION);
    uint64_t first = log->header.header_bytes, end = log->header.end;
    if (end > log->map_bytes)
        end = log->map_bytes;
    if (first % sizeof *log->words || first > end)
        return no_log(path, "the header of the log makes no sense", error);
    log->words = (const uint64_t *)(const void *)((const char *)log->map + first);
    log->word_count = (end - first) / sizeof *log->words;
    return MR_OK;
}

mr_status mr_log_open(mr_log *log, const char *path, mr_error *error)
{
    struct stat info;
    *log = (mr_log){.map = NULL};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &info) != 0) {
        mr_status status = io_error(path, error);
        if (file >= 0)
            close(file);
        return status;
    }
    log->map_bytes = (uint64_t)info.st_size;
    if (log->map_bytes)
        log->map = mmap(NULL, (size_t)log->map_bytes, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (log->map == MAP_FAILED) {
        log->map = NULL;
        return io_error(path, error);
    }
    mr_status status = check(log, path, error);
    if (status)
        mr_log_close(log);
    return status;
}

void mr_log_close(mr_log *log)
{
    if (log->map)
        munmap(log->map, (size_t)log->map_bytes);
    *log = (mr_log){.map = NULL};
}

void mr_log_pass_init(mr_log_pass *pass, const mr_log *log)
{
    *pass = (mr_log_pass){.log = log};
    mr_lives_init(&pass->lives);
}

void mr_log_pass_free(mr_log_pass *pass)
{
    mr_lives_free(&pass->lives);
}

static void apply(mr_log_pass *pass, const uint64_t *record)
{
    uint64_t head = record[0];
    switch (mr_log_kind_of(head)) {
    case MR_LOG_SWITCH:
        pass->thread = (uint32_t)mr_log_payload(head);
        break;
    case MR_LOG_GIVEN:
        pass->failed = !mr_lives_give(&pass->lives, mr_log_payload(head), record[2],
                                      (uint8_t)mr_log_detail(head), pass->thread);
        break;
    case MR_LOG_TAKEN:
        pass->failed = !mr_lives_take(&pass->lives, mr_log_payload(head), record[2]);
        break;
    default:
        break;
    }
}

const uint64_t *mr_log_next(mr_log_pass *pass)
{
    uint64_t left = pass->log->word_count - pass->next;
    const uint64_t *record = pass->log->words + pass->next;
    uint64_t words = mr_log_words(record, left);
    if (!words || words > left || pass->failed)
        return NULL;
    pass->next += words;
    apply(pass, record);
    return pass->failed ? NULL : record;
}
