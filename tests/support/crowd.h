/*
 * crowd: random traces of many threads: up to 40, that come by fork or of themselves and are
 * joined, few or many variables and locations, locks, reading together and in turn. For what random_walk.h
 * with its six threads does not reach.
 */
#ifndef MR_TESTS_SUPPORT_CROWD_H
#define MR_TESTS_SUPPORT_CROWD_H

#include "random.h"

#include <stddef.h>

enum { MR_CROWD_THREADS = 40, MR_CROWD_LINE_BYTES = 40 };

/* As mr_random_walk: a valid trace of `events` events, `text` with room for events * MR_CROWD_LINE_BYTES +
 * 1 bytes. */
size_t mr_crowd(uint64_t seed, uint32_t events, char *text);

#endif
