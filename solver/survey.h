/*
 * survey: which races of a window a search for all of them looks for (layers.h, walk.h), and who is told.
 */
#ifndef MR_SOLVER_SURVEY_H
#define MR_SOLVER_SURVEY_H

#include "windows/window.h"

typedef struct mr_survey {
    const mr_window *window; /* not model branch */
    /* One an event: not 0 when a thread may stop before this access. When no race of an access is wanted any more,
     * `found` may set its number to 0. It changes no 0. */
    const uint32_t *stops;
    /* Is a race of these two wanted? They are accesses at which threads may stop, in no order, and may not conflict. */
    bool (*wanted)(void *context, uint32_t a, uint32_t b);
    /* After `events` a and b race. False: the search is to end (MR_EXPLORED_FOUND). */
    bool (*found)(void *context, uint32_t a, uint32_t b, uint32_t *events, uint32_t count);
    void *context;
} mr_survey;

#endif
