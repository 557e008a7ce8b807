/*
 * settings: the configuration of a prediction in the form that workers need. Read once, and shared
 * by all workers.
 */
#ifndef MR_PREDICT_SETTINGS_H
#define MR_PREDICT_SETTINGS_H

#include "base/halt.h"
#include "base/room.h"
#include "config/config.h"
#include "facts.h"
#include "solver/decide.h"
#include "windows/candidates.h"
#include "windows/plan.h"

/* How many event pairs of a pair of places are kept. Those TRIED are tried one by one in trace
 * order, before the two places are decided as a whole. Those CHOSEN, by HB or WCP, are decided one
 * by one. */
enum { MR_PAIRS_TRIED = 256, MR_PAIRS_CHOSEN = 65536 };

/* More chains of threads (trace/chains.h) are many: each clock has an entry for each, and most questions have nearly all events of
 * their window in their cone. */
enum { MR_MANY_CHAINS = 32 };

/* The budgets of far races (window.far_*). */
typedef struct mr_far_limits {
    uint32_t size;          /* of a far window, in events of the reduced trace; 0: all of them */
    uint64_t per_race, all; /* effort for one pair of places, and for all together; 0: no limit */
    mr_strength weakest;    /* a pair of places without a pair of that strength is passed over */
} mr_far_limits;

/* The option `sees`: can the read see the write or, where `value` is not 0, one of that value index? */
typedef struct mr_sees {
    uint32_t read, write, value; /* write: MR_NONE with a value */
} mr_sees;

typedef struct mr_predict_settings {
    const mr_trace *trace;
    mr_barrier_edges opaque; /* of the whole trace; owned */
    mr_opaque calls;         /* which edges BarrierPairs have */
    mr_window_plan plan;
    mr_model model;
    unsigned find; /* MR_FIND_RACES …; 0 with `asks_sees` */
    bool explain_cycles;
    bool asks_sees;
    mr_sees sees;
    bool by_event; /* candidates.report: event */
    bool minimise;
    uint64_t crowded;          /* candidates.crowded; 0: never */
    bool is_crowded;           /* the trace is (crowded.h); set by the engine before the windows */
    bool is_walked;            /* likewise: walks with leads have gone through it (walks.h) */
    uint64_t defer;            /* candidates.defer; 0: never */
    bool defers;               /* windows leave their questions (deferred.h); set by the engine */
    bool is_wide;              /* likewise: they leave all, as it has many threads and is short */
    uint64_t max_unanswered;   /* candidates.max_unanswered; 0: no limit */
    uint64_t max_window_steps; /* candidates.max_window_steps; 0: no limit */
    mr_decide_options decide;
    mr_candidate_options candidates; /* without `wanted` */
    bool *ignored_locations;         /* owned; NULL: none */
    mr_far far;
    mr_far_limits far_limits;
    mr_facts *facts;       /* owned */
    mr_room *room;         /* memory.limit_mb; owned; NULL: no limit. `decide` has it, too */
    const mr_debug *debug; /* NULL: nobody listens. `decide` has it, too */
    const mr_halt *halt;   /* NULL: nobody stops the run */
} mr_predict_settings;

/* The windows of a trace. */
mr_window_plan mr_predict_settings_plan(const mr_trace *trace, const mr_config *config);
/* How far beyond the windows races are looked for. */
mr_far mr_predict_settings_far(const mr_config *config);

/* `settings` is to be freed also after an error: MR_ERR_MEMORY; MR_ERR_CONFIG when `sees` names events
 * that it cannot be asked about. */
mr_status mr_predict_settings_read(mr_predict_settings *settings, const mr_trace *trace,
                                   const mr_config *config, mr_error *error);
void mr_predict_settings_free(mr_predict_settings *settings);

/* The options of one decision, from the options `solver.…` of `config`. */
mr_decide_options mr_predict_limits(const mr_config *config);

/* Does one question ask about all accesses of two places? */
bool mr_predict_settings_ask_sites(const mr_predict_settings *settings);

#endif
