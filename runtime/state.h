/*
 * state: what the runtime knows. It is one structure for the process, because the functions that
 * programs call have no place for a handle; nothing else in the runtime is global.
 *
 * Threads of the program run one at a time. The one that runs owns the baton (mr_rt.owner); only it
 * logs, and only it changes what is not marked otherwise. `lock` guards the owner and the states of
 * threads: it is taken for every change of them, because threads that come back from the kernel and
 * the watchdog change them, too.
 */
#ifndef MR_RUNTIME_STATE_H
#define MR_RUNTIME_STATE_H

#include "log_short.h"
#include "maxrace/annotate.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

typedef enum mr_thread_state {
    MR_RUNNABLE,
    MR_RUNNING, /* owns the baton */
    MR_BLOCKED, /* waits for `key`, or for time */
    MR_OUTSIDE, /* in a call that may block, without the baton */
    MR_DONE,
} mr_thread_state;

/* Why a blocked thread goes on. */
typedef enum mr_wake_reason {
    MR_WOKEN,
    MR_TIMED_OUT,
    MR_INTERRUPTED, /* a signal handler is to run */
    MR_CANCELLED,
} mr_wake_reason;

/* What a thread must look at before its next event: bits of `attention`. */
enum {
    MR_ATTENTION_LOST = 1,   /* the watchdog took the baton */
    MR_ATTENTION_SIGNAL = 2, /* signals wait to be handled */
    MR_ATTENTION_CANCEL = 4, /* pthread_cancel was called */
    MR_ATTENTION_IGNORE = 8, /* something is not to be logged (ignore.h) */
    MR_ATTENTION_STEER =
        16, /* a replay: it looks at each operation whether it is to stop (steer.h) */
    MR_ATTENTION_EXPLORE = 32, /* each access is told (explore.h); it lasts */
};

#define MR_NEVER             INT64_MAX
#define MR_FRAMES_MAX        16384
#define MR_SIGNALS_MAX       65
#define MR_IGNORED_LOCKS_MAX 32

typedef struct mr_live_frame {
    uintptr_t stack;  /* frame address of the entry hook: just below the function's own frame */
    uintptr_t caller; /* where the function was called */
} mr_live_frame;

/* A thread of the trace whose events several threads may make (fiber.h). */
typedef struct mr_fiber {
    uint32_t id, creator, depth;
    bool begun;
    mr_live_frame *frames;
    uintptr_t stack_start, stack_end;
    struct mr_fiber *next; /* that is not in use */
} mr_fiber;

typedef struct mr_ignored_lock {
    const void *address;
    unsigned role;
} mr_ignored_lock;

/* See ignore.h. */
typedef struct mr_ignores {
    int reads, writes, sync;
    unsigned locks;
    mr_ignored_lock taken[MR_IGNORED_LOCKS_MAX];
} mr_ignores;

/* The plain access that a thread is about to do. */
typedef struct mr_about {
    uintptr_t code; /* 0: none */
    const void *address;
    unsigned head; /* of its record: kind and detail */
} mr_about;

/* An atomic access of inline assembly, between its two calls. */
typedef struct mr_assembly {
    unsigned kind; /* assembly_calls.h */
    maxrace_atomic atomic;
} mr_assembly;

typedef struct mr_arena mr_arena;

typedef struct mr_thread {
    volatile uint32_t attention;
    uint32_t id;
    uint32_t role;    /* in a replay: its number in the recorded execution; else its id */
    mr_about about;   /* in a replay */
    uintptr_t called; /* in a replay: where the interposed function was called, or within ours */
    uint32_t depth;   /* of `frames`; may exceed MR_FRAMES_MAX, which are then not kept */
    uint8_t busy;     /* inside the runtime: no event */
    uint8_t quiet;    /* > 0: no hand-over at accesses (inside dlopen and the like) */
    mr_live_frame *frames;            /* of the functions entered */
    uintptr_t stack_start, stack_end; /* 0: not known */
    mr_arena *arena;                  /* NULL: its blocks are glibc's */
    uintptr_t caller; /* code address for what is allocated on behalf of a caller; 0: none */
    uintptr_t
        creates_at; /* code address for the threads that it creates now, on behalf of a caller; 0: none */
    bool opens_stream; /* it is in fopen, of which the descriptor alone is an input */

    uint32_t go; /* futex: 1 when it was given the baton, 2 when it may try (schedule os), 3 when
                    a signal came */
    mr_thread_state state;
    mr_wake_reason reason;
    const void *key;        /* what it waits for, NULL: only time */
    int64_t deadline;       /* in virtual time, MR_NEVER: none */
    int64_t real_deadline;  /* on CLOCK_MONOTONIC */
    int64_t shown_deadline; /* on the program's clocks (mr_elapsed_now) */
    int64_t
        nap_ns; /* time to let pass before it goes on: it was woken because nobody else could run */
    bool cancellable; /* this wait ends when the thread is cancelled */
    bool polls;       /* this wait is for something that another process may do */
    bool is_inner;    /* this wait is for threads alone: no nap after it */
    bool found_full;  /* there was no room when its write began */
    bool
        has_given_stack; /* the program gave it the memory of its stack, and uses it again when it has ended: no life of it */
    bool waits_for_outside; /* its call waits for descriptors or a signal, and has no near limit */
    bool awaits;            /* this wait is for descriptors (awaiting.h): */
    struct pollfd *awaited;
    size_t awaited_count;
    uint64_t number;       /* of its sleep on a condition variable */
    bool missed_signal;    /* … in a replay: it was signalled, and sleeps on (cond.c) */
    uint32_t wake_bits;    /* of its futex wait */
    int64_t priority;      /* pct */
    uintptr_t fence_code;  /* its last fence, … */
    uint64_t fence_events; /* … and the event number then */
    uint64_t since_events; /* event number when it was given the baton after another thread */
    uint32_t long_runs;    /* pct: how often it ran long while others waited */

    int kernel_id; /* 0 until it runs */
    int told_id; /* what gettid told the program last: a replay tells what was recorded. 0: nothing yet */
    pthread_t handle;
    bool detached, waited_for, begun;
    bool cancel_async, cancel_pending, cancel_disabled;
    bool cancelled; /* and acts on it */
    void *(*start)(void *);
    void *argument;
    uint32_t creator;
    sigset_t mask; /* its signals, once it knows itself */
    uint32_t
        end_rounds; /* rounds of destructors of thread-specific data that it has been through */

    volatile uint64_t signals; /* bit n: signal n+1 waits */
    uint64_t held; /* the same, and the kernel keeps others of that number until then (signals.c) */
    siginfo_t signal_info[MR_SIGNALS_MAX];
    uint32_t arrived;  /* futex: signals so far that others sent */
    uint32_t handlers; /* how many run, nested */
    bool raising;      /* in raise or a kill of itself */
    bool poked;        /* the watchdog has it handle its signals where it is */
    bool is_lent;      /* to a child that shares memory, for whose end it waits */
    bool is_shared;    /* with such a child; `mr_self` of both is NULL */

    mr_fiber *fiber; /* that it runs, NULL: its own */
    mr_fiber own_fiber;
    mr_ignores ignores;
    mr_assembly assembly;
    bool annotates; /* between the two annotations of an atomic access (maxrace/annotate.h) */

    struct mr_thread *next; /* all that were not joined, newest first */
} mr_thread;

