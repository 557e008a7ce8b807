/*
 * order_result: the races of a whole-trace order on a trace, and their proofs, as plain data.
 * Filled by src/sweep, written by src/report.
 */
#ifndef MR_SWEEP_ORDER_RESULT_H
#define MR_SWEEP_ORDER_RESULT_H

#include "base/halt.h"
#include "base/model.h"
#include "order/race_list.h"
#include "order/relation.h"
#include "trace/observed.h"
#include "witness/witness.h"

/* The standing of a static race. Only MR_STANDING_RACE has a witness. */
typedef enum mr_standing {
    MR_STANDING_RACE,      /* "race": the checker accepted a witness */
    MR_STANDING_SOUND,     /* "sound": proven by a theorem; no witness was asked for */
    MR_STANDING_CANDIDATE, /* "candidate": nothing proves it, nothing refutes it */
    MR_STANDING_NO_RACE,   /* "no-race": no example is a race, in the windows looked at */
    MR_STANDING_UNKNOWN,   /* "unknown": the question had no answer */
    MR_STANDING_COUNT
} mr_standing;

/* The proof of a static race. */
typedef enum mr_proof {
    MR_PROOF_NONE,     /* "" */
    MR_PROOF_FIRST,    /* "first": no race of happens-before comes before it */
    MR_PROOF_FHB,      /* "fhb": it is a race of FHB */
    MR_PROOF_SHB,      /* "shb": it is a race of SHB */
    MR_PROOF_SYNCP,    /* "syncp": it is a race of SyncP */
    MR_PROOF_C17,      /* "c17": a memory-order race of the recorded order */
    MR_PROOF_DECISION, /* "decision": the decision procedure, with `confirm` */
    MR_PROOF_COUNT
} mr_proof;

const char *mr_standing_name(mr_standing standing);
const char *mr_proof_name(mr_proof proof);

/* Standing and proof of the static race with the same index in the list. */
typedef struct mr_order_race {
    mr_standing standing;
    mr_proof proof;
    /* MR_STANDING_RACE: owned. Its two accesses have the locations of the static race; they need
     * not be an example of the list. */
    mr_witness witness;
    mr_unknown_reason reason; /* MR_STANDING_UNKNOWN */
    char detail[64];          /* MR_STANDING_UNKNOWN: the solver's own words; may be empty */
    /* MR_STANDING_NO_RACE, _UNKNOWN: the window of the last example that was asked */
    uint32_t window_start, window_end;
} mr_order_race;

typedef struct mr_order_stats {
    /* find: the order itself. read: includes waiting for the thread that reads. load: reading the
     * trace into memory, for witnesses. */
    double read_seconds, find_seconds, load_seconds, mark_seconds, confirm_seconds, total_seconds;
    uint64_t rejected_witnesses; /* rejected by the checker; not 0: a bug of maxrace */
    uint64_t peak_memory_bytes;
    uint64_t queries_stopped_by_time, queries_stopped_by_memory; /* as in mr_run_figures */
} mr_order_stats;

typedef struct mr_order_result {
    mr_relation relation;
    bool complete;             /* all of the trace was analysed */
    mr_halt_reason halted;     /* why not, or why not all races were proven; NONE: no halt */
    bool recorded_only;        /* set by the caller: the report says that nothing was predicted */
    bool is_long;              /* the trace cannot be held in memory for proofs (MR_NESTED) */
    mr_race_list list;         /* racy events, static races, examples */
    mr_order_race *races;      /* one a static race of the list */
    mr_observed_list observed; /* errors that happened in the recorded execution itself */
    bool observed_untold;      /* there are, but the file could not be read again for them */
    uint64_t counts[MR_STANDING_COUNT];
    mr_order_stats stats;
} mr_order_result;

/* Frees the members, not the struct. A zeroed result is fine. */
void mr_order_result_free(mr_order_result *result);

#endif
