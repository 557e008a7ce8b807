/*
 * strand_pairs: which strands of one variable (access_groups.h) may have a candidate together.
 *
 * The *profile* of a strand says which operations it has and how it holds the *main locks*, those
 * that most strands of the variable hold. Two strands have no candidate when their operations do
 * not conflict, or when a main lock keeps them apart. Both follow from the profiles, so for each
 * profile the strands that may pair with it are listed once, and the others cost nothing. What the
 * profiles do not tell, the caller tests for each pair.
 *
 * A variable has at most MR_STRAND_PROFILES profiles: a lock that would make more is no main lock.
 */
#ifndef MR_WINDOWS_STRAND_PAIRS_H
#define MR_WINDOWS_STRAND_PAIRS_H

#include "access_groups.h"

enum { MR_STRAND_PROFILES = 8, MR_MAIN_LOCKS = 8 };

typedef struct mr_strand_profile {
    uint8_t kind;   /* which operations: see strand_pairs.c */
    uint32_t locks; /* two bits a main lock: held exclusively, held shared */
} mr_strand_profile;

typedef struct mr_strand_pairs {
    const mr_window *window;
    uint32_t *holders;    /* by lock: strands that hold it; all zero between two variables */
    uint8_t *exclusively; /* by lock: does a strand hold it exclusively? */
    const mr_access_strand *strands; /* those of the variable */
    uint32_t count;
    uint32_t main_locks[MR_MAIN_LOCKS];
    uint32_t main_lock_count;
    mr_strand_profile profiles[MR_STRAND_PROFILES];
    uint32_t profile_count;
    uint8_t *profile;        /* one a strand */
    mr_strand_profile *keys; /* one a strand, with all main locks that were looked at */
    /* next[p * (count + 1) + k]: the first strand from k on that may pair with profile p. */
    uint32_t *next;
    size_t profile_capacity, key_capacity, next_capacity;
} mr_strand_pairs;

/* For the variables of one window. False: no memory. */
bool mr_strand_pairs_init(mr_strand_pairs *pairs, const mr_window *window, mr_arena *arena);

/* Goes to a variable, that of these strands. `by_locks`: a common lock keeps strands apart. False:
 * no memory. O(strands · locks held). */
bool mr_strand_pairs_begin(mr_strand_pairs *pairs, const mr_access_strand *strands, uint32_t count,
                           bool by_locks);

/* The first strand from number `from` on that may have a candidate with strand `one`; the number of
 * strands: there is none. O(1). */
static inline uint32_t mr_strand_pairs_next(const mr_strand_pairs *pairs, uint32_t one,
                                            uint32_t from)
{
    return pairs->next[(size_t)pairs->profile[one] * (pairs->count + 1) + from];
}

void mr_strand_pairs_free(mr_strand_pairs *pairs);

#endif