/* What each access needs, together. It begins with what a reader needs to know. */
typedef struct mr_hot_state {
    mr_log_live live;
    uint32_t *limit;          /* a record may begin before it: MR_LOG_MARGIN words follow */
    int64_t budget;           /* accesses until the next look around */
    uint32_t open_form;       /* of the write that waits: log2 of its bytes, and one of MR_OPEN */
    bool kept;                /* MR_LOG_WAITING_RANGE: one read has come since */
    const void *open_address; /* what it writes to */
    int64_t *open_known;      /* where its value is kept in the model */
    mr_log_site *open_site;   /* MR_OPEN_LONG: its site, and what that was before */
    mr_log_site open_before;
    uint64_t *range;       /* the last records are range writes whose bytes are to be filled in */
    uint64_t *after_enter; /* before it are `enters` records ENTER */
    uint64_t enters;
} mr_hot_state;

/* What is before the value of the write that waits; none: one unit. */
enum {
    MR_OPEN_LONG = 4, /* a WRITE; the value has 64 bits, whatever the access */
    MR_OPEN_FAR = 8,  /* two units */
};

typedef struct mr_runtime {
    bool active;         /* threads take turns */
    bool logging;        /* and what they do is logged */
    bool explores;       /* the log has more (explore.h) */
    bool explores_words; /* … and the words of each local state */
    bool steers;         /* their turns are those of a schedule (steer.h) */
    uint32_t lock;
    uint32_t *to_wake; /* `go` of who gets the baton, to be woken when the lock is free */
    mr_thread *owner;
    const mr_thread *last_owner; /* may be gone */
    mr_thread *threads;
    uint32_t thread_count; /* created so far */
    uint32_t alive;        /* not done */
    uint32_t logged;       /* thread of the last SWITCH, UINT32_MAX: none yet */
    int leaving;           /* kernel id of the thread that ended last, 0: it is gone */
    mr_thread *reap;       /* detached and done, still to be joined */

    mr_log_schedule schedule;
    uint64_t random;
    uint64_t switch_events; /* given mean, 0: adapts */
    uint64_t max_events;    /* since the first other thread was made; 0: no limit */
    uint64_t events_alone;  /* before that */
    uint64_t max_log_bytes; /* 0: no limit */
    bool waits_in_deadlock; /* the program is not ended */
    bool ends_deadlock_soon;
    bool follows_forks; /* children are recorded */
    bool is_child;      /* of a recorded process, and not recorded; `header` is the parent's */
    bool has_threads;   /* … and has created threads */
    uint64_t events;    /* before the current budget */
    int64_t budget_given;
    uint64_t syncs;
    int64_t skipped_ns;   /* virtual time beyond events */
    uint32_t real_waits;  /* of threads now, which release mutexes unseen (cond.c) */
    int64_t waited_ns;    /* real time in which nobody had the baton, for the program's clocks */
    int64_t starved_ns;   /* virtual time in which threads did nothing but wait (awaiting.h) */
    int64_t signal_until; /* on CLOCK_MONOTONIC: a timer's signal may be on its way till then */
    int64_t idle_since;   /* on CLOCK_MONOTONIC; 0: somebody has the baton or can have it */
    int64_t lowest;       /* pct: below every priority so far */
    uint64_t changes[16];
    uint32_t change_count;

    uint64_t sleep_numbers;
    uint64_t call_numbers;
    bool watchdog;   /* it runs */
    bool complained; /* about all threads being blocked */
    bool ended;      /* the log is complete */
    mr_log_header *header;
    pthread_t main_handle;
} mr_runtime;

extern mr_runtime mr_rt;
extern mr_hot_state *mr_hot; /* in the header of the log while there is one */
extern __thread mr_thread *mr_self __attribute__((tls_model("initial-exec")));

#define MR_CALLER ((uintptr_t)__builtin_return_address(0))
#define MR_EXPORT __attribute__((visibility("default")))

#endif
