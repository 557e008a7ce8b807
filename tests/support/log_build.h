/* log_build: logs of recorded programs (runtime/log.h) for tests, record by record, and what they
 * become. */
#ifndef MR_TESTS_SUPPORT_LOG_BUILD_H
#define MR_TESTS_SUPPORT_LOG_BUILD_H

#include "record/convert.h"
#include "trace/trace.h"

typedef struct mr_log_build {
    uint64_t *words;
    size_t count, capacity;
} mr_log_build;

void mr_log_put(mr_log_build *log, uint64_t word);
void mr_log_switch(mr_log_build *log, uint32_t thread);
/* A record of three words. */
void mr_log_object(mr_log_build *log, unsigned kind, unsigned role, uint64_t address, uint64_t code,
                   unsigned count, uint64_t number);
/* The same without a number, at a place of its kind. */
void mr_log_use(mr_log_build *log, unsigned kind, unsigned role, uint64_t address);
/* A semaphore at 0xa000: one more of its units, or one less where there is one. */
void mr_log_message(mr_log_build *log, bool posts, uint32_t *units);
/* An access of 1, 2, 4 or 8 bytes; small values in the short form. */
void mr_log_access(mr_log_build *log, unsigned kind, uint64_t address, unsigned bytes,
                   uint64_t code, int64_t value);
void mr_log_update(mr_log_build *log, uint64_t address, unsigned bytes, uint64_t code, int64_t old,
                   int64_t new);
void mr_log_range(mr_log_build *log, unsigned kind, uint64_t address, uint64_t code,
                  const void *bytes, size_t count);
/* The entry of a function: ENTRY and ENTER. `frame` is the frame pointer, 0: none is known. */
void mr_log_enter(mr_log_build *log, uint64_t caller, uint64_t code, uint64_t stack,
                  uint64_t frame);
void mr_log_build_free(mr_log_build *log);

/* Converts the log and reads the trace, which is the caller's; the test fails when that fails. Also
 * makes the same log of short records, of which jumps must not change the trace. */
mr_trace *mr_log_converted(const mr_log_build *log, bool keep_local, mr_record_summary *summary);
/* Converts the whole file, and reads the trace; `*trace` is NULL unless the status is MR_OK.
 * `options` NULL: all are zero. */
mr_status mr_log_try(const void *bytes, size_t count, const mr_record_options *options,
                     mr_record_summary *summary, mr_trace **trace, mr_error *error);
/* Converts the whole file; the test fails when that fails. Returns the bytes of the trace, to be freed. */
void *mr_log_trace(const void *bytes, size_t count, mr_record_options options, size_t *size);
/* The same, with the first pass beside one that makes the file grow, in `steps` steps. Of the options
 * those of mr_early_start count, too. */
void *mr_log_trace_beside(const void *bytes, size_t count, mr_record_options options,
                          uint32_t steps, size_t *size);
/* The whole file: header and records, to be freed. */
void *mr_log_file(const mr_log_build *log, size_t *count);

/* The same file with short records; NULL: it is damaged, or still open. Freed by the caller. */
void *mr_log_shorten(const void *bytes, size_t *count);

/* Fails the test unless the events are these, one a line: "T0|w(x=1)". */
void mr_log_expect(const mr_trace *trace, const char *events);

#endif
