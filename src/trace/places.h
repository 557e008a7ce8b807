/*
 * places: chooses locations of a trace by patterns of the shell (fnmatch: * matches '/', too).
 *
 * A pattern matches a location by its name, by its text for people (#@loc), or by what stands in the
 * innermost frame of an event there: the place ("queue.c:*") or the function ("log_*"). Where that is code of
 * a library, it also matches by the place or function of the program itself that the library was reached from.
 * A pattern that is the name itself matches, whatever signs it has.
 */
#ifndef MR_TRACE_PLACES_H
#define MR_TRACE_PLACES_H

#include "trace.h"

/* Sets the elements of `chosen` (one for each location) that the pattern matches and leaves the others
 * as they are. `*matches`: it matches at least one. MR_ERR_MEMORY. O(locations + frames + events). */
mr_status mr_places_match(const mr_trace *trace, const char *pattern, bool *chosen, bool *matches,
                          mr_error *error);

/* Gets a pattern that matches no location. */
typedef void mr_places_unmatched(const char *pattern, void *context);

/* The same for each pattern of a comma-separated list. Empty ones are skipped. `tell` may be NULL. */
mr_status mr_places_match_list(const mr_trace *trace, const char *patterns, bool *chosen,
                               mr_places_unmatched *tell, void *context, mr_error *error);

#endif
