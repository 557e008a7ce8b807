/*
 * history: the accesses so far that can still race with a later one, for exact static races.
 *
 * For each contended variable, location, kind of access (together a *site*) and thread it keeps the
 * latest access only: it has the greatest local time, so when it is ordered before something, so
 * are the earlier ones; and it is the latest possible `first` of a pair.
 *
 * A new access looks at the others in one of two ways:
 *
 *   by thread: the latest accesses of one thread and kind form a list, latest first. Going through
 *   it stops at the first one that is ordered before the new access, because all that follow are
 *   too; and at the first one that was there when the same thread was last at the same site: it was
 *   reported then, or is ordered now, as a thread's clock only grows.
 *
 *   by site: a site keeps the list of sites with which no race is known yet, and the new access
 *   looks at all threads of those only.
 *
 * The first is cheap when accesses are mostly ordered, the second when the same locations race
 * again and again. So the first is tried, but gives up when it has met as many races of known
 * location pairs as the second would look at; a site gets its list of other sites when it has met
 * more of these than making the list costs. (And a run of accesses by one thread has no news for a
 * site that it has been at.)
 *
 * Memory: one entry for each site and thread that occur together, and the lists of sites, which
 * together are smaller than the time spent before they were made.
 */
#ifndef MR_ORDER_HISTORY_H
#define MR_ORDER_HISTORY_H

#include "clock.h"
#include "map.h"
#include "pairs.h"

typedef struct mr_past_access {
    uint32_t event, local, thread, site;
    uint32_t newer, older; /* in the list of its variable, thread and kind; MR_NONE: end */
    uint32_t next_of_site; /* another thread's; MR_NONE: last */
} mr_past_access;

/* A thread that accesses a variable. */
typedef struct mr_accessor {
    uint32_t thread;
    uint32_t next;    /* next accessor of the same variable, MR_NONE: last */
    uint32_t last[2]; /* by kind (0 read, 1 write): its latest access, MR_NONE: none */
} mr_accessor;

typedef struct mr_site {
    uint32_t location;
    uint32_t first_access; /* any thread's; MR_NONE: none yet */
    uint32_t older;        /* the site of the variable that came before, MR_NONE: first */
    bool has_open;         /* is `open` kept? */
    uint32_t open_until;   /* the newest site of the variable that was considered for `open` */
    size_t wasted;         /* races of known pairs met by thread, before there was a list */
    mr_u32s open;          /* sites with which no race is known */
} mr_site;

/* Of a contended variable. */
typedef struct mr_accessed {
    uint32_t first_accessor, newest_site; /* MR_NONE: none */
    uint32_t accessor_count, site_count;
    uint32_t run_thread, run_start; /* who accessed it last, from which event on alone */
} mr_accessed;

typedef struct mr_history {
    mr_pairs pairs;
    mr_accessed *variables;
    mr_accessor *accessors;
    size_t accessor_count, accessor_capacity;
    mr_past_access *accesses;
    size_t access_count, access_capacity;
    mr_site *sites; /* number * 2 + kind */
    size_t site_count, site_capacity;
    mr_map accessor_numbers; /* (variable, thread) */
    mr_map access_numbers;   /* (accessor * 2 + kind, location) */
    mr_map site_numbers;     /* (variable, location) */
} mr_history;

/* False: no memory (mr_history_free is still fine). Races go to `races`. */
bool mr_history_init(mr_history *history, const mr_trace *trace, mr_shb_races *races);
void mr_history_free(mr_history *history);

/* Reports the races of the event with earlier accesses that are not before `clock`, which is what
 * the thread knew before the event; then notes the event with its local time. False: no memory. */
bool mr_history_add(mr_history *history, uint32_t event, const mr_clock *clock, uint32_t local);

#endif
