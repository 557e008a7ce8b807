/*
 * planted: traces of any length with races at known places, and none else.
 *
 * The filler is a big trace without races and queues (big_trace.h). Between its events, a few
 * threads of our own make planted pairs of accesses, at distances of 10^2, 10^3, … events up to the
 * length of the filler. Each pair has variables, locks and locations of its own:
 *
 *   hb     p: w x                                 q: w x
 *   syncp  p: w x; acq l; w y; rel l              q: acq l; w y; rel l; w x
 *          ordered by happens-before and by WCP; without p's section the two are next
 *   rf     p: acq l; w y; w x; rel l              q: acq l; w y; rel l; w x
 *          q's section must come before p's, which stays open: the sections change their order
 *   value  r: f = 1; p: f = 0; w x; f = 1         q: f == 1; w x
 *          q must have seen r's write of 1 instead of p's, and r's must come after p's of 0
 *   none   p: w x; f = 1                          q: f == 1; w x
 *          looks like a race and is none, since nobody else writes f;
 *          or both accesses in sections of one lock
 *
 * f is atomic, or plain and accessed under l. The left access of x may be a read. In hb the right
 * one may be, too; then a thread of its own makes it, since the write that it saw comes before all
 * that its thread does later. The left side stands together in the trace, and the right side
 * `distance` events of the filler later, or slightly more in all events.
 *
 * The threads of a kind make all pairs of that kind, so pairs of different distances overlap. Still
 * each race can be shown alone: p stops at x (of syncp and value: before what follows), q goes on,
 * and nothing that any other thread does depends on either. p of rf stops before its section until
 * q has got to x. r of value does not write its 1 before p has written its 0; then f is 1 for q
 * whether or not p goes on. All else is in the order of the trace.
 *
 * So that such a race is not decided on a handful of events, the filler's threads now and then
 * write an atomic `pulse`, each time another value, and p and q read it first: what a race needs is
 * most of the filler before it.
 */
#ifndef MR_BENCH_PLANTED_H
#define MR_BENCH_PLANTED_H

#include "big_trace.h"

#include <stddef.h>

/* The weakest analysis that finds a pair: each finds the kinds before its own, too. */
typedef enum mr_planted_kind {
    MR_PLANTED_HB,
    MR_PLANTED_SYNCP,
    MR_PLANTED_RF,
    MR_PLANTED_VALUE,
    MR_PLANTED_NONE,
    MR_PLANTED_KINDS
} mr_planted_kind;

typedef struct mr_planted_shape {
    uint64_t events; /* of the filler; at least 1,000 */
    uint32_t each;   /* pairs of each kind and distance; at least 1 */
    uint64_t seed;
} mr_planted_shape;

enum { MR_PLANTED_LOCATION_BYTES = 40 };

typedef struct mr_planted_pair {
    mr_planted_kind kind;
    uint64_t distance; /* a power of ten, at least 100 */
    uint64_t events[2];
    char locations[2][MR_PLANTED_LOCATION_BYTES]; /* "rf.1000.2.first", "rf.1000.2.second" */
} mr_planted_pair;

const char *mr_planted_kind_name(mr_planted_kind kind); /* "hb", "syncp", "rf", "value", "none" */

/* Writes the trace; `*pairs`, `*count` are what is planted, by kind and distance, owned by the
 * caller. The same shape gives the same trace, always. False: no memory, or the sink said so; then
 * there are no pairs. */
bool mr_planted_write(const mr_planted_shape *shape, mr_big_sink *sink, void *context,
                      mr_planted_pair **pairs, size_t *count);

#endif
