#include "log_reader.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
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

static const uint64_t *words_at(const mr_log *log, uint64_t offset)
{
    return (const uint64_t *)(const void *)((const char *)log->map + offset);
}

static uint64_t pending_words(const mr_log_header *header)
{
    return (uint64_t)3 * ((header->pending[0][0] != 0) + (header->pending[1][0] != 0));
}

/* Where the records are: in the file, then in the window, then in the header. */
static bool find_records(mr_log *log)
{
    const mr_log_header *header = &log->header;
    uint64_t first = header->header_bytes, end = header->end, in_window = 0;
    if (header->window_at) {
        if (header->window_at % sizeof *log->words || header->window_start > end ||
            header->window_at > log->map_bytes ||
            header->window_bytes > log->map_bytes - header->window_at ||
            end - header->window_start > header->window_bytes)
            return false;
        in_window = end - header->window_start;
        end = header->window_start;
    }
    if (end > log->map_bytes)
        end = log->map_bytes;
    if (first % sizeof *log->words || first > end)
        return false;
    log->words = words_at(log, first);
    log->window = words_at(log, header->window_at);
    log->file_words = (end - first) / sizeof *log->words;
    log->word_count = log->file_words + in_window / sizeof *log->words + pending_words(header);
    return true;
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
    return find_records(log) ? MR_OK : no_log(path, "the header of the log makes no sense", error);
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
    free(pass->model);
    pass->model = NULL;
    mr_lives_free(&pass->lives);
}

/* False: the log makes no sense. */
static bool apply(mr_log_pass *pass, const uint64_t *record)
{
    uint64_t head = record[0];
    switch (mr_log_kind_of(head)) {
    case MR_LOG_SWITCH:
        if (mr_log_payload(head) > MR_LOG_THREADS_MAX)
            return false;
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
    return true;
}

/* The words from the next record on, as many as follow each other. */
static const uint64_t *look(const mr_log_pass *pass, uint64_t *left)
{
    const mr_log *log = pass->log;
    uint64_t window_end = log->word_count - pending_words(&log->header);
    if (pass->next < log->file_words) {
        *left = log->file_words - pass->next;
        return log->words + pass->next;
    }
    if (pass->next < window_end) {
        *left = window_end - pass->next;
        return log->window + (pass->next - log->file_words);
    }
    uint64_t rest = log->word_count - pass->next;
    *left = rest < 3 ? rest : 3;
    return log->header.pending[rest > 3 || !log->header.pending[1][0] ? 0 : 1];
}

/* A record without what the model tells; NULL: the log makes no sense. */
static const uint64_t *expand(mr_log_pass *pass, const uint64_t *record)
{
    unsigned kind = mr_log_kind_of(record[0]);
    if (mr_log_is_short(kind))
        return mr_log_expand(pass->model, record, pass->expanded) ? pass->expanded : NULL;
    if (kind == MR_LOG_ENTER)
        return mr_log_expand_enter(pass->model, record, pass->expanded) ? pass->expanded : NULL;
    if (kind == MR_LOG_ENTRY)
        mr_log_learn_entry(pass->model, record);
    if (kind == MR_LOG_READ || kind == MR_LOG_WRITE)
        mr_log_learn(pass->model, record);
    return record;
}

const uint64_t *mr_log_next(mr_log_pass *pass)
{
    uint64_t left;
    if (!pass->model && !(pass->model = mr_calloc(1, sizeof *pass->model)))
        pass->failed = true;
    const uint64_t *record = look(pass, &left);
    uint64_t words = mr_log_words(record, left);
    if (!words || words > left || pass->failed || !(record = expand(pass, record)))
        return NULL;
    if (!apply(pass, record))
        return NULL;
    pass->next += words;
    return pass->failed ? NULL : record;
}
