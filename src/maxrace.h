/*
 * maxrace: predicts the data races that one recorded execution proves possible, each with a checked
 * witness.
 *
 *   mr_trace_open → mr_prediction_run → mr_prediction_race … → mr_prediction_free → mr_trace_close
 *   mr_trace_open → mr_order_report_run → mr_order_report_get_race … → mr_order_report_free
 *
 * This is the only header of the library; examples/library.c and examples/orders.c are complete
 * programs. docs/semantics.md says what a trace, a race and a witness are.
 *
 * Handles are opaque. A function named …_open, …_create or …_run returns a handle, and the caller
 * frees it with …_close, …_destroy or …_free, which accept NULL. Strings and arrays that a function
 * returns belong to the handle passed to it and live as long as the handle. The library copies
 * strings that it keeps.
 *
 * Errors. A function that can fail returns false or NULL and fills the mr_failure passed to it
 * (which may be NULL). Bad input is always such a failure; the library never exits or prints. Two
 * things the caller must get right: indexes and handles. A wrong one, or a bug of the library, may
 * end the process with a line on standard error.
 *
 * Threads. There is no global state. An open trace does not change: any number of threads may use
 * it and run predictions and orders on it at once. Many threads may use a configuration as long as
 * none changes it, and many may read a prediction or a report of an order. A mr_failure belongs to
 * one thread at a time. The limit solver.memory_mb is for the memory of Z3 in the whole process,
 * over all predictions that run.
 */
#ifndef MAXRACE_H
#define MAXRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#if defined(__GNUC__)
#define MR_API __attribute__((visibility("default")))
#else
#define MR_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mr_trace mr_trace;               /* a recorded execution */
typedef struct mr_config mr_config;             /* settings: the keys of config.yaml */
typedef struct mr_prediction mr_prediction;     /* the races of a trace */
typedef struct mr_order_report mr_order_report; /* the races of a whole-trace order */
typedef struct mr_failure mr_failure;           /* why the last call failed */

/* "0.1.0". */
MR_API const char *mr_version(void);

/* ---- failures ---- */

typedef enum mr_failure_kind {
    MR_FAILURE_NONE,
    MR_FAILURE_USAGE,       /* an argument that makes no sense */
    MR_FAILURE_CONFIG,      /* an unknown key, or a value that it does not allow */
    MR_FAILURE_TRACE,       /* the trace, or the witness file, is not well-formed or not valid */
    MR_FAILURE_UNSUPPORTED, /* the analysis cannot take this trace, or not from this input */
    MR_FAILURE_IO,          /* a file or stream could not be read or written */
    MR_FAILURE_MEMORY,      /* out of memory */
    MR_FAILURE_INTERNAL,    /* a bug of maxrace */
    MR_FAILURE_HALTED       /* the run was ended before its time */
} mr_failure_kind;

/* NULL: no memory. One object can be used for any number of calls; each of them overwrites it. */
MR_API mr_failure *mr_failure_create(void);
MR_API void mr_failure_destroy(mr_failure *failure);

/* MR_FAILURE_NONE when the last call succeeded. */
MR_API mr_failure_kind mr_failure_get_kind(const mr_failure *failure);
/* One line, "file:line: what is wrong"; "" when the last call succeeded. Valid until the next call.
 */
MR_API const char *mr_failure_message(const mr_failure *failure);

/* ---- traces ---- */

/*
 * Reads a trace (docs/trace-format.md) from a plain, gzip or zstd file, or from standard input
 * ("-"). With `repair`, events and lines that are not valid are dropped and counted instead of
 * being an error. NULL on failure: TRACE, IO, MEMORY.
 */
MR_API mr_trace *mr_trace_open(const char *path, bool repair, mr_failure *failure);

/* The same with the settings `repair`, `memory.limit_mb` and `memory.spill_dir` of a configuration
 * (NULL: the defaults). A trace that takes more than two fifths of the limit is kept in files
 * (docs/memory.md). mr_trace_open has no limit. */
MR_API mr_trace *mr_trace_open_configured(const char *path, const mr_config *config,
                                          mr_failure *failure);

/* Reads a trace from plain text in memory; the caller may free the text afterwards. Messages name
 * `name` as the file. */
MR_API mr_trace *mr_trace_open_memory(const char *name, const char *text, size_t length_bytes,
                                      bool repair, mr_failure *failure);

/* The caller frees the predictions and order reports of the trace before. */
MR_API void mr_trace_close(mr_trace *trace);

MR_API uint32_t mr_trace_event_count(const mr_trace *trace);
MR_API uint32_t mr_trace_thread_count(const mr_trace *trace);
MR_API uint32_t mr_trace_lock_count(const mr_trace *trace);
MR_API uint32_t mr_trace_variable_count(const mr_trace *trace);
/* Events and lines that `repair` dropped. */
MR_API uint64_t mr_trace_dropped_count(const mr_trace *trace);

