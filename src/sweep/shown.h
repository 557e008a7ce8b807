/*
 * shown: are the races of hb races of shb, too? Looked at one by one, from the events between the two accesses, while hb goes over
 * the trace. Where they are, nobody has to run shb: each race of shb is one of hb, and both list the pair with the earliest second
 * access, and among those the one with the latest first. So the two lists are the same.
 *
 * A pair is one of shb when the thread of the second access has not learnt of the first one before it. What threads, locks and
 * variables have learnt goes on as their clocks do in shb (order/shb.c), one bit instead of a clock. Accesses that race are mostly
 * close together, so this takes next to nothing. It gives up at the first pair that is none of shb's, when it would look at more
 * events than the order, and at what traces seldom have (shared locks, units, atomic accesses, objects, calls).
 */
#ifndef MR_SWEEP_SHOWN_H
#define MR_SWEEP_SHOWN_H

#include "base/memory.h"
#include "order/race_list.h"
#include "trace/events.h"

/* What has learnt of the first access. */
typedef struct mr_learnt {
    uint8_t *bits;
    size_t capacity;
    mr_u32s noted; /* the numbers whose bits are not 0 */
} mr_learnt;

/* Zero-initialise; mr_shown_free. */
typedef struct mr_shown {
    size_t count; /* so many of the order's first static races are races of shb */
    bool gave_up;
    uint64_t steps; /* events looked at */
    mr_learnt threads, locks, variables;
} mr_shown;

/* Events of the order's trace among which is number `event`. False: they are not there any more. */
typedef bool mr_shown_events(const void *source, uint64_t event, mr_events *events);

/* Looks at the races that are new in the list. False: it has given up, now or before. */
bool mr_shown_look(mr_shown *shown, const mr_race_list *list, mr_shown_events *give,
                   const void *source);

/* The races of shb, when all races of the order's finished list have been shown. False: they were not, or there is no memory. */
bool mr_shown_take(const mr_shown *shown, const mr_race_list *list, mr_race_list *found);

void mr_shown_free(mr_shown *shown);

#endif
