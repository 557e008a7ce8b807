/*
 * open_races: the pairs of places of a window that have no race so far, for searches that look for all of them at once
 * (survey.h, walks.h): where threads may stop, which races are wanted, and keeping those that are found.
 */
#ifndef MR_PREDICT_OPEN_RACES_H
#define MR_PREDICT_OPEN_RACES_H

#include "worker.h"

#include "base/map.h"
#include "base/memory.h"

/* Races that are found elsewhere meanwhile, in what is merged before the outcome. */
typedef struct mr_races_elsewhere {
    /* Is the race of two places proven, so that no verdict is needed here? */
    bool (*is_proven)(void *context, uint32_t location_1, uint32_t location_2);
    /* Is told of one that was proven here. False: no memory. */
    bool (*note)(void *context, uint32_t location_1, uint32_t location_2);
    void *context;
} mr_races_elsewhere;

typedef struct mr_open_races {
    mr_worker *worker;
    const mr_problem *problem;
    const mr_candidates *candidates;     /* with all site pairs of the groups that are open */
    bool *settled;                       /* one a group; set when it has a race */
    const mr_map *pairs;                 /* as of mr_survey_search (survey.h); NULL: all may race */
    bool *paired;                        /* one an event: it is in one of `pairs` */
    const mr_races_elsewhere *elsewhere; /* NULL: none */
    mr_outcome *outcome;                 /* gets a verdict with a race for each */
    mr_map groups;                       /* owned; by two places: number of their group */
    uint32_t *stops;                     /* one an event: how many open groups have it */
    mr_u32s events;                      /* owned; of group g: [first[g], first[g + 1]) */
    size_t *first;
    uint32_t *noted; /* one an event: the group that has noted it, plus one */
    mr_status status;
    uint32_t observed; /* so many first events of a reordering are as observed; else 0 */
} mr_open_races;

/* Fills what is behind `outcome`, with memory of the worker's arena. False: no memory. */
bool mr_open_races_list(mr_open_races *open);
void mr_open_races_free(mr_open_races *open);

/* The group of two accesses; MR_NONE: there is none. */
uint32_t mr_open_races_group(const mr_open_races *open, uint32_t a, uint32_t b);

/* mr_survey.wanted: does the group of two accesses, which may not conflict, lack a race? */
bool mr_open_races_wanted(void *open, uint32_t a, uint32_t b);

/* mr_survey.found: keeps a race once the checker has accepted it. False: it has not, or open->status is an error. */
bool mr_open_races_keep(void *open, uint32_t a, uint32_t b, uint32_t *events, uint32_t count);

#endif
