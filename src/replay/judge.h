/*
 * judge: what a race does to the program, from runs that went on after the goal: one with each access
 * first, and one as recorded.
 */
#ifndef MR_REPLAY_JUDGE_H
#define MR_REPLAY_JUDGE_H

#include "changes.h"
#include "trace/trace.h"

/* The worst first. */
typedef enum mr_effect {
    MR_EFFECT_CRASHES,
    MR_EFFECT_DEADLOCKS,
    MR_EFFECT_OUTPUT,
    MR_EFFECT_STATE,
    MR_EFFECT_NONE,
    MR_EFFECT_UNKNOWN, /* the goal was not reached */
} mr_effect;

/* "crashes", "deadlocks", "changes the output", … */
const char *mr_effect_text(mr_effect effect);
/* For programs: "crashes", "deadlocks", "output", "state", "none", "unknown". */
const char *mr_effect_name(mr_effect effect);

/* The last value that was written to a variable. */
typedef struct mr_last_value {
    char *name, *text; /* owned; text: the value as people read it */
    int64_t value;
} mr_last_value;

/* How a run ended. Zero-initialise; free with mr_run_end_free. */
typedef struct mr_run_end {
    bool is_there;
    int exit_status, signal; /* signal 0: it ended with the status */
    int process;             /* that it had */
    bool deadlocked, timed_out;
    bool starved; /* it waited for inputs that the recording does not have, and was ended there */
    bool refused; /* it could not change a file as the recorded run did */
    char *output, *errors; /* owned; what it wrote to standard output and standard error, or NULL */
    mr_last_value *last;   /* owned; by name */
    size_t last_count;
    bool output_varies;       /* from run to run, whatever the order: it says nothing of the race */
    bool has_values;          /* its log was read: `last` and `errors_observed` are known */
    uint32_t errors_observed; /* uses of freed memory and misuse */
    mr_changes changes;       /* of files, in a sandbox */
} mr_run_end;

void mr_run_end_free(mr_run_end *end);

/* Takes the last values and the observed errors from the trace of the run. Left out are variables
 * whose names say an address or the order of allocations. False: no memory. */
bool mr_run_end_take(mr_run_end *end, const mr_trace *trace);

/* Did both write the same, but for lines of maxrace itself? */
bool mr_run_end_writes_same(const mr_run_end *a, const mr_run_end *b);

enum { MR_EVIDENCE_BYTES = 512 };

/* Is there in what a run wrote to standard error the runtime's word that a file could not be changed? */
bool mr_run_end_is_refused(const char *errors);

/* `evidence` is one sentence, or empty. `recorded` may be one that is not there. A run that could not change a file as the
 * recorded one did says nothing of the race: then the effect is unknown. */
mr_effect mr_judge(const mr_run_end *recorded, const mr_run_end *first, const mr_run_end *second,
                   char *evidence);

#endif
