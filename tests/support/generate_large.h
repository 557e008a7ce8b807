/*
 * generate_large: random traces that are too large for exhaustive search and hard for a predictor:
 * nested locks, few values, messages through flags. Recorded from a random run, so always valid and
 * sequentially consistent; the same seed and shape give the same trace.
 *
 * A thread does one block after the other: accesses; a critical section, with others nested in it;
 * sending (write data, set a flag) or awaiting a message (read the flag until it is set, read the
 * data, clear the flag).
 */
#ifndef MR_TESTS_SUPPORT_GENERATE_LARGE_H
#define MR_TESTS_SUPPORT_GENERATE_LARGE_H

#include "random.h"

#include <stddef.h>

enum { MR_LARGE_THREADS = 64, MR_LARGE_VARIABLES = 1024, MR_LARGE_LOCKS = 64 };

typedef struct mr_large {
    const char *name;
    uint32_t threads, variables, locks; /* at most the numbers above */
    uint32_t values;         /* a write writes 0 … values-1; 0: another value each time */
    uint32_t nesting;        /* locks that a thread holds at once, at most; 0: no locks */
    uint32_t locked_percent; /* chance of a block to be a critical section … */
    uint32_t flag_percent;   /* … or to send or await a message */
    uint32_t read_percent;   /* an access is a read */
    uint32_t stay_percent;   /* the scheduler stays with its thread */
    bool forks;              /* thread 0 forks all others first */
} mr_large;

/* Shapes worth measuring, and their number. */
extern const mr_large mr_large_shapes[];
extern const size_t mr_large_shape_count;

/* A trace of `events` events in the STD format; freed by the caller. NULL: no memory. */
char *mr_generate_large(uint64_t seed, const mr_large *shape, uint32_t events);

#endif
