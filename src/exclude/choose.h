/*
 * choose: source locations of a trace: by name, by pattern, or at random. `chosen` has one element
 * a location of the trace (trace->locations.count); the functions set those they choose.
 */
#ifndef MR_EXCLUDE_CHOOSE_H
#define MR_EXCLUDE_CHOOSE_H

#include "trace/trace.h"

/* Chooses the locations that `text` names, one a line; LF or CR LF. Empty lines are skipped, and so
 * are names that the trace does not have: the code did not run. O(length). */
void mr_choose_named(const mr_trace *trace, const char *text, size_t length_bytes, bool *chosen);

/* Chooses the locations whose name, or text for people (#@loc), matches the pattern of the shell
 * (fnmatch: * matches '/', too). */
void mr_choose_pattern(const mr_trace *trace, const char *pattern, bool *chosen);

/* Chooses `count` locations, all of them when there are fewer. The same seed chooses the same on
 * every machine. False: no memory. */
bool mr_choose_random(const mr_trace *trace, uint32_t count, uint64_t seed, bool *chosen);

#endif
