/*
 * steer_state: what a replay knows (steer.h), for the files of it: steer.c lets threads run and stop,
 * steer_count.c counts and compares their operations, steer_end.c ends the replay and tells of it.
 */
#ifndef MR_RUNTIME_STEER_STATE_H
#define MR_RUNTIME_STEER_STATE_H

#include "schedule.h"
#include "state.h"

/* A role while the replay runs. */
typedef struct mr_actor {
    mr_thread *thread; /* NULL: not there yet, or gone */
    uint64_t position; /* operations so far */
    uint32_t created;  /* threads that it created */
    uint64_t stopped;  /* … at its last stop point, … */
    uint64_t before;   /* … and at the one before */
    uint64_t stop;     /* before which operation it stops; UINT64_MAX: nowhere */
    bool ended, arrived;
    bool at_bound;     /* it helped, up to its next operation */
    uint32_t idle;     /* stop points since its last operation */
    uint64_t waits[3]; /* its last record, when that is BLOCKED: what it waits for; else 0 */
} mr_actor;

typedef struct mr_steer_state {
    mr_schedule schedule;
    mr_actor *actors;
    uint64_t at;                                /* the step */
    uint64_t operations;                        /* of all threads */
    const uint32_t *counted;                    /* the log up to here is counted … */
    mr_thread *writes;                          /* … and what follows is this thread's */
    uintptr_t libc, libc_end, glib, glib_end;   /* the C library, GLib, … */
    uintptr_t loader, loader_end, own, own_end; /* … the loader and this one */
    uint32_t helper;                            /* the role that helps, MR_ROLE_NONE */
    uint32_t helped;                            /* stop points of the helper */
    uint32_t rounds;                            /* of help in this step */
    uint32_t outside;                           /* how often the thread of the step was in a call */
    int64_t sent_until;   /* CLOCK_MONOTONIC: a signal was sent, and is there by then */
    bool reached;         /* the goal */
    bool holds;           /* a debugger looks */
    bool can_stop_within; /* a call of libc has begun, and has had no effect */
    bool differs;         /* a value did */
    const char *strayed;  /* why the replay cannot go on; found while the log is counted */
    uint32_t stray_role;
    mr_expected expected;
    uint64_t seen[4]; /* a record */
} mr_steer_state;

extern mr_steer_state mr_steer;

/* NULL: the schedule knows no such thread. */
mr_actor *mr_steer_actor(const mr_thread *thread);
/* What the thread of this role is expected to do at its position or later; NULL: nothing is known. */
const mr_expected *mr_steer_next(uint32_t role);
/* The code address that is expected, in this process; 0: its module is not loaded. */
uint64_t mr_steer_expected_code(const mr_expected *expected);
/* A call may read one value, or a range of bytes, as the bytes themselves say. */
bool mr_steer_is_same_kind(mr_log_kind seen, mr_log_kind expected);

/* The value of an operation: what it reads, or writes when it reads nothing; has it one? */
int64_t mr_steer_value(const uint64_t *record);
bool mr_steer_has_value(const uint64_t *record);

/* Ends the program: what was to happen does not. After the goal, only steering ends. */
void mr_steer_diverge(const char *why, uint32_t role);
/* The lines `what` and "seen" of the operation in `expected` and `seen`. */
void mr_steer_tell_difference(const char *what);
/* Everybody stands where they should. */
void mr_steer_reach_goal(void);
/* Threads run by seed again. */
void mr_steer_end(void);

#endif
