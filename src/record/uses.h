/*
 * uses: locks, semaphores, barriers, condition variables and file descriptors as memory. The byte at
 * the address of an object stands for it: who initialises or destroys the object writes the byte,
 * each use is an atomic read of it. So an initialisation or a destruction that is not ordered with a use is a race
 * of the two. A use comes before its effect in the trace: the read of an unlock is before the
 * release, and who then takes the lock may destroy it. A barrier is read again by each thread that
 * returns from it, and a condition variable by who has woken a thread: POSIX and C++ let nobody destroy it before
 * the call that wakes has returned.
 *
 *   value written   one that nothing else writes, so that a use must see the same initialisation
 *   value read      what the last recorded access left there
 *
 * What is misuse (trace/misuse.h) is found here, too. Both passes over the log find the same.
 *
 * Memory: 56 to 64 bytes for each object.
 */
#ifndef MR_RECORD_USES_H
#define MR_RECORD_USES_H

#include "log_reader.h"
#include "pairs.h"
#include "trace/misuse.h"

typedef enum mr_use {
    MR_USE_NONE,
    MR_USE_BEFORE, /* an atomic read before what the record says */
    MR_USE_AFTER,  /* the same, after it */
    MR_USE_WRITE,
} mr_use;

/* What a record does to the variable of its object. */
mr_use mr_use_of(const uint64_t *record);
/* Is that an access of the variable? Not when a library that is not recorded does it (MR_LOG_FOREIGN), but
 * always of a descriptor. */
bool mr_use_is_access(const uint64_t *record);

/* What is known of an object, by the records so far. */
typedef struct mr_user_state {
    uint64_t destroyed_at, held_at; /* for the caller: events */
    int64_t destroyed_value;        /* for the caller */
    uint32_t holder; /* thread of the log that holds it exclusively, plus 1; 0: none */
    uint32_t depth, readers;
    bool destroyed, was_held;
} mr_user_state;

typedef struct mr_uses {
    mr_pairs table; /* (address, life) → number of the state */
    mr_user_state *states;
    size_t capacity;
} mr_uses;

/* Zero-initialise. */
void mr_uses_free(mr_uses *uses);

/* Takes a record whose use is not MR_USE_NONE, and says what may be misuse in it; of
 * MR_MISUSE_USE_AFTER_DESTROY the caller must know that nobody wrote the object since. `*state` is
 * valid until the next call, with holder and `destroyed` as they were before. The caller then calls
 * mr_uses_apply. False: no memory. */
bool mr_uses_judge(mr_uses *uses, mr_log_pass *pass, const uint64_t *record, mr_user_state **state,
                   mr_misuse_kind *misuse);
void mr_uses_apply(mr_user_state *state, uint32_t thread, const uint64_t *record);

#endif
