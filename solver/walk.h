/*
 * walk: races of the accesses of a thread that waits, while the others go on.
 *
 * A *stretch* is a part of a thread before which it holds no lock: an access, or a section with its accesses. The
 * events before it happen as observed. Then its thread waits, and the others go on in every order that the rules
 * allow, depth first, in trace order, until all states that they lead to have been looked at. A thread goes on from
 * one point without locks to the next at once. Before each access at which it may stop the stretch is tried: its
 * thread goes as far into it as it can, and each access that it comes to races with that one.
 *
 * A walk may have a *lead*: then only the events before the lead happen as observed. The thread of the stretch comes first
 * until it is before the stretch. Threads also take turns within sections: where one cannot go on, and where a
 * read of another one would now see what it has to see. When such a walk has gone on for a while, it leaves out states from which no
 * race that is wanted can come (meetings.h).
 *
 * So one walk finds the races of a stretch with all that can be reached while it waits. It proves nothing: what
 * happens as observed may happen otherwise, and threads may take turns elsewhere. A walk also knows a state
 * by 64 bits of a hash alone: it passes over one that has the hash of another, and may miss a race.
 */
#ifndef MR_SOLVER_WALK_H
#define MR_SOLVER_WALK_H

#include "explore.h"
#include "meetings.h"
#include "partial.h"
#include "survey.h"

typedef struct mr_walk_level mr_walk_level;
typedef struct mr_walk_seen mr_walk_seen;

typedef struct mr_walker {
    const mr_survey *survey;
    const mr_window *window;
    mr_partial partial;
    bool *is_free;                 /* one an event: its thread holds no contended lock after it */
    uint32_t *events, event_count; /* that have run */
    mr_partial_memory *before;     /* of the writes among them: what there was before */
    uint32_t write_count, base;    /* so many of them happen as observed */
    uint64_t state;                /* where the threads are, and what a read would see */
    uint32_t held, from, to;       /* the stretch: a thread and its positions */
    uint64_t effort, max_effort;   /* events run */
    mr_walk_seen *seen;            /* of the arena; states of this walk, a hash table */
    size_t seen_count, seen_capacity;
    uint32_t walk;    /* its number */
    uint8_t *how;     /* one an event: how it runs */
    uint32_t *access; /* of a plain access: the value that it writes, or what it has to see */
    uint32_t *waiting, waiting_count; /* reads that threads are before */
    uint32_t hot;                     /* the variable with most accesses */
    uint32_t *hot_next;               /* one an event: the next access of it by the thread */
    mr_meetings *meetings;
    uint64_t told_at;      /* `effort` when they were told what is wanted */
    uint32_t found, told;  /* races found by this walk, and then */
    uint64_t patience;     /* events before the walk asks for meetings; mr_walk_init sets it */
    const uint32_t *marks; /* by the caller, one an event: only with `mark` is a race wanted */
    uint32_t mark;
    mr_walk_level *levels; /* owned */
    size_t level_count, level_capacity;
    bool takes_turns;  /* within sections, too */
    bool ends;         /* `found` wants no more */
    bool leaves_out;   /* states that cannot lead to a race, or lead where others do */
    bool knows_wanted; /* meetings know what is wanted */
    bool keeps_all;    /* leaves out nothing; for tests */
} mr_walker;

/* `survey`: of a window that is not of model branch; borrowed. False: no memory. O(window + sections). To be freed in
 * any case. */
bool mr_walk_init(mr_walker *walker, const mr_survey *survey, mr_arena *arena);
void mr_walk_free(mr_walker *walker);

/* Does a stretch begin with the event? Then the position in its thread after the last event of the stretch. */
bool mr_walk_begins(const mr_walker *walker, uint32_t event);
uint32_t mr_walk_end(const mr_walker *walker, uint32_t event);

/*
 * Looks for races of the accesses of the stretch from event `begin` to position `end` of its thread with later ones of
 * other threads, which survey->wanted and survey->found are asked and told about, in this order. The events before
 * `base` happen as observed: it is `begin`, or less by the lead. `effort`: events run; what was spent is added to `*spent`. MR_EXPLORED_ALL: all
 * states have been looked at (of equal hashes one); FOUND: `found` said no. O(events run · threads).
 */
mr_explored mr_walk(mr_walker *walker, uint32_t base, uint32_t begin, uint32_t end, uint64_t effort,
                    uint64_t *spent, mr_arena *arena);

#endif
