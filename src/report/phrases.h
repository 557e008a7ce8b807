/* phrases: texts that several reports have; for the files of src/report only. */
#ifndef MR_REPORT_PHRASES_H
#define MR_REPORT_PHRASES_H

#include "base/model.h"
#include "config/config.h"
#include "predict/result.h"
#include "trace/trace.h"

#include <stdio.h>

/* An access as reports show it. */
typedef struct mr_access {
    uint64_t event;
    uint32_t thread, location;
    uint32_t variable; /* of a free, that of the other access */
    uint8_t op;
} mr_access;

mr_access mr_access_of_event(const mr_trace *trace, uint32_t event, uint32_t other);

const char *mr_phrase_s(uint64_t count); /* "s", or "" for 1 */
/* "3 events", then `after`. */
void mr_phrase_count(FILE *stream, uint64_t count, const char *noun, const char *after);
/* The name, with its text for people before it: "bank.balance (V12)". */
void mr_phrase_name(FILE *stream, const mr_names *names, uint32_t number);
/* The line "bank.std: 11 events, 2 threads, 1 lock, 2 variables", and the line about repair, which
 * is left out when nothing was dropped. */
void mr_phrase_trace(FILE *stream, const mr_trace *trace);
void mr_phrase_dropped(FILE *stream, const mr_trace *trace);
/* The line "the program was ended by signal 6 (Aborted)", a line for each detail, and one about what
 * was not seen; nothing when all went well. */
void mr_phrase_ending(FILE *stream, const mr_ending *ending);
/* The line of a race that what was not seen could make impossible; nothing when all was seen. */
void mr_phrase_unseen(FILE *stream, const mr_ending *ending);
/* " in the 12 events up to signal 6 (Aborted)": a trace proves nothing of what comes later. */
void mr_phrase_scope(FILE *stream, const mr_trace *trace);

/* What a prediction in so many windows has not looked for, because the settings say so: "pairs farther
 * apart than a window (300 events)"; "" when it looked for everything. */
enum { MR_NOT_LOOKED_BYTES = 256 };
const char *mr_phrase_not_looked(const mr_config *config, uint64_t windows,
                                 char text[MR_NOT_LOOKED_BYTES]);
/* Is the place known? A recorded event without one is at "?". */
bool mr_phrase_has_place(const mr_trace *trace, uint32_t location);
/* "at bank.c:21 by teller (T1)". A life without a place is that of a thread's stack: "at the end of teller (T1)". */
void mr_phrase_place(FILE *stream, const mr_trace *trace, mr_access access);
/* The line "  first   write at bank.c:21 (21) by teller (T1), event 3, line 18". Needs no columns.
 */
void mr_phrase_access(FILE *stream, const char *label, const mr_trace *trace, mr_access access);
/* The same line with another word than that of the operation. */
void mr_phrase_deed(FILE *stream, const char *label, const char *deed, const mr_trace *trace,
                    mr_access access);

/* The line about the step that found the witness. */
void mr_phrase_found_by(FILE *stream, mr_step step);
/* The line on the replay, with the effect (NULL: not known); nothing where none was asked for. */
void mr_phrase_confirmed(FILE *stream, mr_confirmed confirmed, const char *effect);

typedef struct mr_phrase_stage {
    const char *name;
    double seconds;
} mr_phrase_stage;

/* Lines of the summary and of the section on the run. In this order: the total time, with the
 * stages that took a notable part of it; such stages without a total, after `head`; the memory;
 * queries of Z3 that the bound on time or memory ended; rejected witnesses. A line with nothing to
 * say is left out. */
void mr_phrase_seconds(FILE *stream, double total_seconds, const mr_phrase_stage *stages,
                       size_t count);
void mr_phrase_stages(FILE *stream, const char *head, const mr_phrase_stage *stages, size_t count);
void mr_phrase_memory(FILE *stream, uint64_t peak_bytes);
void mr_phrase_stopped(FILE *stream, uint64_t by_time, uint64_t by_memory);
void mr_phrase_rejected(FILE *stream, uint64_t count);

/* MR_ERR_IO, for a stream that failed with errno; `path` (may be NULL) is the file behind it. */
mr_status mr_report_write_failed(const char *path, mr_error *error);
/* The end of a report that was written with `status`: that, or MR_ERR_IO when the stream did not take all. */
mr_status mr_report_finish(FILE *stream, const mr_config *config, mr_status status,
                           mr_error *error);

#endif
