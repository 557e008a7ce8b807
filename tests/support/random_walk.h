/*
 * random_walk: random traces as random walks through what may happen next: accesses, locks (nested, hand
 * over hand, reentrant, left open), fork and join trees. Without values. For tests that look at
 * orders only and want more events than an exhaustive search can take.
 */
#ifndef MR_TESTS_SUPPORT_RANDOM_WALK_H
#define MR_TESTS_SUPPORT_RANDOM_WALK_H

#include "random.h"

#include <stddef.h>

enum { MR_RANDOM_WALK_THREADS = 6, MR_RANDOM_WALK_LINE_BYTES = 80 };

/* Writes a valid trace of at most `events` events as text; `text` has room for events *
 * MR_RANDOM_WALK_LINE_BYTES + 1 bytes. The same seed gives the same trace. Returns the length. */
size_t mr_random_walk(uint64_t seed, uint32_t events, char *text);

/* The same, but mostly accesses, to few variables, so that the same locations race many times. */
size_t mr_random_walk_hot(uint64_t seed, uint32_t events, char *text);

/* The same, in either way, with variables of objects that are allocated, freed, used after that, and
 * followed by others. */
size_t mr_random_walk_lives(uint64_t seed, uint32_t events, char *text);

#endif