/* How the recording ended, and what it could not see, as the recorder tells it in the trace. What is
 * proven of the trace says nothing of what comes after its end. */
typedef struct mr_ending_info {
    bool is_known;       /* false: the trace does not say it, and the rest is empty */
    bool bad;            /* the program crashed, failed an assertion or ended in a deadlock */
    int exit_status;     /* of the program; -1: a signal ended it, or it is not known */
    int signal;          /* that ended the program, 0: not known which; -1: none did */
    const char *stopped; /* what ended the recording before the program ended: "deadlock",
                            "max-events", … (docs/trace-format.md); "": nothing did */
    uint64_t children;   /* child processes that had threads and were not recorded */
    const char *details; /* sentences for people, each ended by a newline; may be "" */
    bool unseen;         /* something synchronises that is not recorded: a race may be false */
} mr_ending_info;

/* Fills `ending`, whose texts are valid as long as the trace is open. */
MR_API void mr_trace_get_ending(const mr_trace *trace, mr_ending_info *ending);

/* An event, with the names of the file. `…_text` is the text for people (#@thread, #@var, #@lock,
 * #@loc), or the name again when there is none. */
typedef struct mr_event {
    uint64_t number;       /* 0-based, over the events of the file */
    uint64_t line;         /* 1-based line of the file */
    const char *operation; /* "r", "w", "acq", … */
    const char *thread, *thread_text;
    const char *operand,
        *operand_text; /* variable, lock or thread; "" when the operation has none */
    const char *location, *location_text;
} mr_event;

/* Fills `event`. number < mr_trace_event_count. O(log events). */
MR_API void mr_trace_get_event(const mr_trace *trace, uint32_t number, mr_event *event);

/* Writes the operation with its operand and value as in the file, "w(x=3)", to `buffer`, always
 * terminated when size_bytes > 0. Returns the length that it needs. */
MR_API size_t mr_trace_event_operation(const mr_trace *trace, uint32_t number, char *buffer,
                                       size_t size_bytes);

/* Writes the trace as a text (docs/trace-format.md). False: IO, MEMORY. */
MR_API bool mr_trace_write_text(const mr_trace *trace, FILE *stream, mr_failure *failure);

/* Reads the trace at `path` as mr_trace_open does, and writes it in the binary format .mrt
 * (docs/mrt-format.md), which is many times faster to read. A text of any size takes memory only
 * for its names, its values and a part of its events. False: TRACE, IO, MEMORY; the output is then
 * incomplete. */
MR_API bool mr_trace_convert(const char *path, bool repair, FILE *stream, mr_failure *failure);

/* ---- configurations: keys and values are those of docs/configuration.md ---- */

/* A configuration with all defaults; NULL: no memory. */
MR_API mr_config *mr_config_create(void);
MR_API void mr_config_destroy(mr_config *config);

/* Sets a key to a value written as in the file: ("window.size", "20000"). False: CONFIG, MEMORY;
 * then nothing changed. The keys format, output, checkpoint, resume, time_limit and witness.dir
 * only work on the command line; repair works for mr_trace_open_configured and
 * mr_order_report_run_file. */
MR_API bool mr_config_assign(mr_config *config, const char *key, const char *value,
                             mr_failure *failure);

/* Sets the keys that a YAML file contains. False: CONFIG (also for a file that cannot be read),
 * MEMORY; then nothing changed. */
MR_API bool mr_config_read_file(mr_config *config, const char *path, mr_failure *failure);

/* The value of a key as it would stand in a file, in `buffer`, always terminated when size_bytes >
 * 0. Returns the length that it needs, or SIZE_MAX when there is no such key. */
MR_API size_t mr_config_get(const mr_config *config, const char *key, char *buffer,
                            size_t size_bytes);

/* ---- predictions ---- */

/*
 * Predicts the races of the trace. `config` may be NULL (all defaults) and is copied; the trace
 * must stay open as long as the prediction is used. True: *prediction is complete. False:
 * UNSUPPORTED, CONFIG, MEMORY, INTERNAL; *prediction then holds the races found before the failure,
 * or is NULL. The caller calls mr_prediction_free in both cases.
 */
MR_API bool mr_prediction_run(const mr_trace *trace, const mr_config *config,
                              mr_prediction **prediction, mr_failure *failure);
MR_API void mr_prediction_free(mr_prediction *prediction);

/* A race. The events before window_start happen as observed, then the events of `witness` in this
 * order, and then `first` and `second` are both possible. Every race has been accepted by the
 * checker (mr_check_witness). */
