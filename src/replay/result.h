/*
 * result: what the runtime library told of a replay (runtime/steer_result.h, docs/replay.md).
 */
#ifndef MR_REPLAY_RESULT_H
#define MR_REPLAY_RESULT_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum mr_replay_outcome {
    MR_REPLAY_NOTHING,  /* the program ended before it told anything */
    MR_REPLAY_GOAL,     /* the goal was reached */
    MR_REPLAY_DIVERGED, /* the program did something else; it was ended */
    MR_REPLAY_ENDED,    /* the program ended by itself before the goal */
} mr_replay_outcome;

/* An operation of a thread. */
typedef struct mr_replay_operation {
    uint32_t thread; /* number of the recorded thread */
    uint64_t position, code;
    char kind[24]; /* of the log record; "": there is no operation */
    bool has_value;
    int64_t value;
} mr_replay_operation;

/* A thread at the goal, or where the replay ended. */
typedef struct mr_replay_thread {
    uint32_t number;
    int kernel_id;
    uint64_t position;
    char state[12];   /* "ready", "running", "waits", "in-a-call" */
    uint64_t *frames; /* code addresses of the recorded process, the innermost first */
    size_t frame_count, frame_capacity;
    char waits_for[12]; /* "mutex", "thread" …; "": nothing that is known */
    uint64_t awaited;   /* … its address, or the thread's number … */
    uint64_t waits_at;  /* … and the code address of the wait */
    bool has_about;     /* it stands before a plain access: */
    char kind[24];
    uint64_t address, bytes;
    bool has_value;
    int64_t value; /* that is there */
} mr_replay_thread;

enum { MR_REPLAY_DID = 8 };

/* Zero-initialise; free with mr_replay_result_free. */
typedef struct mr_replay_result {
    mr_replay_outcome outcome;
    char reason[160];                          /* DIVERGED */
    int64_t whose;                             /* … of this thread; -1: none */
    char input_expected[160], input_seen[160]; /* … when another input was asked for */
    char unfed[160]; /* what cannot be given to the program again, and it used */
    bool passed;     /* … it went past its stop, having stopped before: */
    uint64_t before;
    int process; /* GOAL */
    uint64_t steps, step_count, operations;
    mr_replay_operation expected, seen;             /* DIVERGED, when an operation differs */
    mr_replay_operation value_expected, value_seen; /* the first value that differs */
    mr_replay_operation did[MR_REPLAY_DID];         /* after the goal, in their order */
    size_t did_count;
    char loose
        [160]; /* why the accesses after the goal were not steered to their end; "": they were */
    mr_replay_thread *threads;
    size_t thread_count, thread_capacity;
} mr_replay_result;

/* A file that is missing or empty is MR_REPLAY_NOTHING. MR_ERR_MEMORY, MR_ERR_IO. */
mr_status mr_replay_result_read(const char *path, mr_replay_result *result, mr_error *error);
void mr_replay_result_free(mr_replay_result *result);

/* The thread, or NULL. */
const mr_replay_thread *mr_replay_result_thread(const mr_replay_result *result, uint32_t number);

#endif
