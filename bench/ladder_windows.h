/*
 * ladder_windows: generated windows to ask single questions about, valid by construction and the
 * same for the same seed everywhere.
 *
 * Eight threads run under a simulated scheduler that lets another one go on after one event in
 * four. No thread is forked or joined, so only locks and reads order anything.
 *
 *   locks     16 locks with 4 variables each; sections of 1 … 6 accesses; one piece of work in
 *             twelve is an access without the lock, in each family with locks
 *   hot lock  one lock with 16 variables; sections of 1 … 3 accesses
 *   flags     four producers, each with a consumer: data, then a flag that says so, polled by the
 *             other; now and then somebody looks at the flag of another pair; no locks
 *   readers   8 locks with 4 variables each; one access in twenty writes, and half of them are made
 *             without the lock
 *   nested    12 locks with 4 variables each; up to three nested sections, in the order of the
 *             locks, so that nobody waits for ever
 *
 * Values: of a number of values, a write takes one at random; with 0 each write has its own. Flags
 * count, modulo that number.
 */
#ifndef MR_BENCH_LADDER_WINDOWS_H
#define MR_BENCH_LADDER_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

typedef enum mr_ladder_family {
    MR_LADDER_LOCKS,
    MR_LADDER_HOT_LOCK,
    MR_LADDER_FLAGS,
    MR_LADDER_READERS,
    MR_LADDER_NESTED,
    MR_LADDER_FAMILIES
} mr_ladder_family;

const char *mr_ladder_family_name(mr_ladder_family family);

/* The text of `events` events, owned by the caller; NULL: no memory. */
char *mr_ladder_window(mr_ladder_family family, uint32_t values, uint32_t events, uint64_t seed,
                       size_t *length_bytes);

#endif
