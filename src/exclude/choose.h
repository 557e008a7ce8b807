/*
 * choose: chooses locations of a trace by name or at random (by pattern: trace/places.h). `chosen` has one element
 * for each location (trace->locations.count). A function sets the elements of the locations that it
 * chooses and leaves the others as they are.
 */
#ifndef MR_EXCLUDE_CHOOSE_H
#define MR_EXCLUDE_CHOOSE_H

#include "trace/trace.h"

/* Chooses the locations that `text` names, one in each line (LF or CR LF). Empty lines are skipped.
 * Names that the trace does not have are skipped, too: that code did not run. O(length). */
void mr_choose_named(const mr_trace *trace, const char *text, size_t length_bytes, bool *chosen);

/* Chooses `count` locations, or all of them when there are fewer. A seed chooses the same locations
 * on every machine. False: no memory. */
bool mr_choose_random(const mr_trace *trace, uint32_t count, uint64_t seed, bool *chosen);

#endif
