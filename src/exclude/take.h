/*
 * take: which events are taken out of a trace: those of the chosen locations, and those that must
 * go with them (exclude.h).
 */
#ifndef MR_EXCLUDE_TAKE_H
#define MR_EXCLUDE_TAKE_H

#include "exclude.h"

/* Sets taken[event] for every event that is taken; `taken` is zero before and has event_count
 * elements. False: no memory. O(events · locks that a thread holds at once). */
bool mr_take_events(const mr_trace *trace, const mr_exclude_options *options, bool *taken);

#endif
