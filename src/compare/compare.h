/*
 * compare: all relations and both models on one trace: who finds what, and is the theory kept?
 *
 * A *finder* is a whole-trace order (src/order) or a prediction with a model (src/predict). Static
 * races (unordered pairs of locations) are what all finders have in common; the orders count racy
 * events, too (race_list.h), and predictions name what they could not decide.
 *
 * What must hold on every trace (docs/semantics.md 6) is checked, by static races and where both
 * sides count them by racy events:
 *
 *   fhb in shb in hb in cp in wcp;  shb in syncp in rf in value in branch
 *
 * A static race that the greater side left unknown is no breach. syncp in rf is only demanded when
 * the prediction may look at everything: prefilter all, far syncp, no ignored locations.
 */
#ifndef MR_COMPARE_COMPARE_H
#define MR_COMPARE_COMPARE_H

#include "base/progress.h"
#include "config/config.h"
#include "order/relation.h"
#include "trace/trace.h"

/* A finder is a number: an mr_relation, or one of these. */
enum { MR_FINDER_RF = MR_RELATION_COUNT, MR_FINDER_VALUE, MR_FINDER_BRANCH, MR_FINDER_COUNT };

const char *mr_finder_name(int finder); /* "hb" … "syncp", "rf", "value", "branch" */

/* Reads a comma-separated list of finders into a set (bit f: finder f). MR_ERR_CONFIG. */
mr_status mr_finder_parse(const char *list, unsigned *finders, mr_error *error);

typedef struct mr_finding {
    bool done; /* asked for, and it came to its end */
    uint32_t static_races;
    uint32_t only;           /* static races that no other finder reports */
    bool counts_events;      /* are the next three there? (orders) */
    uint64_t racy_events;    /* second accesses of reported pairs */
    uint32_t racy_locations; /* their locations */
    uint32_t racy_variables; /* their variables */
    uint32_t unknown;        /* static races without verdict (predictions) */
    double seconds;          /* of this finder alone, on the trace in memory */
} mr_finding;

/* A static race that at least one finder reports. */
typedef struct mr_compared_race {
    uint32_t low, high;            /* locations, low <= high */
    uint32_t first, second;        /* an event pair of it, of the first finder that reports it */
    uint32_t found_by, unknown_by; /* sets of finders */
} mr_compared_race;

/* A breach of a containment: a bug of maxrace. */
typedef struct mr_breach {
    int smaller, greater; /* finders */
    bool by_event;        /* `event` is racy in the smaller only; else: the static race */
    uint32_t event;
    uint32_t low, high;
} mr_breach;

typedef struct mr_comparison {
    const mr_trace *trace; /* on loan */
    unsigned finders;      /* asked for */
    mr_finding findings[MR_FINDER_COUNT];
    mr_compared_race *races; /* in the order of (low, high) */
    size_t race_count, race_capacity;
    mr_breach *breaches; /* the first of each containment, by event and by static race */
    size_t breach_count, breach_capacity;
    double read_seconds; /* for the caller to fill */
} mr_comparison;

/*
 * Runs the finders in `finders` one after the other. `comparison` is overwritten and freed with
 * mr_comparison_free, also after an error: it then holds the findings made before. The errors of
 * mr_predict and mr_detect. A breach is no error here; see breach_count.
 */
mr_status mr_compare(const mr_trace *trace, const mr_config *config, unsigned finders,
                     const mr_progress *progress, mr_comparison *comparison, mr_error *error);
void mr_comparison_free(mr_comparison *comparison);

#endif
