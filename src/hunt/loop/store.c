/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _GNU_SOURCE /* F_OFD_SETLKW */

#include "store.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_LINE "maxrace hunt 1"

typedef char long_path[MR_STORE_PATH_BYTES + 64];

static mr_status failed(mr_error *error, const char *path, const char *what)
{
    return mr_error_set(error, MR_ERR_IO, path, 0, "cannot %s: %s", what, strerror(errno));
}

static mr_status open_journal(mr_store_folder *store, const char *path, int flags, mr_error *error)
{
    long_path journal;
    if (strlen(path) >= sizeof store->path)
        return mr_error_set(error, MR_ERR_IO, path, 0, "the path is too long");
    snprintf(store->path, sizeof store->path, "%s", path);
    snprintf(journal, sizeof journal, "%s/journal", path);
    store->journal = open(journal, flags | O_RDWR | O_APPEND | O_CLOEXEC, 0666);
    if (store->journal >= 0)
        return MR_OK;
    if (errno == ENOENT)
        return mr_error_set(error, MR_ERR_IO, path, 0, "this is not the folder of a hunt");
    return failed(error, journal, "open");
}

mr_status mr_store_make(mr_store_folder *store, const char *path, mr_error *error)
{
    static const char *const folders[] = {"behaviours", "findings"};
    long_path folder;
    *store = (mr_store_folder){.journal = -1};
    if (mkdir(path, 0777) != 0)
        return errno == EEXIST ? mr_error_set(error, MR_ERR_IO, path, 0,
                                              "is there already: go on with it by --resume, or "
                                              "choose another folder by --dir")
                               : failed(error, path, "make the folder");
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(folder, sizeof folder, "%.3400s/%s", path, folders[i]);
        if (mkdir(folder, 0777) != 0)
            return failed(error, folder, "make the folder");
    }
    mr_status status = open_journal(store, path, O_CREAT | O_EXCL, error);
    if (!status)
        status = mr_store_lock(store, error);
    return status ? status : mr_store_line(store, FIRST_LINE, error);
}

mr_status mr_store_begin_again(mr_store_folder *store, mr_error *error)
{
    store->bytes = store->lines = 0;
    if (ftruncate(store->journal, 0) != 0)
        return failed(error, store->path, "write the journal");
    return mr_store_line(store, FIRST_LINE, error);
}

/* Cuts off a line that was not finished. */
static bool trim(int journal)
{
    char byte;
    off_t end = lseek(journal, 0, SEEK_END);
    while (end > 0 && pread(journal, &byte, 1, end - 1) == 1 && byte != '\n')
        end--;
    return end >= 0 && ftruncate(journal, end) == 0;
}

static bool set_lock(const mr_store_folder *store, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET}; /* of all bytes */
    int done;
    do
        done = fcntl(store->journal, F_OFD_SETLKW, &lock);
    while (done != 0 && errno == EINTR);
    return done == 0;
}

mr_status mr_store_lock(const mr_store_folder *store, mr_error *error)
{
    return store->journal < 0 || set_lock(store, F_WRLCK)
               ? MR_OK
               : failed(error, store->path, "lock the journal");
}

void mr_store_unlock(const mr_store_folder *store)
{
    if (store->journal >= 0)
        set_lock(store, F_UNLCK);
}

mr_status mr_store_reopen(mr_store_folder *store, const char *path, mr_error *error)
{
    *store = (mr_store_folder){.journal = -1};
    mr_status status = open_journal(store, path, 0, error);
    if (!status)
        status = mr_store_lock(store, error);
    if (status)
        return status;
    if (!trim(store->journal))
        return failed(error, path, "write the journal");
    off_t end = lseek(store->journal, 0, SEEK_END);
    store->has_begun = end != 0 && end != (off_t)strlen(FIRST_LINE "\n");
    return MR_OK;
}

void mr_store_close(mr_store_folder *store)
{
    if (store->journal >= 0)
        close(store->journal);
    store->journal = -1;
}

