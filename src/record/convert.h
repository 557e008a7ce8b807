/*
 * convert: the log of a recorded program (runtime/log.h) → an .mrt trace. Two passes over the log:
 * the first one finds the variables (pieces.h), the second one writes the events.
 *
 * Atomic accesses of memory that is also accessed in parts are several events each; a lock of their
 * own keeps them in one, so that no reordering sees half of one. Annotated orders are atomic
 * updates ("before") and reads ("after") of a counter: an "after" sees the number of all "before"
 * so far. That also orders the "before" among themselves; it hides races, it invents none.
 *
 * Values of pieces of more than 8 bytes stand for their content: the same number for the same bytes
 * (told by a digest of 128 bits).
 */
#ifndef MR_RECORD_CONVERT_H
#define MR_RECORD_CONVERT_H

#include "base/debug.h"
#include "log_reader.h"

#include <stdio.h>

struct mr_progress;

typedef struct mr_record_options {
    bool
        keep_local; /* also write accesses of variables that only one thread uses, or none writes */
    const struct mr_progress *progress; /* NULL: nobody wants to know */
    const mr_debug *debug;              /* NULL: nobody listens (topic recorder) */
} mr_record_options;

/* What the log and the trace hold. */
typedef struct mr_record_summary {
    uint32_t state;    /* mr_log_state */
    uint64_t events;   /* written */
    uint64_t accesses; /* in the log */
    uint64_t left_out; /* of these, of variables that are not kept */
    uint32_t threads, variables, locks;
    uint64_t hand_overs, taken; /* see mr_log_header */
    /* Reads that did not see what the last recorded write of the variable wrote, or what the read
     * before it saw: code that was not built for recording wrote there. Of these, those of kept
     * variables, which are treated by their sources then. */
    uint64_t strange_reads, strange_kept;
    char strange_variable[128], strange_location[128]; /* of the first of the latter */
    uint64_t dropped;                                  /* records that broke a rule of traces */
    char first_dropped[256];
    uint64_t inferred_posts; /* units of a semaphore that another process must have given */
    bool damaged;            /* the log makes no sense after the part that was read */
} mr_record_summary;

/* `name` stands for the trace in messages. Errors of writing have no place. */
mr_status mr_record_convert(const char *log_path, const char *name, FILE *file,
                            const mr_record_options *options, mr_record_summary *summary,
                            mr_error *error);

#endif
