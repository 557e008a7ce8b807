/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _DEFAULT_SOURCE /* madvise */

#include "log_reader.h"

#include "base/assert.h"
#include "base/memory.h"
#include "objects.h"

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

/* Room in the address space for a log that grows. */
#define FOLLOWED_BYTES ((uint64_t)1 << 38)

static const uint32_t *units_at(const mr_log *log, uint64_t offset)
{
    return (const uint32_t *)(const void *)((const char *)log->map + offset);
}

/* The end of a program that died: the number of bytes in the window, and the place of a write whose
 * value is missing. */
static uint64_t find_end(const mr_log *log, uint64_t *open)
{
    mr_log_live live;
    memcpy(&live, (const char *)log->map + MR_LOG_LIVE_AT, sizeof live);
    if (live.waiting == MR_LOG_WAITING_WRITE || live.waiting == MR_LOG_WAITING_BOTH)
        *open = (uintptr_t)live.open - (uintptr_t)live.window;
    return (uintptr_t)live.cursor - (uintptr_t)live.window;
}

/* Finds the records: first those in the file, then those in the window. */
static bool find_records(mr_log *log)
{
    const mr_log_header *header = &log->header;
    uint64_t first = header->header_bytes, end = header->end, in_window = 0, open = UINT64_MAX;
    if (header->window_at) {
        uint64_t start = header->window_start;
        in_window = end ? end - start : find_end(log, &open);
        if (header->window_at % sizeof(uint64_t) || header->window_at > log->map_bytes ||
            header->window_bytes > log->map_bytes - header->window_at ||
            in_window > header->window_bytes)
            return false;
        end = start;
    }
    if (end > log->map_bytes)
        end = log->map_bytes;
    if (first % sizeof(uint64_t) || first > end)
        return false;
    log->units = units_at(log, first);
    log->window = units_at(log, header->window_at);
    log->file_units = (end - first) / sizeof *log->units;
    log->unit_count = log->file_units + in_window / sizeof *log->units;
    log->open_unit = open < in_window ? log->file_units + open / sizeof *log->units : UINT64_MAX;
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

bool mr_log_follow(mr_log *log, const char *path)
{
    struct stat info;
    *log = (mr_log){.open_unit = UINT64_MAX, .map_bytes = FOLLOWED_BYTES};
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool ok = file >= 0 && fstat(file, &info) == 0 && S_ISREG(info.st_mode) &&
              info.st_size >= (off_t)MR_LOG_HEADER_BYTES;
    if (ok)
        log->map = mmap(NULL, FOLLOWED_BYTES, PROT_READ, MAP_SHARED, file, 0);
    if (file >= 0)
        close(file);
    if (!ok || log->map == MAP_FAILED) {
        log->map = NULL;
        return false;
    }
    memcpy(&log->header, log->map, sizeof log->header);
    const mr_log_header *header = &log->header;
    /* window_start is the last field that the program fills in. */
    ok = memcmp(header->magic, MR_LOG_MAGIC, sizeof header->magic) == 0 &&
         header->version == MR_LOG_VERSION && header->header_bytes >= MR_LOG_HEADER_BYTES &&
         header->header_bytes % sizeof(uint64_t) == 0 && header->window_at &&
         header->window_start >= header->header_bytes;
    if (ok)
        log->units = units_at(log, header->header_bytes);
    else
        mr_log_close(log);
    return ok;
}

void mr_log_follow_on(mr_log *log)
{
    const mr_log_header *header = log->map;
    uint64_t start = __atomic_load_n(&header->window_start, __ATOMIC_ACQUIRE);
    uint64_t first = log->header.header_bytes;
    if (start < first || start > FOLLOWED_BYTES)
        return;
    uint64_t units = (start - first) / sizeof *log->units;
    if (units > log->file_units)
        log->file_units = log->unit_count = units;
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
    mr_lifetimes_init(&pass->lives);
}

void mr_log_pass_free(mr_log_pass *pass)
{
    free(pass->model);
    free(pass->aliases);
    free(pass->range);
    pass->model = NULL;
    pass->aliases = NULL;
    pass->range = NULL;
    mr_lifetimes_free(&pass->lives);
}

/* Has the record of a lock, semaphore or order a role of its own kind? */
static bool has_role(const uint64_t *record, bool orders)
{
    unsigned role = mr_log_detail(record[0]);
    unsigned kind = mr_log_kind_of(record[0]);
    if (role == MR_LOG_ROLE_NONE && kind == MR_LOG_RETIRED)
        return true; /* of an order */
    if (role == MR_LOG_ROLE_WRONG)
        return kind == MR_LOG_USED && !record[2];
    if (role == MR_LOG_ROLE_DESCRIPTOR && kind != MR_LOG_RETIRED && kind != MR_LOG_USED)
        return false;
    return role <= MR_LOG_ROLE_TASK_END && mr_object_orders((uint8_t)role) == orders &&
           record[2] >> 56 == 0;
}

static void add_alias(mr_log_pass *pass, uint64_t start, uint64_t end, uint64_t to)
{
    void *items = pass->aliases;
    pass->failed = pass->failed || !mr_grow(&items, &pass->alias_capacity, pass->alias_count + 1,
                                            sizeof *pass->aliases);
    if (pass->failed)
        return;
    pass->aliases = items;
    pass->aliases[pass->alias_count++] = (mr_log_alias){start, end, to};
}

/* A runtime has 256 at a time; with more the log is damaged, and reading it would take long. */
enum { ALIASES_MAX = 1 << 10 };

#define MEMORY_END (UINT64_C(1) << 48)

/* The memory has another name from here on, or its own one. False: that makes no sense. */
static bool take_alias(mr_log_pass *pass, const uint64_t *record)
{
    uint64_t start = mr_log_payload(record[0]), end = start + record[2];
    size_t count = pass->alias_count;
    if (end <= start || end > MEMORY_END || record[3] >= MEMORY_END ||
        record[2] > MEMORY_END - record[3] || count >= ALIASES_MAX)
        return false;
    for (size_t i = 0; i < count; i++) {
        mr_log_alias was = pass->aliases[i];
        if (was.start >= end || was.end <= start)
            continue;
        pass->aliases[i].end = start > was.start ? start : was.start;
        if (end < was.end)
            add_alias(pass, end, was.end, was.to + (end - was.start));
    }
    count = 0;
    for (size_t i = 0; i < pass->alias_count; i++)
        if (pass->aliases[i].start < pass->aliases[i].end)
            pass->aliases[count++] = pass->aliases[i];
    pass->alias_count = count;
    if (record[3])
        add_alias(pass, start, end, record[3]);
    return true;
}

/* The address of the first mapping, and how many of the bytes go on there. */
static uint64_t first_name(const mr_log_pass *pass, uint64_t address, uint64_t *bytes)
{
    uint64_t name = address;
    for (size_t i = 0; i < pass->alias_count; i++) {
        const mr_log_alias *alias = &pass->aliases[i];
        if (address >= alias->start && address < alias->end) {
            name = alias->to + (address - alias->start);
            *bytes = alias->end - address < *bytes ? alias->end - address : *bytes;
        } else if (alias->start > address && alias->start - address < *bytes) {
            *bytes = alias->start - address;
        }
    }
    return name;
}

/* Is the payload of such a record an address of the program's memory? */
static bool has_address(unsigned kind)
{
    const uint64_t objects = (uint64_t)1 << MR_LOG_RETIRED | (uint64_t)1 << MR_LOG_USED |
                             (uint64_t)1 << MR_LOG_BLOCKED | (uint64_t)1 << MR_LOG_BENIGN |
                             (uint64_t)1 << MR_LOG_BEFORE | (uint64_t)1 << MR_LOG_AFTER;
    return mr_log_is_access(kind) || (kind >= MR_LOG_ACQUIRE && kind <= MR_LOG_WAIT) ||
           (objects >> kind & 1);
}

static uint64_t renamed(uint64_t head, uint64_t address)
{
    return (head & 0xffff) | address << 16;
}

/* The next part of a range, or the whole: as far as one mapping and one life go. NULL: no memory. */
static const uint64_t *part_of_range(mr_log_pass *pass, const uint64_t *record)
{
    uint64_t done = pass->range_done, bytes = record[2] - done;
    uint64_t name = first_name(pass, mr_log_payload(record[0]) + done, &bytes);
    bytes = mr_lifetimes_reach(&pass->lives, name, bytes);
    if (bytes == record[2] && name == mr_log_payload(record[0]))
        return record;
    void *range = pass->range;
    pass->failed =
        pass->failed || !mr_grow(&range, &pass->range_capacity, 4 + bytes / 8, sizeof *pass->range);
    if (pass->failed)
        return NULL;
    pass->range = range;
    pass->range[0] = renamed(record[0], name);
    pass->range[1] = record[1];
    pass->range[2] = bytes;
    pass->range[3 + bytes / 8] = 0;
    memcpy(pass->range + 3, (const char *)(record + 3) + done, (size_t)bytes);
    pass->range_done = done + bytes < record[2] ? done + bytes : 0;
    return pass->range;
}

/* The record under the first name of its address. NULL: no memory. */
static const uint64_t *rename_record(mr_log_pass *pass, const uint64_t *record)
{
    unsigned kind = mr_log_kind_of(record[0]);
    uint64_t bytes = 1;
    if (mr_log_is_range(kind))
        return part_of_range(pass, record);
    uint64_t name = has_address(kind) ? first_name(pass, mr_log_payload(record[0]), &bytes)
                                      : mr_log_payload(record[0]);
    if (name == mr_log_payload(record[0]))
        return record;
    _Static_assert(MR_LOG_EXPANDED_WORDS >= 4, "such a record has four words at most");
    uint64_t words = mr_log_words(record, 4);
    if (record != pass->expanded)
        memcpy(pass->expanded, record, (size_t)words * sizeof *record);
    pass->expanded[0] = renamed(record[0], name);
    return pass->expanded;
}

/* Lets a record about threads or memory take effect. False: the log cannot be read. */
static bool apply(mr_log_pass *pass, const uint64_t *record)
{
    uint64_t head = record[0];
    unsigned kind = mr_log_kind_of(head);
    if (kind == MR_LOG_RETIRED && mr_log_detail(record[0]) == MR_LOG_ROLE_NONE)
        return true;
    if ((kind >= MR_LOG_ACQUIRE && kind <= MR_LOG_RETIRED) || kind == MR_LOG_USED)
        return has_role(record, false);
    switch (kind) {
    case MR_LOG_BEFORE:
    case MR_LOG_AFTER:
        return has_role(record, true);
    case MR_LOG_SWITCH:
        if (mr_log_payload(head) > MR_LOG_THREADS_MAX)
            return false;
        pass->thread = (uint32_t)mr_log_payload(head);
        break;
    case MR_LOG_ALIAS:
        return take_alias(pass, record);
    case MR_LOG_GIVEN:
        pass->failed = !mr_lifetimes_give(&pass->lives, mr_log_payload(head), record[2],
                                          (uint8_t)mr_log_detail(head), pass->thread);
        break;
    case MR_LOG_TAKEN:
        if (mr_log_count(record[1]) != MR_LOG_TAKEN_AGAIN)
            pass->failed = !mr_lifetimes_take(&pass->lives, mr_log_payload(head), record[2],
                                              mr_log_count(record[1]) == MR_LOG_TAKEN_KEPT);
        break;
    case MR_LOG_FORGOTTEN:
        mr_lifetimes_forget(&pass->lives, mr_log_payload(head));
        break;
    default:
        break;
    }
    return true;
}

/* The units from `unit` on; `*left` of them stand in one piece of memory. */
static const uint32_t *look_at(const mr_log *log, uint64_t unit, uint64_t *left)
{
    if (unit < log->file_units) {
        *left = log->file_units - unit;
        return log->units + unit;
    }
    *left = log->unit_count - unit;
    return log->window + (unit - log->file_units);
}

/* Gives back the pages of the file that the pass has read. They stay in the system's cache, but count as memory of the process as
 * long as they are mapped, by `memory.limit_mb`, too. */
static void let_go(mr_log_pass *pass)
{
    const mr_log *log = pass->log;
    enum { KEPT_UNITS = 1 << 22 }; /* 16 MiB */
    uint64_t read = pass->next < log->file_units ? pass->next : log->file_units;
    if (read >= pass->kept && read - pass->kept < KEPT_UNITS)
        return;
    if (read > pass->kept) {
        uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
        uintptr_t first = ((uintptr_t)(log->units + pass->kept) + page - 1) / page * page;
        uintptr_t end = (uintptr_t)(log->units + read) / page * page;
        (void)madvise((char *)log->map + (first - (uintptr_t)log->map), end - first, MADV_DONTNEED);
    }
    pass->kept = read;
}

/* The same for the next record. */
static const uint32_t *look(const mr_log_pass *pass, uint64_t *left)
{
    return look_at(pass->log, pass->next, left);
}

/* Makes a full record from a short one with the help of the model. NULL: the log cannot be read. */
static const uint64_t *expand(mr_log_pass *pass, const uint32_t *units)
{
    const uint64_t *record = (const uint64_t *)(const void *)units;
    if (mr_log_is_short(units[0]))
        return mr_log_expand(pass->model, units, pass->expanded) ? pass->expanded : NULL;
    unsigned kind = mr_log_kind_of(record[0]);
    if (kind == MR_LOG_ENTER)
        return mr_log_expand_enter(pass->model, record, pass->expanded) ? pass->expanded : NULL;
    if (kind == MR_LOG_ENTRY)
        mr_log_learn_entry(pass->model, record);
    if (kind == MR_LOG_READ || kind == MR_LOG_WRITE)
        mr_log_learn(pass->model, record);
    return record;
}

bool mr_log_run_follows(const mr_log_pass *pass)
{
    uint64_t left, unit = pass->next;
    const uint32_t *at;
    if (pass->alias_count)
        return false;
    do
        at = look_at(pass->log, unit++, &left);
    while (left && *at == MR_LOG_PADDING_UNIT);
    if (left >= 6 && (uintptr_t)at % sizeof(uint64_t) == 0 &&
        mr_log_is_run_range((const uint64_t *)(const void *)at))
        return true;
    return left && (mr_log_is_short(*at) || mr_log_is_run_long(*at));
}

void mr_log_learn_from(mr_log_pass *pass, uint64_t from)
{
    uint64_t left, units;
    for (uint64_t unit = from; unit < pass->next; unit += units) {
        const uint32_t *at = look_at(pass->log, unit, &left);
        units = mr_log_units(at, left);
        MR_REQUIRE(units && units <= left); /* it was read before */
        bool is_padding = units == 1 && *at == MR_LOG_PADDING_UNIT;
        MR_REQUIRE(is_padding || expand(pass, at));
    }
}

/* A write without its value. */
static const uint64_t *without_value(mr_log_pass *pass, const uint64_t *record)
{
    uint64_t head = record[0] | (uint64_t)MR_LOG_NO_VALUE << 8, code = record[1];
    pass->expanded[0] = head;
    pass->expanded[1] = code;
    pass->expanded[2] = 0;
    return pass->expanded;
}

const uint64_t *mr_log_next(mr_log_pass *pass)
{
    uint64_t left, units = 0;
    const uint32_t *at;
    let_go(pass);
    if (!pass->model && !(pass->model = mr_calloc(1, sizeof *pass->model)))
        pass->failed = true;
    do {
        pass->next += units;
        at = look(pass, &left);
        units = mr_log_units(at, left);
    } while (units == 1 && *at == MR_LOG_PADDING_UNIT);
    const uint64_t *record;
    if (!units || units > left || pass->failed || !(record = expand(pass, at)))
        return NULL;
    if (pass->log->open_unit - pass->next < units)
        record = without_value(pass, record);
    if ((pass->alias_count || mr_log_is_range(mr_log_kind_of(record[0]))) &&
        !(record = rename_record(pass, record)))
        return NULL;
    if (!apply(pass, record))
        return NULL;
    pass->next += pass->range_done ? 0 : units;
    MR_ASSERT(pass->next <= pass->log->unit_count);
    return pass->failed ? NULL : record;
}

mr_log_run mr_log_run_begin(mr_log_pass *pass, uint64_t last)
{
    uint64_t left = 0;
    let_go(pass);
    const uint32_t *at = look(pass, &left);
    if (pass->log->open_unit != UINT64_MAX && pass->log->open_unit - pass->next < left)
        left = pass->log->open_unit - pass->next;
    uint64_t end = left > MR_LOG_RUN_UNITS ? left - MR_LOG_RUN_UNITS : 0;
    if (last <= pass->next || !pass->model || pass->alias_count)
        end = 0;
    else if (last - pass->next < end)
        end = last - pass->next;
    return (mr_log_run){pass->model, at, at, at + end};
}

void mr_log_learn_run(mr_log_pass *pass, uint64_t units)
{
    mr_log_run run = mr_log_run_begin(pass, pass->next + units);
    const uint32_t *end = run.at + units;
    MR_REQUIRE(run.model);
    while (run.at < end) {
        mr_log_run_access found;
        if (mr_log_run_look(&run, &found))
            mr_log_run_take(&run, &found, true);
        else if (run.at < end)
            mr_log_run_take_long(&run);
    }
    MR_REQUIRE(run.at == end);
    mr_log_run_end(pass, &run);
}

const uint64_t *mr_log_run_record(mr_log_pass *pass, mr_log_run *run,
                                  const mr_log_run_access *access)
{
    const mr_log_site *site = access->site;
    mr_log_run_take(run, access, true);
    pass->expanded[0] =
        mr_log_head(mr_log_kind_of(site->head), mr_log_detail(site->head), access->address);
    pass->expanded[1] = mr_log_payload(site->head);
    pass->expanded[2] = (uint64_t)run->model->values[mr_log_value_of(site->head, access->address)];
    return pass->expanded;
}
