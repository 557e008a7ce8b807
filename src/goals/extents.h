/*
 * extents: which objects of a trace contain an address, over the whole trace: memory is given out
 * again, so several may.
 */
#ifndef MR_GOALS_EXTENTS_H
#define MR_GOALS_EXTENTS_H

#include "trace/trace.h"

/* Objects that say where they are, by rising address. `reach` is the highest end so far. */
typedef struct mr_extents {
    const mr_trace *trace;
    uint32_t *objects;
    uint64_t *reach;
    uint32_t count;
} mr_extents;

/* O(objects × log objects). False: no memory. Free with mr_extents_free in any case. */
bool mr_extents_init(mr_extents *extents, const mr_trace *trace);
void mr_extents_free(mr_extents *extents);

/* Puts the objects that contain the address into `found`, by falling address. O(log objects), and the
 * objects that begin below it and reach over it. False: no memory. */
bool mr_extents_at(const mr_extents *extents, uint64_t address, mr_u32s *found);

/* Is, just before the event, one of the objects freed and none of them alive? */
bool mr_extents_are_freed(const mr_trace *trace, const mr_u32s *objects, uint32_t event);

#endif