mr_status mr_store_line(mr_store_folder *store, const char *line, mr_error *error)
{
    size_t length = strlen(line);
    char *text = mr_malloc(length + 2, 0);
    if (!text)
        return mr_error_memory(error, "writing the journal");
    snprintf(text, length + 2, "%s\n", line);
    ssize_t written = write(store->journal, text, length + 1); /* in one piece */
    free(text);
    if (written != (ssize_t)length + 1)
        return failed(error, store->path, "write the journal");
    store->bytes += length + 1;
    if (lseek(store->journal, 0, SEEK_CUR) != (off_t)store->bytes)
        return mr_error_set(error, MR_ERR_IO, store->path, 0,
                            "another process has written to the journal while this one had it "
                            "locked: the locks of this file system do not hold on all machines "
                            "(NFS mounted with nolock or local_lock)");
    for (store->lines++; (line = strchr(line, '\n')) != NULL; line++)
        store->lines++;
    return MR_OK;
}

mr_status mr_store_run(mr_store_folder *store, const mr_hunt_line *run, mr_error *error)
{
    char line[400];
    snprintf(line, sizeof line,
             "run %" PRIu64 " %s %" PRId64 " %" PRId64 " %" PRIu32 " %016" PRIx64 " %016" PRIx64
             " %.3f %s",
             run->number, run->kind, run->parent == UINT32_MAX ? -1 : (int64_t)run->parent,
             run->behaviour == UINT32_MAX ? -1 : (int64_t)run->behaviour, run->depth, run->key,
             run->signature, run->at, run->outcome);
    return mr_store_line(store, line, error);
}

mr_status mr_store_cut(mr_store_folder *store, uint64_t run, mr_error *error)
{
    char line[40];
    snprintf(line, sizeof line, "cut %" PRIu64, run);
    return mr_store_line(store, line, error);
}

mr_status mr_store_finding(mr_store_folder *store, const mr_finding_line *finding, mr_error *error)
{
    char line[500];
    snprintf(line, sizeof line, "finding %" PRIu32 " %" PRIu64 " %s %016" PRIx64 " %s",
             finding->number, finding->run, finding->kind, finding->identity, finding->text);
    for (char *c = line; *c; c++)
        *c = *c == '\n' ? ' ' : *c;
    return mr_store_line(store, line, error);
}

static mr_status write_first(const mr_store_folder *store, const char *name, const char *text,
                             mr_error *error)
{
    long_path path;
    snprintf(path, sizeof path, "%s/first-%s", store->path, name);
    FILE *file = fopen(path, "w");
    if (!file)
        return failed(error, path, "write");
    if (text)
        fputs(text, file);
    return fclose(file) == 0 ? MR_OK : failed(error, path, "write");
}

mr_status mr_store_first(mr_store_folder *store, const mr_run_end *end, mr_error *error)
{
    char line[64];
    snprintf(line, sizeof line, "first %d %d", end->exit_status, end->signal);
    mr_status status = write_first(store, "output", end->output, error);
    if (!status)
        status = write_first(store, "errors", end->errors, error);
    return status ? status : mr_store_line(store, line, error);
}

