/*
 * take: finds the events that are taken out of a trace: the events of the chosen locations, and
 * their partners (exclude.h).
 */
#ifndef MR_EXCLUDE_TAKE_H
#define MR_EXCLUDE_TAKE_H

#include "exclude.h"

/* Sets taken[event] for every event that is taken. `taken` has event_count elements, all false
 * before the call. False: no memory. O(events · locks that a thread holds at once). */
bool mr_take_events(const mr_trace *trace, const mr_exclude_options *options, bool *taken);

#endif
