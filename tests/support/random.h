/* random: repeatable random numbers for tests (splitmix64); the same seed gives the same numbers
 * everywhere, so that a failing case can be rerun from its seed. */
#ifndef MR_TESTS_SUPPORT_RANDOM_H
#define MR_TESTS_SUPPORT_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct mr_random {
    uint64_t state; /* set it to the seed */
} mr_random;

static inline uint64_t mr_random_next(mr_random *random)
{
    uint64_t z = (random->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* 0 … bound-1; 0 for a bound of 0. The bias is far below what a test can see. */
static inline uint32_t mr_random_below(mr_random *random, uint32_t bound)
{
    return (uint32_t)((mr_random_next(random) >> 32) * bound >> 32);
}

/* low … high, both included. */
static inline uint32_t mr_random_range(mr_random *random, uint32_t low, uint32_t high)
{
    return low + mr_random_below(random, high - low + 1);
}

static inline bool mr_random_percent(mr_random *random, uint32_t percent)
{
    return mr_random_below(random, 100) < percent;
}

#endif
