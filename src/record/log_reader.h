/*
 * log_reader: reads the records of a log (runtime/log.h), one after the other, and keeps track of
 * the current thread and of the lives of memory. Two passes over the same log give the same lives
 * and objects.
 *
 *   mr_log_open | mr_log_follow → (mr_log_pass_init → mr_log_next* → mr_log_pass_free)* → mr_log_close
 */
#ifndef MR_RECORD_LOG_READER_H
#define MR_RECORD_LOG_READER_H

#include "base/error.h"
#include "lifetimes.h"

#include "runtime/log_short.h"

typedef struct mr_log {
    mr_log_header header;
    const uint32_t *units;  /* the records in the file, in 32-bit units */
    const uint32_t *window; /* the records in the window, which follow those in the file */
    uint64_t file_units;
    uint64_t unit_count; /* of both */
    uint64_t open_unit;  /* a unit of the write whose value is missing; UINT64_MAX: there is none */
    void *map;
    uint64_t map_bytes;
} mr_log;

/* MR_ERR_TRACE: the file is no log, or a log of another version; MR_ERR_IO. */
mr_status mr_log_open(mr_log *log, const char *path, mr_error *error);
void mr_log_close(mr_log *log);

/* Opens a log that a program still writes, without any record. False: it is not there, or not begun;
 * there is nothing to close. */
bool mr_log_follow(mr_log *log, const char *path);
/* Adds the records that are in the file by now. They do not change any more. */
void mr_log_follow_on(mr_log *log);

/* A log with more threads is damaged. */
enum { MR_LOG_THREADS_MAX = 1 << 24 };

/* Memory [start, end) that is another name of memory from `to` on (MR_LOG_ALIAS). */
typedef struct mr_log_alias {
    uint64_t start, end, to;
} mr_log_alias;

typedef struct mr_log_pass {
    const mr_log *log;
    uint64_t next; /* unit of the next record */
    uint64_t kept; /* the pages of units before this one were given back (KEPT_UNITS) */
    mr_log_model *model;
    uint64_t expanded[MR_LOG_EXPANDED_WORDS];
    uint32_t thread; /* the thread that wrote the record */
    mr_lifetimes lives;
    mr_log_alias *aliases; /* owned */
    size_t alias_count, alias_capacity;
    uint64_t *range; /* owned; a part of a range under its other name */
    size_t range_capacity;
    uint64_t range_done; /* bytes of the next record that were given */
    bool failed;         /* no memory */
} mr_log_pass;

void mr_log_pass_init(mr_log_pass *pass, const mr_log *log);
void mr_log_pass_free(mr_log_pass *pass);

/* The next record, valid until the next call. NULL: the log ends here, or the rest cannot be read.
 * Short records of accesses arrive as READ and WRITE records, and ENTER records arrive as
 * mr_log_expand_enter makes them. Records about memory have taken effect. An address is that of the first mapping of its
 * file; a range over the end of a mapping or of a life arrives in parts. While there are such other names there are no runs. */
const uint64_t *mr_log_next(mr_log_pass *pass);

/* Is the next record one of a run (see below)? */
bool mr_log_run_follows(const mr_log_pass *pass);

/* The tables of the pass are those at the unit `from`, which the pass has read before: learns what the
 * records from there to the next one tell. */
void mr_log_learn_from(mr_log_pass *pass, uint64_t from);

/*
 * Most records are short ones of plain accesses, and entries and ends of functions. A run reads records of
 * these kinds, long ones of plain accesses, and ranges of 16 bytes, as long as they follow each other. It makes no full records
 * of the short ones:
 *
 *   run = mr_log_run_begin
 *         → (mr_log_run_look → mr_log_run_take | mr_log_run_look → mr_log_run_long → mr_log_run_take_long)*
 *         [→ mr_log_run_look → mr_log_run_record] → mr_log_run_end
 *
 * A record that is looked at and not taken is the next record of the pass.
 */
enum {
    MR_LOG_RUN_BYTES = 16, /* of a range in a run: what a vector register has */
    MR_LOG_RUN_UNITS = 6 + MR_LOG_RUN_BYTES / 4, /* of a record in a run, at most */
};

typedef struct mr_log_run {
    mr_log_model *model;
    const uint32_t *first, *at, *end; /* a record that begins before `end` can be read */
} mr_log_run;

typedef struct mr_log_run_access {
    mr_log_parts parts;
    mr_log_site *site;
    uint64_t address;
    unsigned bytes;
    bool writes;
} mr_log_run_access;

/* The run ends at the unit `last` of the log, or earlier. */
mr_log_run mr_log_run_begin(mr_log_pass *pass, uint64_t last);

static inline void mr_log_run_end(mr_log_pass *pass, const mr_log_run *run)
{
    pass->next += (uint64_t)(run->at - run->first);
}

