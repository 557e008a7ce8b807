/*
 * ignored: reads that the program asked to ignore (AnnotateIgnoreReadsBegin). They race with nothing. But what
 * their thread does later depends on what they saw, so they must be in the trace.
 *
 * A piece is *quiet* when it shares 8 bytes with an ignored read. Beside its variable x it has a second one,
 * its *shadow* s. Each event of x is followed by one of s, an atomic one with the same values, of the same
 * thread. An ignored read is a read of s alone.
 *
 * Nothing false is reported, in rf and value. Let rho be a reordering of the trace. Take each event of s for the access
 * itself, and leave out the events of x. That is a reordering of the accesses as they were, because reads of
 * s see what they saw. Where an event of x is next, its access is next. Events of s are all atomic, so an
 * ignored read is in no race.
 *
 * No race of x is lost. Let rho be a reordering of the accesses as they were. Put each event of x right before that
 * of s. Then both variables hold the same after each access.
 *
 * All events of s are sequentially consistent: so what happens-before says of a plain access and one that sees it
 * (docs/semantics.md 8), it says of them, too.
 *
 * A read of a quiet piece has no `deref`: x may hold another value than s for a moment. For the same reason
 * a quiet piece has no beginning (beginning.h), and nothing of it is settled (settled.h).
 *
 * Lives. s belongs to no object, or a `free` would race with an ignored read. So a life with ignored reads has a
 * variable, *alive*, that is 1 from behind its alloc on and 0 from before its free on. Each ignored read is followed by an
 * atomic read of that 1: it comes after the alloc and before the free. A thread that got the life, and alone releases it, needs
 * none.
 *
 * The model branch assumes of recordings that nothing depends on what is read. There such a read may come before the alloc.
 */
#ifndef MR_RECORD_IGNORED_H
#define MR_RECORD_IGNORED_H

#include "pieces.h"

typedef enum mr_quiet { MR_QUIET_UNKNOWN, MR_QUIET_NO, MR_QUIET_YES } mr_quiet;

/* Zero-initialise. */
typedef struct mr_ignored {
    /* (life, address / 8) that an ignored read shares; (life, all bits) of each such life */
    mr_pairs words;
} mr_ignored;

void mr_ignored_free(mr_ignored *ignored);

/* An ignored read. False: no memory. */
bool mr_ignored_note(mr_ignored *ignored, mr_extent extent);

/* Does the extent share 8 bytes with an ignored read? */
bool mr_ignored_has(const mr_ignored *ignored, mr_extent extent);

/* Has the life, by its number, an ignored read? */
bool mr_ignored_has_life(const mr_ignored *ignored, uint32_t life);

#endif