char *mr_store_text(const char *folder, const char *name)
{
    long_path path;
    char *text = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (file && getdelim(&text, &room, '\0', file) < 0) {
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

void mr_store_read_first(const mr_store_folder *store, const char *value, mr_run_end *end)
{
    char *rest;
    *end = (mr_run_end){.is_there = true, .exit_status = (int)strtol(value, &rest, 10)};
    end->signal = (int)strtol(rest, NULL, 10);
    end->output = mr_store_text(store->path, "first-output");
    end->errors = mr_store_text(store->path, "first-errors");
}

static bool read_run(const char *line, mr_hunt_line *run)
{
    long long parent, behaviour;
    /* The count of what was read is compared. NOLINTBEGIN(cert-err34-c) */
    int got =
        sscanf(line, "run %" SCNu64 " %15s %lld %lld %" SCNu32 " %" SCNx64 " %" SCNx64 " %lf %15s",
               &run->number, run->kind, &parent, &behaviour, &run->depth, &run->key,
               &run->signature, &run->at, run->outcome);
    /* NOLINTEND(cert-err34-c) */
    run->parent = parent < 0 ? UINT32_MAX : (uint32_t)parent;
    run->behaviour = behaviour < 0 ? UINT32_MAX : (uint32_t)behaviour;
    return got == 9;
}

static bool read_finding(const char *line, mr_finding_line *finding)
{
    int at = 0;
    /* The count of what was read is compared. NOLINTBEGIN(cert-err34-c) */
    int got = sscanf(line, "finding %" SCNu32 " %" SCNu64 " %15s %" SCNx64 " %n", &finding->number,
                     &finding->run, finding->kind, &finding->identity, &at);
    /* NOLINTEND(cert-err34-c) */
    if (got == 4 && at)
        snprintf(finding->text, sizeof finding->text, "%s", line + at);
    return got == 4 && at;
}

static mr_status take_line(const mr_store_reader *reader, char *line, bool *known, bool *ok)
{
    mr_hunt_line run = {.number = 0};
    mr_finding_line finding = {.count = 0};
    *known = true;
    if (strncmp(line, "run ", 4) == 0) {
        *known = read_run(line, &run);
        *ok = !*known || !reader->run || reader->run(reader->context, &run);
    } else if (strncmp(line, "finding ", 8) == 0) {
        *known = read_finding(line, &finding);
        *ok = !*known || !reader->finding || reader->finding(reader->context, &finding);
    } else {
        char *space = strchr(line, ' ');
        *known = space != NULL;
        if (space)
            *space = '\0';
        *ok = !space || !reader->setting || reader->setting(reader->context, line, space + 1);
    }
    return MR_OK;
}

/* Lines from `file` on, which is a journal; `*lines` and `*bytes` are counted on. */
static mr_status read_lines(FILE *file, const char *journal, const mr_store_reader *reader,
                            uint64_t *lines, uint64_t *bytes, mr_error *error)
{
    char *line = NULL;
    size_t room = 0;
    mr_status status = MR_OK;
    for (ssize_t length; !status && (length = getline(&line, &room, file)) > 0;) {
        bool known = true, ok = true;
        if (line[length - 1] != '\n')
            break; /* it was being written */
        line[length - 1] = '\0';
        if (++*lines == 1)
            known = strcmp(line, FIRST_LINE) == 0;
        else
            take_line(reader, line, &known, &ok);
        *bytes += (uint64_t)length;
        if (!known)
            status = mr_error_set(error, MR_ERR_TRACE, journal, *lines,
                                  *lines == 1 ? "this is no journal of a hunt"
                                              : "this line makes no sense; the journal is damaged");
        else if (!ok)
            status = mr_error_memory(error, "reading the journal");
    }
    free(line);
    return status;
}

static mr_status read_from(const mr_store_folder *store, const mr_store_reader *reader,
                           uint64_t *lines, uint64_t *bytes, mr_error *error)
{
    long_path journal;
    snprintf(journal, sizeof journal, "%s/journal", store->path);
    FILE *file = fopen(journal, "r");
    if (!file || fseeko(file, (off_t)*bytes, SEEK_SET) != 0) {
        mr_status status = failed(error, journal, "read");
        if (file)
            fclose(file);
        return status;
    }
    mr_status status = read_lines(file, journal, reader, lines, bytes, error);
    fclose(file);
    return status;
}

mr_status mr_store_read(const mr_store_folder *store, const mr_store_reader *reader,
                        mr_error *error)
{
    uint64_t lines = 0, bytes = 0;
    return read_from(store, reader, &lines, &bytes, error);
}

mr_status mr_store_read_on(mr_store_folder *store, const mr_store_reader *reader, mr_error *error)
{
    struct stat info;
    if (store->journal < 0)
        return MR_OK;
    if (fstat(store->journal, &info) != 0)
        return failed(error, store->path, "read the journal");
    if ((uint64_t)info.st_size == store->bytes)
        return MR_OK;
    mr_status status = read_from(store, reader, &store->lines, &store->bytes, error);
    if (!status && (uint64_t)info.st_size != store->bytes && !trim(store->journal))
        status = failed(error, store->path, "write the journal");
    return status;
}

void mr_store_behaviour_path(const mr_store_folder *store, uint32_t number,
                             char path[MR_STORE_PATH_BYTES + 64])
{
    snprintf(path, sizeof(long_path), "%s/behaviours/%" PRIu32 ".mrt", store->path, number);
}

void mr_store_finding_path(const mr_store_folder *store, const mr_finding_line *finding,
                           const char *file, char path[MR_STORE_PATH_BYTES + 64])
{
    snprintf(path, sizeof(long_path), "%s/findings/%" PRIu32 "-%s%s%s", store->path,
             finding->number, finding->kind, file[0] ? "/" : "", file);
}
