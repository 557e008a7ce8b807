/*
 * compare: runs all relations and models on one trace, says which finder finds which race, and
 * checks that the findings contain each other as the theory says.
 *
 * A *finder* is a whole-trace order (src/order) or a prediction with a model (src/predict). All
 * finders report static races (unordered pairs of locations). Orders also count racy events
 * (race_list.h), and predictions also report unknowns
 * and what they find beside races (findings/find.h).
 *
 * These containments hold on every trace (docs/semantics.md 6). They are checked by static races,
 * and by racy events where both sides count them:
 *
 *   fhb in shb in hb in cp in wcp;  shb in syncp in rf in value in branch;  shb in c17
 *   all orders in hybrid;  branch, so rf and value, in hybrid when the trace has no wait
 *
 * A static race that the greater side left unknown is no breach, and what a finder that was ended
 * before its time lacks is none. "syncp in rf" is checked only when
 * the prediction may look at everything: prefilter all, far syncp, no ignored locations.
 */
#ifndef MR_COMPARE_COMPARE_H
#define MR_COMPARE_COMPARE_H

#include "base/halt.h"
#include "base/progress.h"
#include "config/config.h"
#include "order/relation.h"
#include "trace/trace.h"
#include "witness/witness.h"

/* A finder is a number: an mr_relation, or one of these. */
enum { MR_FINDER_RF = MR_RELATION_COUNT, MR_FINDER_VALUE, MR_FINDER_BRANCH, MR_FINDER_COUNT };

const char *mr_finder_name(int finder); /* "hb" … "hybrid", "rf", "value", "branch" */

/* Reads a comma-separated list of finders into a set (bit f: finder f). MR_ERR_CONFIG. */
mr_status mr_finder_parse(const char *list, unsigned *finders, mr_error *error);

typedef struct mr_finder_figures {
    bool done; /* the finder ran to its end, or as far as it was let: */
    mr_halt_reason
        ended_by; /* NONE: to its end. Else the figures are of what it found until then */
    uint32_t static_races;
    uint32_t only;                     /* static races that no other finder reports */
    bool counts_events;                /* are the next three set? (orders only) */
    uint64_t racy_events;              /* second accesses of reported pairs */
    uint32_t racy_locations;           /* their locations */
    uint32_t racy_variables;           /* their variables */
    uint32_t unknown;                  /* unknown static races (predictions only) */
    uint32_t beside[MR_WITNESS_KINDS]; /* findings beside races by kind (predictions only) */
    uint32_t beside_unknown;           /* unknown ones, of all kinds */
    double seconds;                    /* of this finder alone, on the trace in memory */
} mr_finder_figures;

/* A static race that at least one finder reports. */
typedef struct mr_compared_race {
    uint32_t low, high;            /* locations, low <= high */
    uint32_t first, second;        /* a pair of events, from the first finder that reports it */
    uint32_t found_by, unknown_by; /* sets of finders */
} mr_compared_race;

/* A breach of a containment: a bug of maxrace. */
typedef struct mr_breach {
    int smaller, greater; /* finders */
    bool by_event;        /* `event` is racy in the smaller only; else it is the static race */
    uint32_t event;
    uint32_t low, high;
} mr_breach;

typedef struct mr_comparison {
    const mr_trace *trace; /* on loan */
    unsigned finders;      /* asked for */
    mr_finder_figures findings[MR_FINDER_COUNT];
    mr_compared_race *races; /* in the order of (low, high) */
    size_t race_count, race_capacity;
    size_t beside_count; /* findings beside races, of all predictions together */
    mr_breach *breaches; /* the first of each containment, by event and by static race */
    size_t breach_count, breach_capacity;
    double read_seconds; /* for the caller to fill */
} mr_comparison;

/*
 * Runs the finders of the set `finders` one after the other. `halt` (NULL: nobody) and
 * memory.limit_mb may end a finder (`ended_by`); those after it are not run. Overwrites `comparison`; the caller
 * calls mr_comparison_free in every case. After an error it holds the findings made before. Errors
 * are those of the prediction and of mr_detect. A breach is no error here; see breach_count.
 */
mr_status mr_compare(const mr_trace *trace, const mr_config *config, unsigned finders,
                     const mr_progress *progress, mr_halt *halt, mr_comparison *comparison,
                     mr_error *error);
void mr_comparison_free(mr_comparison *comparison);

#endif
