/*
 * generate_far: traces of any length with planted pairs of accesses at chosen distances, and no
 * other races.
 *
 * Six threads fill the trace: critical sections of 64 locks with accesses to what they guard, and
 * accesses to variables of their own. Each plant has two threads of its own, which do such a
 * section first and then one half of the plant:
 *
 *   FREE      nothing between the two writes of x: a race of HB
 *   REVERSED  acq(l) w(x) rel(l) … acq(l) rel(l) w(x): a race when the second section comes first;
 *             not sync-preserving
 *   SAME      as REVERSED, and both sections read and write y, always 0: a race in model value
 *   LOCKED    both writes of x under one lock: no race
 *   TAKEN     as REVERSED, and the second section reads what the first wrote, another value: none
 */
#ifndef MR_TESTS_SUPPORT_GENERATE_FAR_H
#define MR_TESTS_SUPPORT_GENERATE_FAR_H

#include <stdbool.h>
#include <stdint.h>

typedef enum mr_plant_kind {
    MR_PLANT_FREE,
    MR_PLANT_REVERSED,
    MR_PLANT_SAME,
    MR_PLANT_LOCKED,
    MR_PLANT_TAKEN,
    MR_PLANT_KINDS
} mr_plant_kind;

typedef struct mr_plant {
    mr_plant_kind kind;
    uint32_t first, second; /* about where the halves stand: events of the trace */
} mr_plant;

/* The trace in the STD format, of `events` events or a few more; the writes of plant i are at the
 * locations "pia" and "pib". Freed by the caller; NULL: no memory. */
char *mr_generate_far(uint64_t seed, uint32_t events, const mr_plant *plants, uint32_t plant_count);

#endif