typedef struct mr_race_info {
    uint32_t first, second; /* event numbers; of kind "race" first < second */
    uint32_t window_start,
        window_end;          /* the events of `witness` are in [window_start, window_end) */
    const uint32_t *witness; /* event numbers */
    uint32_t witness_count;
    /* the strongest order that leaves the two unordered: "hb", "wcp", "beyond-wcp"; "c17" for the kind
     * "memory-order" */
    const char *order;
    /* the step that found the witness: "linearise", "saturate", "z3", "far" */
    const char *confirmed_by;
    /* "race"; or "memory-order": `first` is in `witness`, and happens-before of C17 does not order it
     * before `second`, which is next (docs/semantics.md 8). These stand behind the races. */
    const char *kind;
} mr_race_info;

/* With candidates.report "static" one race for each pair of locations, else one for each pair of
 * events; ordered by (second, first). */
MR_API size_t mr_prediction_race_count(const mr_prediction *prediction);
MR_API void mr_prediction_get_race(const mr_prediction *prediction, size_t index,
                                   mr_race_info *race);

/* An unknown: a candidate whose verdict is unknown. */
typedef struct mr_unknown_info {
    uint32_t first, second, window_start, window_end; /* as in mr_race_info */
    const char *order;
    const char *reason; /* "time", "memory", "size", "budget", "solver", "steps", "rejected" */
    const char *detail; /* the solver's own words; may be "" */
} mr_unknown_info;

MR_API size_t mr_prediction_unknown_count(const mr_prediction *prediction);
MR_API void mr_prediction_get_unknown(const mr_prediction *prediction, size_t index,
                                      mr_unknown_info *unknown);

/* What is found beside races (docs/semantics.md 7): the events before window_start happen as observed,
 * then the events of `witness` in this order, and then what the kind says. The checker has accepted it
 * (mr_check_finding). */
#define MR_NO_EVENT UINT32_MAX
typedef struct mr_finding_info {
    /* "use-after-free"        first, a free, has happened; second, a use of the object, is next
     * "deadlock"              the acquires `waits` are next, and the thread of each holds the lock of
     *                         the one before it; first and second are the first two
     * "null"                  second, a read whose value its thread uses as an address, is next; first,
     *                         the last write, wrote 0; MR_NO_EVENT: the initial value is 0
     * "dangling",             likewise; first wrote an address in memory that `freed` has freed; the
     * "double-free"           thread uses it, or frees it again
     * "sees"                  second, a read, is next; first is the last write */
    const char *kind;
    uint32_t first, second, freed; /* MR_NO_EVENT: the kind has none */
    const uint32_t *waits;
    uint32_t wait_count;
    uint32_t window_start, window_end;
    const uint32_t *witness;
    uint32_t witness_count;
    const char *confirmed_by; /* as in mr_race_info */
} mr_finding_info;

/* The key `find` says what is looked for; with the key `sees` the answer to it is the only finding, or
 * an unknown, or neither: it is impossible. Ordered by kind, then by (second, first). */
MR_API size_t mr_prediction_finding_count(const mr_prediction *prediction);
MR_API void mr_prediction_get_finding(const mr_prediction *prediction, size_t index,
                                      mr_finding_info *finding);

/* A finding that nothing has proven or refuted. */
typedef struct mr_finding_unknown_info {
    const char *kind;
    uint32_t first, second, window_start, window_end; /* two of its events; what was looked at */
    const char *reason, *detail;                      /* as in mr_unknown_info */
} mr_finding_unknown_info;

MR_API size_t mr_prediction_finding_unknown_count(const mr_prediction *prediction);
MR_API void mr_prediction_get_finding_unknown(const mr_prediction *prediction, size_t index,
                                              mr_finding_unknown_info *unknown);

/* Writes the report of `maxrace predict`, as text for people or as JSON (docs/report-format.md).
 * False: IO, MEMORY. */
MR_API bool mr_prediction_write_text(const mr_prediction *prediction, FILE *stream,
                                     mr_failure *failure);
MR_API bool mr_prediction_write_json(const mr_prediction *prediction, FILE *stream,
                                     mr_failure *failure);

/* Writes the witness of a race, of a finding, as a file for mr_check_witness_file
 * (docs/witness-format.md). False: IO. */
MR_API bool mr_prediction_write_witness(const mr_prediction *prediction, size_t index, FILE *stream,
                                        mr_failure *failure);

MR_API bool mr_prediction_write_finding(const mr_prediction *prediction, size_t index, FILE *stream,
                                        mr_failure *failure);

/* ---- whole-trace orders: HB, FHB, SHB, CP, WCP, SyncP (docs/orders.md) ---- */

