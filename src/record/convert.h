/*
 * convert: makes an .mrt trace from the log of a recorded program (runtime/log.h). Two passes go
 * over the log: the first finds the variables (scan.h, pieces.h), the second writes the events
 * (event_pass.h). Between them one looks for buffers that are handed over as a whole (twins.h).
 *
 * An atomic access of memory that other accesses touch in parts becomes several events. The trace
 * gives these events a lock of their own, so that no reordering sees half of the access.
 *
 * An annotated order becomes accesses of a counter: "before" is an atomic update, "after" is an
 * atomic read that sees the number of all "before" so far. The updates also order the "before"
 * among themselves. That may hide races; it never adds one.
 *
 * The value of a piece of more than 8 bytes is a number that stands for its content: equal bytes
 * have equal numbers (a digest of 128 bits tells contents apart).
 */
#ifndef MR_RECORD_CONVERT_H
#define MR_RECORD_CONVERT_H

#include "base/debug.h"
#include "log_reader.h"

#include <stdio.h>

struct mr_progress;

/* How the program ended, by what waited for it. */
typedef struct mr_record_end {
    bool is_known;
    bool timed_out;          /* it was killed for its time */
    int exit_status, signal; /* signal 0: it ended with the status */
    int process;             /* the one that was waited for; 0: not known */
} mr_record_end;

typedef struct mr_record_options {
    bool keep_local; /* also write accesses of variables that one thread uses alone, or that no
                           thread writes */
    bool
        leave_ordered; /* unless keep_local: leave out all that happens-before orders (ordered.h). The
                           trace is for the order shb alone */
    mr_record_end end; /* zero: only the log says it */
    const char *run;   /* lines of the run that the caller knows (positions.h); NULL: none */
    const char
        *strip_prefix;  /* names of files lose their text up to the end of this; NULL: nothing */
    const char *inputs; /* file of what the program got from outside; NULL: none */
    const char *symbol_folder; /* keeps names from run to run (answers.h); may be NULL */
    struct mr_early *early;    /* the first pass, begun beside the program; may be NULL */
    /* Parts of the log (gaps.h) have this length at first, and a pass may jump in each; 0: as always. */
    uint64_t part_units;
    const struct mr_progress *progress; /* may be NULL */
    const mr_debug *debug;              /* topic recorder; may be NULL */
} mr_record_options;

/* What the conversion found in the log and wrote to the trace. */
typedef struct mr_record_summary {
    uint32_t state;                   /* mr_log_state */
    uint32_t inputs_state;            /* mr_inputs_state */
    int32_t log_error;                /* errno of MR_LOG_FULL */
    uint32_t children, child_threads; /* not recorded: those with threads, and the threads */
    uint64_t events;                  /* written */
    uint64_t accesses;                /* in the log */
    uint64_t left_out;                /* accesses that the trace does not have */
    bool left_ordered;                /* among them those that happens-before orders (ordered.h) */
    uint32_t threads, variables, locks;
    uint64_t hand_overs, taken; /* see mr_log_header */
    /* Reads of kept variables that saw another value than the last recorded access left there: code
     * that was not built for recording has written the variable. All reads of such a variable must
     * then see the same write. */
    uint64_t strange_reads;
    char strange_variable[128], strange_location[128]; /* of the first strange read */
    uint64_t dropped;                                  /* records that broke a rule of traces */
    char first_dropped[256];
    uint64_t inferred_posts; /* units of a semaphore that no recorded post gave */
    bool damaged;            /* the rest of the log cannot be read */
} mr_record_summary;

/* `name` stands for the trace in messages. Errors of writing have no place. */
mr_status mr_record_convert(const char *log_path, const char *name, FILE *file,
                            const mr_record_options *options, mr_record_summary *summary,
                            mr_error *error);

#endif