/* The next record, behind padding. False: it is no short record of an access. */
static inline bool mr_log_run_look(mr_log_run *run, mr_log_run_access *access)
{
    while (run->at < run->end && *run->at == MR_LOG_PADDING_UNIT)
        run->at++;
    if (run->at >= run->end || !mr_log_is_short(*run->at))
        return false;
    access->parts = mr_log_take_apart(run->at);
    access->site = &run->model->sites[access->parts.site];
    access->address = (access->site->address + (uint64_t)access->parts.distance) & 0xffffffffffffu;
    access->bytes = mr_log_bytes(access->site->head);
    unsigned kind = mr_log_kind_of(access->site->head);
    access->writes = kind == MR_LOG_WRITE;
    return kind == MR_LOG_READ || kind == MR_LOG_WRITE;
}

/* Takes the record. The values of later records of the pass make no sense when `values` is false. */
static inline void mr_log_run_take(mr_log_run *run, const mr_log_run_access *access, bool values)
{
    if (values)
        mr_log_learn_short(run->model, access->site, &access->parts, access->address);
    access->site->address = access->address;
    run->at = access->parts.content + access->parts.form - MR_LOG_FORM_SAME;
}

/* Has the access with this head the flag MR_LOG_VOLATILE? */
static inline bool mr_log_is_volatile(uint64_t head)
{
    unsigned kind = mr_log_kind_of(head);
    return kind >= MR_LOG_READ && kind <= MR_LOG_ATOMIC_UPDATE &&
           (mr_log_detail(head) & MR_LOG_VOLATILE);
}

/* Must readers look at the access with this head, though others of its kind may be passed over? */
static inline bool mr_log_is_apart(uint64_t head)
{
    return mr_log_is_volatile(head) || mr_log_is_ignored(head);
}

/* Is it the head of a long record that may be in a run? */
static inline bool mr_log_is_run_long(uint64_t head)
{
    const uint64_t kinds = 1ull << MR_LOG_ENTER | 1ull << MR_LOG_LEAVE | 1ull << MR_LOG_ENTRY |
                           1ull << MR_LOG_READ | 1ull << MR_LOG_WRITE;
    return (kinds >> mr_log_kind_of(head) & 1) && !mr_log_is_apart(head);
}

/* Is the record, of which three words can be read, a range that may be in a run? Code with vectors has many of
 * these. Other ranges are copies of objects, which threads share more often; they part gaps (gaps.h). */
static inline bool mr_log_is_run_range(const uint64_t *record)
{
    return mr_log_is_range(mr_log_kind_of(record[0])) && record[2] == MR_LOG_RUN_BYTES &&
           !mr_log_is_apart(record[0]);
}

/* The next record, when it is a long one that may be in a run: an ENTER as mr_log_expand_enter makes it, a
 * LEAVE, an ENTRY, a READ or WRITE, or a range of 16 bytes. NULL: it is none of these, or padding comes first. */
static inline const uint64_t *mr_log_run_long(mr_log_pass *pass, const mr_log_run *run)
{
    if (run->at >= run->end || mr_log_is_short(*run->at) ||
        (uintptr_t)run->at % sizeof(uint64_t) != 0)
        return NULL;
    const uint64_t *record = (const uint64_t *)(const void *)run->at;
    if (!mr_log_is_run_long(*record) && !mr_log_is_run_range(record))
        return NULL;
    if (mr_log_kind_of(*record) != MR_LOG_ENTER)
        return record;
    return mr_log_expand_enter(run->model, record, pass->expanded) ? pass->expanded : NULL;
}

/* Takes the record of mr_log_run_long. */
static inline void mr_log_run_take_long(mr_log_run *run)
{
    const uint64_t *record = (const uint64_t *)(const void *)run->at;
    unsigned kind = mr_log_kind_of(*record);
    if (kind == MR_LOG_ENTRY)
        mr_log_learn_entry(run->model, record);
    else if (kind == MR_LOG_READ || kind == MR_LOG_WRITE)
        mr_log_learn(run->model, record);
    run->at += 2 * mr_log_words(record, MR_LOG_RUN_UNITS / 2);
}

/* Takes the next `units` units, which a run has read before, and learns what they tell. */
void mr_log_learn_run(mr_log_pass *pass, uint64_t units);

/* Takes the record, and makes a full one of it as mr_log_next does. */
const uint64_t *mr_log_run_record(mr_log_pass *pass, mr_log_run *run,
                                  const mr_log_run_access *access);

/* The number of bytes that a record of an access reads or writes. */
static inline uint64_t mr_log_access_bytes(const uint64_t *record)
{
    return mr_log_is_range(mr_log_kind_of(record[0])) ? record[2] : mr_log_bytes(record[0]);
}

#endif
