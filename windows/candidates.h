/*
 * candidates: the conflicting pairs of a window that are not certainly no races, grouped by static
 * race.
 *
 * Dropped here, because no reordering of the window can make them race:
 *   filter  pairs ordered by program order, fork and join, or whose threads hold a common lock;
 *   cone    pairs where what one access needs (mr_precedence FORCED) includes the other.
 * HB and WCP only label and order what is left, unless the options ask for less.
 *
 * Representatives (only when `representatives` is set): of two accesses a1, a2 of one thread, with
 * the same variable, operation and location, a1 stands for a2 when between them (a1 included) there
 * is no fork, no alloc and no write that another thread may need and no release of a lock that was
 * held at a1, and when the free of their object (of any thread) does not stand between them in the
 * trace.
 * If (a2, b) is a race with witness rho, then leaving out of rho the events from a1 on in that
 * thread gives a witness for (a1, b): what is left out are whole critical sections, or sections
 * left open, and nothing that the rest needs. So the verdict of the static race is the same. Its
 * strength may not be: a release between a1 and a2 can order a1 before b, and not a2. So when only
 * pairs of some strength are kept, a release ends the stretch too; without one, whatever HB or WCP
 * orders after a1 comes after a2 as well.
 */
#ifndef MR_WINDOWS_CANDIDATES_H
#define MR_WINDOWS_CANDIDATES_H

#include "access_groups.h"
#include "base/model.h"
#include "order/order.h"
#include "precedence.h"

typedef struct mr_candidate {
    uint32_t first, second; /* window events, first < second */
    mr_strength strength;
} mr_candidate;

/* Two sites with a candidate: all accesses of the one against all of the other (solver/decide.h,
 * mr_decide_any). */
typedef struct mr_site_pair {
    const mr_access_site *one, *two;
    uint64_t pairs; /* candidates among them, kept or not */
} mr_site_pair;

/* The candidates of one static race (unordered pair of places), in the order in which to try
 * them: by strength, then by distance. */
typedef struct mr_candidate_group {
    uint32_t location_1, location_2; /* numbers in trace->locations, location_1 <= location_2 */
    uint32_t first, count;           /* candidates[first …) */
    uint32_t first_site_pair, site_pair_count; /* site_pairs[first …) */
    uint64_t left_out; /* candidates beyond max_per_group: not kept, but in the site pairs */
    bool stopped;      /* there may be more candidates and site pairs: see stop_when_full */
} mr_candidate_group;

typedef struct mr_candidates {
    mr_candidate *items;
    mr_candidate_group *groups;
    mr_site_pair *site_pairs;
    uint32_t count, group_count, site_pair_count;
    uint64_t dropped_by_filter, dropped_by_cone; /* event pairs, also of locations not wanted */
} mr_candidates;

typedef struct mr_candidate_options {
    mr_strength weakest; /* keep pairs of this strength and stronger */
    bool representatives;
    bool event_groups; /* every pair is a group of its own, without site pairs; none is left out */
    bool keep_filtered, keep_coned; /* do not drop what filter, what cone says */
    /* A group with max_per_group candidates is not looked at any further: neither its other
     * candidates nor their site pairs are collected or counted. A caller that needs them calls
     * mr_candidates_find again, for that pair of places alone. */
    bool stop_when_full;
    /* Nobody looks at how many pairs are dropped: those of variables that have no candidate are not counted. With
     * keep_filtered and keep_coned it does nothing. */
    bool uncounted;
    uint32_t max_per_group;        /* 0: no limit. Bounds time and memory for hot variables */
    const bool *ignored_locations; /* one a location, true: no candidate; NULL: none */
    /* False: the pair of places is settled and its pairs are not wanted; NULL: all are wanted. */
    bool (*wanted)(void *context, uint32_t location_1, uint32_t location_2);
    void *context;
    /* Called before the first look at `forced`, which may be made then: where `hard` leaves no pair, nobody looks. False: no memory.
     * NULL: it is made. */
    bool (*force)(void *problem);
    void *problem;
} mr_candidate_options;

/*
 * Fills `candidates` in memory of `arena`. `hb` and `wcp` have slid to the window (for labels), or
 * are NULL: then no pair has the strength that they would give it (without both: all beyond-wcp).
 *
 * For an access of one thread, the accesses of another chain of threads to the variable that are
 * unordered with it form an interval, which moves on with the access. Accesses with the same interval are
 * counted at once, and the next interval is found in growing steps: O(intervals · log) for two
 * strands, however many accesses and places there are. Where intervals are short, their pairs are
 * gone through. Where they are long, sites are compared, and those are passed over whose pair of
 * places is settled or, with stop_when_full, full. So one variable that many threads access at many
 * places costs at most its accesses times chains, plus max_per_group for each pair of places.
 * O(window · log) besides. Each lock set makes strands of its own. Pairs of strands that cannot
 * conflict, that a lock which many of them hold keeps apart (strand_pairs.h), or that the filter
 * orders, cost nothing; a variable costs a step for each other pair of its strands. False: no
 * memory.
 */
bool mr_candidates_find(mr_candidates *candidates, const mr_window *window,
                        const mr_precedence *hard, const mr_precedence *forced, const mr_order *hb,
                        const mr_order *wcp, const mr_candidate_options *options, mr_arena *arena);

/* Strength of a pair of trace events, first < second, both in the range the orders have slid to. An
 * order that is NULL leaves no pair unordered; without both the strength is beyond-wcp. */
mr_strength mr_pair_strength(const mr_order *hb, const mr_order *wcp, uint32_t first,
                             uint32_t second);

#endif
