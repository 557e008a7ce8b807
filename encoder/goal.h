/*
 * goal: in which state a reordering of a window is to end (docs/semantics.md 7). All events are
 * window events.
 *
 *   stops     k threads, each stopped before one event of a list: the event is next in its thread, and
 *             possible but for locks, joins, semaphores and what it reads (rules 3, 5 and 7 of
 *             docs/semantics.md 2). The free of the object of an access is not in the reordering,
 *             unless it is required or comes before the access in the trace.
 *   required  events that are in the reordering
 *   barred    events that are not
 *   last      what the last write of a variable is
 *   lives     objects of which none is alive at the end
 *
 * A race is two stops and nothing else. That a thread holds a lock at its stop follows from program
 * order, so a deadlock is k stops.
 */
#ifndef MR_ENCODER_GOAL_H
#define MR_ENCODER_GOAL_H

#include "windows/window.h"

/* Events of one thread, in program order, at one of which it stops. */
typedef struct mr_stops {
    const uint32_t *events;
    uint32_t count; /* at least 1 */
} mr_stops;

/* The last write of a variable in the reordering. */
typedef struct mr_last_write {
    uint32_t variable; /* of the window */
    uint32_t value;    /* its value index, and the write is clean (branches.h); 0: it is `write` */
    uint32_t write;    /* one of the required events; with a value: MR_NONE */
    uint32_t place;    /* with a value: the location of the write; MR_NONE: any */
    bool carried;      /* with a value: no write of the window will do, too */
} mr_last_write;

/* An object that is allocated and freed in the window. */
typedef struct mr_goal_life {
    uint32_t alloc, free;
} mr_goal_life;

typedef struct mr_goal {
    mr_stops *stops; /* of different threads; questions narrow them */
    uint32_t stop_count;
    const uint32_t *required, *barred;
    uint32_t required_count, barred_count;
    const mr_last_write *last; /* NULL: nothing is asked */
    const mr_goal_life *lives; /* each is freed or not yet allocated at the end */
    uint32_t life_count;
    bool one_freed; /* at least one of `lives` is freed */
} mr_goal;

/* Is there nothing but stops? */
static inline bool mr_goal_only_stops(const mr_goal *goal)
{
    return !goal->required_count && !goal->barred_count && !goal->last && !goal->life_count;
}

static inline bool mr_goal_requires(const mr_goal *goal, uint32_t event)
{
    for (uint32_t i = 0; i < goal->required_count; i++)
        if (goal->required[i] == event)
            return true;
    return false;
}

/* The free that must not be in the reordering because a thread stops before `stop`, or MR_NONE. */
static inline uint32_t mr_goal_end(const mr_window *window, const mr_goal *goal, uint32_t stop)
{
    uint32_t end = mr_window_end_of_life(window, stop);
    return end == MR_NONE || mr_goal_requires(goal, end) ? MR_NONE : end;
}

/* The last event of a list. */
static inline uint32_t mr_stops_last(const mr_stops *stops)
{
    return stops->events[stops->count - 1];
}

/* Are all accesses of the list before, or all after the free of their object (solver/cone.h)? */
static inline bool mr_stops_have_one_end(const mr_window *window, const mr_stops *stops)
{
    return mr_window_end_of_life(window, stops->events[0]) ==
           mr_window_end_of_life(window, mr_stops_last(stops));
}

/* Does the write do as the last one, as far as its event and its value say? */
static inline bool mr_last_write_fits(const mr_window *window, const mr_last_write *last,
                                      uint32_t write)
{
    if (!last->value)
        return write == last->write;
    return mr_window_written_value(window, write) == last->value &&
           (last->place == MR_NONE ||
            window->trace->location[window->start + write] == last->place);
}

#endif