/*
 * Runs the order that the key `relation` of the configuration names on the whole trace, and then
 * proves static races as the keys mark, confirm and witness.check say. `config` may be NULL (all
 * defaults; the order is shb) and is copied; the trace must stay open as long as the report is
 * used. True: *report is complete. False: UNSUPPORTED, CONFIG, MEMORY, INTERNAL; *report then holds
 * the races found and proven before the failure, or is NULL. The caller calls mr_order_report_free
 * in both cases.
 */
MR_API bool mr_order_report_run(const mr_trace *trace, const mr_config *config,
                                mr_order_report **report, mr_failure *failure);

/*
 * The same on a file ("-" is standard input) of any size. hb, fhb, shb, wcp and hybrid read the events one
 * after the other; the trace is loaded only when races are to be proven, and never with
 * witness.check false (fhb, shb) or mark false (hb, wcp). cp, syncp and c17 load it. The key
 * repair works here. Fails also with TRACE and IO; *report is then about the events before the
 * damage.
 */
MR_API bool mr_order_report_run_file(const char *path, const mr_config *config,
                                     mr_order_report **report, mr_failure *failure);
MR_API void mr_order_report_free(mr_order_report *report);

/* What an order found. A racy event is the second access of at least one reported pair; a static
 * race is the unordered pair of the locations of a reported pair. */
typedef struct mr_order_counts {
    const char *relation; /* "hb", "fhb", "shb", "cp", "wcp", "syncp", "c17", "hybrid" */
    bool sound;           /* is each pair that it reports a race? (fhb, shb, syncp) */
    bool complete;        /* was all of the trace analysed? */
    uint64_t events;      /* that were analysed */
    uint64_t racy_events;
    uint32_t racy_locations, racy_variables;
    size_t static_races;
    size_t proven;     /* static races with a witness, or sound by theorem */
    size_t candidates; /* static races that nothing has proven or refuted */
} mr_order_counts;

MR_API void mr_order_report_get_counts(const mr_order_report *report, mr_order_counts *counts);

/* A static race. */
typedef struct mr_order_race_info {
    /* "race": the checker accepted a witness; "sound": proven by theorem, no witness was asked for;
     * "candidate"; "no-race", "unknown": the answers of `confirm` (docs/orders.md) */
    const char *status;
    /* of race and sound: "fhb", "shb", "syncp", "c17", "first", "decision"
     * (docs/report-format.md); else "" */
    const char *proved_by;
    size_t example_count; /* at least 1, at most the key `examples` */
    /* For the status race: a witness as in a prediction. Its model is rf unless `proved_by` is
     * decision. Its two accesses need not be an example. `order` and `confirmed_by` are "". */
    bool has_witness;
    mr_race_info witness;
} mr_order_race_info;

/* index < static_races; they are ordered by the second access of their first example. */
MR_API void mr_order_report_get_race(const mr_order_report *report, size_t index,
                                     mr_order_race_info *race);

/* The two accesses of an example of a static race, in the order of the trace. Example 0 is the
 * reported pair with the earliest second access, and of several such pairs the one with the latest
 * first access. */
MR_API void mr_order_report_get_example(const mr_order_report *report, size_t index, size_t example,
                                        mr_event *first, mr_event *second);

/* Writes the report of `maxrace order`. False: IO, MEMORY. */
MR_API bool mr_order_report_write_text(const mr_order_report *report, FILE *stream,
                                       mr_failure *failure);
MR_API bool mr_order_report_write_json(const mr_order_report *report, FILE *stream,
                                       mr_failure *failure);

/* ---- the checker: is a witness right? It replays the witness on the trace and shares no code with
 * the prediction. BarrierPairs are treated as `opaque: pair` says. ---- */

typedef enum mr_judgement {
    MR_ACCEPTED,
    MR_REJECTED,  /* the message of the mr_failure says which rule is broken where; its kind is NONE
                   */
    MR_NOT_JUDGED /* UNSUPPORTED, TRACE (not a witness of this trace), USAGE, IO, MEMORY */
} mr_judgement;

/* `race->order` and `confirmed_by` are ignored; `kind` may be NULL, for a race; any numbers are allowed, wrong ones are rejected.
 * `model`: "rf", "value" or "branch". O(events of the trace). */
MR_API mr_judgement mr_check_witness(const mr_trace *trace, const char *model,
                                     const mr_race_info *race, mr_failure *failure);

/* The same for a finding; `confirmed_by` is ignored. USAGE: there is no such kind. */
MR_API mr_judgement mr_check_finding(const mr_trace *trace, const char *model,
                                     const mr_finding_info *finding, mr_failure *failure);

/* The same for a witness file; "-" is standard input. `model` may be NULL: the file's own, or
 * "value" when it names none. */
MR_API mr_judgement mr_check_witness_file(const mr_trace *trace, const char *model,
                                          const char *path, mr_failure *failure);

#ifdef __cplusplus
}
#endif

#endif
