/*
 * progress: a function of the caller's that is told how far a long job has come. The library itself
 * prints nothing.
 */
#ifndef MR_BASE_PROGRESS_H
#define MR_BASE_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

typedef struct mr_progress {
    /* `stage`: a static word such as "reading"; `done` of `total` units, 0: the total is not known.
     * Called every few milliseconds at most, always from the thread that called the job. */
    void (*report)(void *context, const char *stage, uint64_t done, uint64_t total);
    void *context;
} mr_progress;

/* `progress` may be NULL. */
static inline void mr_progress_tell(const mr_progress *progress, const char *stage, uint64_t done,
                                    uint64_t total)
{
    if (progress != NULL)
        progress->report(progress->context, stage, done, total);
}

#endif
