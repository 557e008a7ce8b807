/*
 * spawn: starts a program so that its runtime library writes a log (runtime/log.h).
 *
 * Addresses are not randomised, and the name of the log always has the same length, so that the
 * same program, input and seed give the same log. Waiting for it is the caller's.
 */
#ifndef MR_REPLAY_SPAWN_H
#define MR_REPLAY_SPAWN_H

#include "base/error.h"
#include "base/halt.h"
#include "descriptors.h"
#include "sandbox.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A variable that a recorded program gets unless it has it: what older GLib allocates in slices is a block of memory each. */
#define MR_LAUNCH_SLICES     "G_SLICE"
#define MR_LAUNCH_SLICES_ARE "always-malloc"

/* Of the environment: the paths that are in it, and what fills them up. */
enum { MR_LAUNCH_PATHS_BYTES = 4096 };

typedef struct mr_launch {
    void (*begun)(void *context,
                  const char *log); /* mr_launch_run calls it when the program runs; may
                                                      be NULL */
    void *context;
    const char *const *arguments; /* the program's name, its arguments, NULL */
    const char *schedule;         /* "random", "pct", "os" */
    uint64_t seed, max_events;    /* 0: no limit */
    uint64_t max_log_bytes;       /* 0: no limit */
    uint64_t max_input_bytes;     /* 0: no limit */
    bool records_inputs;          /* in a file beside the log */
    unsigned timeout_seconds;     /* then the program is killed; 0: never */
    mr_halt
        *halt; /* a signal that asks maxrace to end asks for this, and the program is killed; NULL:
                      it gets the signal */
    bool waits_in_deadlock;   /* a program in which nobody can run is not ended */
    bool ends_deadlocks_soon; /* it is ended after 50 ms: nobody else can help it */
    bool explores;            /* the log has what runtime/explore.h says */
    bool tells_states;        /* … with the words of local states */
    bool follows_forks;       /* children have logs, and are waited for */
    bool tells_log;           /* a signal that ends maxrace names the log, and keeps it */
    bool output_to_errors;    /* its standard output is our standard error */
    /* exactly these are inherited; NULL or none: whatever is open */
    const mr_descriptors *descriptors;
    bool descriptors_again; /* … and they are those of an earlier run (mr_descriptors_provide) */
    /* of a replay; NULL: ours, or none */
    const char *const *environment;
    const char *folder;          /* that it runs in */
    const char *replay, *result; /* schedule and result, absolute paths */
    const char *inputs;          /* file of what it got from outside: it gets that again */
    const char *output, *errors; /* files for its standard output and standard error */
    const char *operands; /* file for what it compares (runtime/operands_format.h); NULL: none */
    const char *input;    /* file for its standard input; NULL: ours */
    const mr_sandbox *sandbox; /* a run of it has begun, and the program runs in it; NULL: none */
    bool
        apart; /* it is the leader of a group of processes, and is killed when the calling thread ends */
} mr_launch;

/* Starts the program, which writes the log `log`. The caller waits for `process`. May be called by
 * several threads at a time. MR_ERR_IO: it cannot be started. */
mr_status mr_spawn(const mr_launch *launch, const char *log, pid_t *process, mr_error *error);

#endif
