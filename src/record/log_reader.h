/*
 * log_reader: the records of a log (runtime/log.h), one after the other, with what they say of
 * threads and memory kept up to date. Two passes over the same log give the same lives and objects.
 *
 *   mr_log_open → (mr_log_pass_init → mr_log_next* → mr_log_pass_free)* → mr_log_close
 */
#ifndef MR_RECORD_LOG_READER_H
#define MR_RECORD_LOG_READER_H

#include "base/error.h"
#include "lifetimes.h"

#include "runtime/log_short.h"

typedef struct mr_log {
    mr_log_header header;
    const uint32_t *units;  /* the records in the file, in 32-bit units */
    const uint32_t *window; /* and after them those in the window */
    uint64_t file_units;
    uint64_t unit_count; /* of both */
    uint64_t open_unit;  /* in a write whose value never came; UINT64_MAX: there is none */
    void *map;
    uint64_t map_bytes;
} mr_log;

/* MR_ERR_TRACE: it is no log, or of another version; MR_ERR_IO. */
mr_status mr_log_open(mr_log *log, const char *path, mr_error *error);
void mr_log_close(mr_log *log);

/* A log with more threads makes no sense. */
enum { MR_LOG_THREADS_MAX = 1 << 24 };

typedef struct mr_log_pass {
    const mr_log *log;
    uint64_t next; /* unit of the next record */
    mr_log_model *model;
    uint64_t expanded[MR_LOG_EXPANDED_WORDS];
    uint32_t thread; /* whose record it is */
    mr_lifetimes lives;
    bool failed; /* no memory */
} mr_log_pass;

void mr_log_pass_init(mr_log_pass *pass, const mr_log *log);
void mr_log_pass_free(mr_log_pass *pass);

/* The next record, valid until the next call; NULL at the end, or where the log makes no sense any
 * more. Accesses are READ and WRITE records, none is short; ENTER records are as
 * mr_log_expand_enter makes them. Records of memory have taken effect. */
const uint64_t *mr_log_next(mr_log_pass *pass);

/* The bytes that a record of an access is about: address and number. */
static inline uint64_t mr_log_access_bytes(const uint64_t *record)
{
    return mr_log_is_range(mr_log_kind_of(record[0])) ? record[2] : mr_log_bytes(record[0]);
}

#endif
