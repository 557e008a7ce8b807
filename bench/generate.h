/*
 * generate: traces of any length for the benchmarks, valid by construction and the same for the
 * same seed everywhere.
 *
 * A simulated scheduler runs `threads` threads that a main thread forks and joins. A thread does
 * sections: it takes a lock, and accesses the variables of that lock; now and then it accesses one
 * of them without the lock, which is where races come from.
 */
#ifndef MR_BENCH_GENERATE_H
#define MR_BENCH_GENERATE_H

#include <stddef.h>
#include <stdint.h>

typedef struct mr_bench_shape {
    const char *name;
    uint64_t seed;
    uint32_t events; /* about so many */
    uint32_t threads, locks, variables_per_lock, locations;
    uint32_t section_accesses;  /* accesses in a section: 1 to so many */
    uint32_t unlocked_permille; /* of the accesses, how many go without the lock */
    uint32_t switch_permille;   /* after an event, how often another thread goes on */
    uint32_t values; /* values written are 0 … values-1; 0: every write has a value of its own */
} mr_bench_shape;

/* The shapes that are measured, by name. */
extern const mr_bench_shape mr_bench_shapes[];
extern const size_t mr_bench_shape_count;
const mr_bench_shape *mr_bench_shape_find(const char *name); /* NULL: there is none */

/* The text of the trace, owned by the caller; NULL: no memory. */
char *mr_bench_generate(const mr_bench_shape *shape, size_t *length_bytes);

#endif
