/*
 * pool: units of work, spread over worker threads.
 *
 * The calling thread does no unit itself when there are threads for it: it takes over what the
 * workers have made, in the order in which it is ready, and looks around in between (signals,
 * deadlines, messages). With one worker and without `apart` there is no thread at all: the caller
 * does unit after unit.
 */
#ifndef MR_BASE_POOL_H
#define MR_BASE_POOL_H

#include "error.h"

#include <stdbool.h>

typedef enum mr_taken {
    MR_TAKEN,
    MR_TAKEN_LATER, /* none now, but there may be one after the next `look` */
    MR_TAKEN_NONE,  /* none any more */
} mr_taken;

/* How often the calling thread looks around when nobody says. */
enum { MR_POOL_LOOK_MS = 20 };

typedef struct mr_pool {
    void *context;
    unsigned workers; /* at least 1 */
    bool apart;       /* a single worker is a thread, too: the caller has to look around */
    unsigned look_ms; /* how often; 0: MR_POOL_LOOK_MS */
    /* The next unit. Called by any thread, one at a time. */
    mr_taken (*take)(void *context, uint64_t *unit);
    /* Does a unit: by worker number 0 … workers - 1, one unit at a time each. `*product` may become
     * NULL. */
    mr_status (*work)(void *context, unsigned worker, uint64_t unit, void **product,
                      mr_error *error);
    /* Takes over what `work` made. Called by the calling thread only, also after an error. */
    mr_status (*deliver)(void *context, uint64_t unit, void *product, mr_error *error);
    /* Called by the calling thread at least every `look_ms` while it waits, and after each
     * delivery; NULL: nothing to look at. */
    mr_status (*look)(void *context, mr_error *error);
} mr_pool;

/*
 * Runs until no unit is left and all are delivered. After the first error no unit is taken any
 * more; those under way are finished and delivered, and the error is returned. Threads that cannot
 * be had are done without, down to none. MR_ERR_MEMORY of its own.
 */
mr_status mr_pool_run(const mr_pool *pool, mr_error *error);

#endif
