/*
 * schedule: the schedule file that a replay follows (docs/replay.md has the format): in which order
 * threads run, how far, and what they are expected to do. Read once, at the start; nothing of it is
 * ever given back.
 */
#ifndef MR_RUNTIME_SCHEDULE_H
#define MR_RUNTIME_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#define MR_SCHEDULE_FIRST_LINE "maxrace schedule 1"

#define MR_ROLE_NONE UINT32_MAX

/* A module as it was in the recorded process. */
typedef struct mr_schedule_module {
    uint64_t start, end; /* recorded; `end` after it */
    uint64_t here;       /* where it is now; 0: not loaded */
    const char *path;    /* not terminated */
    uint32_t path_bytes;
    const char *id; /* its build-id in hexadecimal digits; "-": none */
    uint32_t id_digits;
} mr_schedule_module;

/* What an operation of a thread is expected to be. */
typedef struct mr_expected {
    uint64_t position, offset;
    uint32_t module;            /* plus 1; 0: none */
    uint8_t kind;               /* mr_log_kind */
    bool has_value, is_handler; /* is_handler: it is the first one of a handler of a signal */
    bool is_task;               /* it takes a task, … */
    uint32_t maker;             /* … which this role made … */
    int64_t
        value; /* that the operation reads or, when it reads nothing, writes; … by this operation */
} mr_expected;

/* A thread of the recorded execution: the one that its parent created as its n-th. */
typedef struct mr_role {
    uint32_t parent;  /* MR_ROLE_NONE: the main thread */
    uint32_t nth;     /* from 1 on */
    const char *name; /* not terminated */
    uint32_t name_bytes;
    mr_expected *expected;         /* in the order of positions */
    uint64_t expected_count, next; /* the first that was not met */
    uint64_t handler;              /* the next one that is of a handler, when has_handlers */
} mr_role;

typedef enum mr_step_kind {
    MR_STEP_RUN,  /* up to a position: the first `position` operations are done */
    MR_STEP_STOP, /* as RUN, and stop just before the operation `position` */
    MR_STEP_GOAL, /* everybody is where they should be */
    MR_STEP_HOLD, /* wait for a debugger */
} mr_step_kind;

typedef struct mr_schedule_step {
    mr_step_kind kind;
    uint32_t role;
    uint64_t position;
    bool any_place; /* STOP: wherever the thread can stop at the position */
} mr_schedule_step;

/* At the position the thread wakes another one. */
typedef struct mr_schedule_wake {
    uint32_t role, woken;
    uint64_t position;
} mr_schedule_wake;

typedef struct mr_schedule {
    mr_schedule_module *modules;
    mr_role *roles;
    mr_schedule_step *steps;
    mr_schedule_wake *wakes;
    uint64_t module_count, role_count, step_count, wake_count;
    bool has_handlers;
    bool is_loose;       /* threads go on by the seed where the program does something else */
    const char *problem; /* why it cannot be used */
    uint64_t line;       /* … and which line of it, or 0 */
} mr_schedule;

/* False: `problem` says why. */
bool mr_schedule_read(const char *path, mr_schedule *schedule);

const char *mr_log_kind_name(unsigned kind);

#endif
