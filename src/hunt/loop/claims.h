/*
 * claims: what a process of a hunt has in hand, so that other processes that hunt in the same folder, perhaps on other machines, leave
 * it alone (others.c).
 *
 * A claim is a lock on one byte of the file `claims`, which stays empty: the byte stands for what is claimed. The system ends
 * the lock with the process, so nothing is left of a process that was killed. The locks are fcntl's of open files (F_OFD_SETLK), which
 * NFS has, too. Threads of one process do not see each other's claims: they share the memory of the hunt.
 */
#ifndef MR_HUNT_CLAIMS_H
#define MR_HUNT_CLAIMS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum mr_claim_kind {
    MR_CLAIM_MEMBER,    /* number of a process, as long as it runs */
    MR_CLAIM_RUN,       /* number of a run under way … */
    MR_CLAIM_TASK,      /* … and the key of its task */
    MR_CLAIM_BEHAVIOUR, /* number of a behaviour that is not in the journal yet … */
    MR_CLAIM_SIGNATURE, /* … and its signature */
    MR_CLAIM_FINDING,   /* number of a finding that is being saved … */
    MR_CLAIM_IDENTITY   /* … and its identity */
} mr_claim_kind;

typedef struct mr_claims {
    int file; /* descriptor; -1: nobody else is there */
} mr_claims;

/* MR_ERR_IO: the file cannot be made, or the file system has no locks. */
mr_status mr_claims_open(mr_claims *claims, const char *folder, mr_error *error);
void mr_claims_close(mr_claims *claims); /* drops all */

/* False: another process has it. Values are taken modulo 2^59. */
bool mr_claims_take(const mr_claims *claims, mr_claim_kind kind, uint64_t value);
void mr_claims_drop(const mr_claims *claims, mr_claim_kind kind, uint64_t value);
/* The least value, not under `from`, that no other process has; taken. */
uint64_t mr_claims_take_from(const mr_claims *claims, mr_claim_kind kind, uint64_t from);
/* Has no other process a claim of the kind? */
bool mr_claims_are_ours(const mr_claims *claims, mr_claim_kind kind);

#endif
