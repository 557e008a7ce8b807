/*
 * quarantine: blocks of the heap that the program has freed, kept for a while, so that nobody gets
 * their memory: an access to it is then one after the free, and is logged as such. A second free of
 * such a block is logged and does nothing more.
 *
 * Each thread keeps the blocks that it has freed. The oldest are given back when there are more
 * than 256, or more than 1 MiB of them, or when 16 more threads have ended since it did; the log
 * gets a record FORGOTTEN for each. Called by the owner of the baton only.
 */
#ifndef MR_RUNTIME_QUARANTINE_H
#define MR_RUNTIME_QUARANTINE_H

#include "state.h"

/* Is a block of this size kept? A large one would drive out all others. */
bool mr_quarantine_fits(size_t bytes);
void mr_quarantine_put(mr_arena *arena, void *block, size_t bytes);
/* All that the thread keeps. */
void mr_quarantine_empty(mr_arena *arena);
bool mr_quarantine_has(const void *block);

#endif
