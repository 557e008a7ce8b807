/*
 * settings: what a prediction does, read once from the configuration and shared by all workers.
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

/* Event pairs kept of a static race: those tried one by one in trace order before its sites are
 * decided as a whole; and, when HB or WCP choose the pairs, those decided one by one. */
enum { MR_PAIRS_TRIED = 256, MR_PAIRS_CHOSEN = 65536 };

/* What far races may cost (window.far_*). */
typedef struct mr_far_limits {
    uint32_t size;          /* of a far window, events of the reduced trace; 0: all of it */
    uint64_t per_race, all; /* work for a static race and in all; 0: no limit */
    mr_strength weakest;    /* static races without a pair of that strength are not looked at */
} mr_far_limits;

typedef struct mr_predict_settings {
    const mr_trace *trace;
    mr_barrier_edges opaque; /* of the whole trace; owned */
    mr_opaque calls;         /* which calls have edges */
    mr_window_plan plan;
    mr_model model;
    bool by_event; /* candidates.report: event */
    bool minimise;
    uint64_t max_unanswered;   /* candidates.max_unanswered; 0: no limit */
    uint64_t max_window_steps; /* candidates.max_window_steps; 0: no limit */
    mr_decide_options decide;
    mr_candidate_options candidates; /* without `wanted` */
    uint8_t *ignored_locations;      /* owned; NULL: none */
    mr_far far;
    mr_far_limits far_limits;
    mr_facts *facts;     /* owned */
    mr_room *room;       /* the memory of the process; owned; NULL: no limit. Also in `decide` */
    const mr_halt *halt; /* NULL: nobody stops the run */
} mr_predict_settings;

/* The windows of a trace. */
mr_window_plan mr_predict_settings_plan(const mr_trace *trace, const mr_config *config);
/* How far beyond them races are looked for. */
mr_far mr_predict_settings_far(const mr_config *config);

/* `settings` is to be freed also after an error: MR_ERR_MEMORY. */
mr_status mr_predict_settings_read(mr_predict_settings *settings, const mr_trace *trace,
                                   const mr_config *config, mr_error *error);
void mr_predict_settings_free(mr_predict_settings *settings);

/* The limits of one decision, as `config` has them under solver. */
mr_decide_options mr_predict_limits(const mr_config *config);

/* Are all accesses of two sites asked about at once? */
bool mr_predict_settings_ask_sites(const mr_predict_settings *settings);

#endif
