/*
 * quarantine: blocks of the heap that the program has freed, kept from glibc for a while, so that
 * nobody gets their memory: an access to it is then one after the free, and is logged as such. A
 * second free of such a block is logged and does nothing more.
 *
 * The oldest blocks are given to glibc when there are more than 256, or more than 1 MiB of them;
 * the log gets a record FORGOTTEN for each. Called by the owner of the baton only.
 */
#ifndef MR_RUNTIME_QUARANTINE_H
#define MR_RUNTIME_QUARANTINE_H

#include <stdbool.h>
#include <stddef.h>

/* Is a block of this size kept? A large one would drive out all others. */
bool mr_quarantine_fits(size_t bytes);
void mr_quarantine_put(void *block, size_t bytes);
bool mr_quarantine_has(const void *block);

#endif
