/*
 * gomp: OpenMP as gcc compiles it. What the program calls of libgomp is done here, with threads, waits and orders of the recording:
 * inside of that library threads would wait for each other unseen. Where the thread is not recorded the library itself is called; so it is for
 * all of a program that can cancel (OMP_CANCELLATION). No header of libgomp is needed.
 *
 * The thread that begins a parallel region is member 0 of a team, and each thread has workers for the other members, which it keeps. Who waits for
 * tasks runs some of them meanwhile. What of this decides how a program goes on is in the log:
 *
 * - begin of a region, barriers, end of a region: posts and waits, as for barriers of pthread (log.h)
 * - iterations of a loop, sections, singles: nothing. Who gets them depends on their number and the seed, so nothing orders two of them
 * - tasks: atomic updates, relaxed, of the queue's number of steps; before and after for creation and dependences; posts and waits for their end
 */
#ifndef MR_RUNTIME_GOMP_H
#define MR_RUNTIME_GOMP_H

#include "openmp.h"
#include "openmp_dependences.h"
#include "steer_tasks.h"

typedef void (*mr_gomp_function)(void *data);

typedef struct mr_gomp_team mr_gomp_team;
typedef struct mr_gomp_task mr_gomp_task;

typedef struct mr_gomp_group {
    struct mr_gomp_group *outer;
    unsigned open, ended; /* tasks: not ended, and posted to `place` since the last wait */
    const char *place;
    uintptr_t *reductions; /* NULL: none */
} mr_gomp_group;

struct mr_gomp_task {
    mr_dependent order; /* the first one */
    mr_gomp_task *parent;
    mr_gomp_task *next; /* in the queue, or not in use */
    mr_gomp_team *team;
    mr_gomp_group *group;
    mr_gomp_function function;
    void *data;
    size_t bytes;          /* of the block at `data`; 0: the caller's */
    unsigned open, ended;  /* as of a group: its children */
    unsigned threads;      /* of the teams that it begins */
    mr_dependences *table; /* what its children depend on */
    const char *place;     /* NULL: none yet; its bytes are in gomp_tasks.h */
    uintptr_t code;        /* where it was created … */
    mr_made made;          /* … and in a replay by what */
    bool is_final;
    bool is_detached, is_fulfilled,
        has_returned;   /* it ends when it has returned and its event is fulfilled */
    bool is_waited_for; /* by the thread that would create it: it is in no queue */
};

enum { MR_GOMP_DEPTH = 8 };

/* A construct that the members of a team share: a loop, sections, a single. */
typedef struct mr_gomp_share {
    struct mr_gomp_share *next;
    uint64_t number; /* in the team */
    unsigned left;   /* members that have left it */
    int kind;
    uint64_t start, step, count, chunk; /* iterations are numbered from 0 */
    uint64_t done;                      /* ordered: those below have ended */
    struct mr_gomp_done *ended;         /* … and others */
    bool is_ordered;
    const char *place;   /* of the order of iterations */
    void *copied;        /* by copyprivate; or memory that the members share: */
    size_t copied_bytes; /* 0: it is none */
    unsigned depth;      /* doacross: nested loops, and their iterations */
    uint64_t counts[MR_GOMP_DEPTH];
    char *posted; /* for each iteration of them */
    uint64_t posted_bytes;
} mr_gomp_share;

/* A thread in a team. */
typedef struct mr_gomp_self {
    mr_gomp_team *team;
    struct mr_gomp_self *outer; /* of the thread that began the team; NULL: it is no team */
    unsigned number;
    mr_gomp_task *task;
    mr_gomp_task own;
    mr_gomp_share *share;
    uint64_t shares;        /* that it came to */
    uint64_t trip;          /* the number of the next part that it looks at */
    uint64_t given;         /* iterations in those before that one */
    uint64_t first, behind; /* the iterations that it has */
    uint64_t ordered;       /* that it did in order of these */
} mr_gomp_self;

struct mr_gomp_team {
    mr_gomp_team *next; /* not in use */
    unsigned size, users, arrived, level, active_level;
    unsigned threads; /* of the teams that its members begin … */
    unsigned most;    /* … and how many at most */
    uint64_t use;     /* of the barrier */
    unsigned posted;  /* tasks that ended since the last use */
    unsigned open;    /* tasks */
    mr_gomp_task *first, *last;
    uint64_t steps; /* of the queue */
    const char *place, *queue;
    mr_gomp_share *shares;
    bool is_shaped; /* each member begins in the first one */
    mr_gomp_function function;
    void *data;
};

/* Is libgomp what the program calls, and done here? */
bool mr_gomp_is_used(void);
/* As mr_enter; NULL: call the real function. */
#define MR_GOMP_ENTER() (mr_gomp_is_used() ? mr_enter() : NULL)

/* What the calling thread is. */
mr_gomp_self *mr_gomp_now(void);

/* By the seed: it moves who gets what. */
uint64_t mr_gomp_turn(void);

/* An OpenMP construct is not recorded. */
void mr_gomp_unseen(void);

/* In the log, where the team has several members. */
void mr_gomp_units(const mr_gomp_team *team, mr_log_kind kind, mr_log_role role, const char *place,
                   uint64_t units, uintptr_t code);
void mr_gomp_order(const mr_gomp_team *team, mr_log_kind kind, const char *place, uintptr_t code);

/* An atomic update that is about to be done: others may run before. */
void mr_gomp_before_update(mr_thread *thread, uintptr_t code);
void mr_gomp_update(const mr_gomp_team *team, const char *place, uint64_t old_value,
                    uint64_t new_value, uintptr_t code);

/* Waits for something in the team; it may be there, or not. */
void mr_gomp_wait(mr_thread *thread, const mr_gomp_team *team, const void *key, uintptr_t code);

/* A barrier of the calling thread's team. */
void mr_gomp_barrier(mr_thread *thread, uintptr_t code);

/* Runs a task of the team: of these parents, of this group, or any. False: there is none now. */
bool mr_gomp_run_task(mr_thread *thread, mr_gomp_team *team, const mr_gomp_task *parent,
                      const mr_gomp_group *group, uintptr_t code);

/* What the task's children depended on: all of them have ended, or it has. */
void mr_gomp_drop_table(mr_gomp_task *task);

/* A parallel region. `shape` is its loop or its sections, NULL: none. */
void mr_gomp_parallel(mr_thread *thread, mr_gomp_function function, void *data, unsigned threads,
                      const mr_gomp_share *shape, uintptr_t code);

/* The share that the calling thread comes to; `is_first`: it is new. */
mr_gomp_share *mr_gomp_share_begin(mr_gomp_self *self, bool *is_first);
void mr_gomp_share_end(mr_gomp_self *self);

/* A loop begins that is divided as `kind` says (gomp_work.c); the calling thread gets its first iterations. */
bool mr_gomp_loop(mr_thread *thread, uint64_t count, int kind, uint64_t chunk,
                  mr_gomp_share **share, uint64_t *first, uint64_t *behind);
/* What a parallel region that is a loop begins with. */
void mr_gomp_shape(mr_gomp_share *shape, long start, long end, long step, int kind, long chunk);
enum { MR_GOMP_BY_PROGRAM, MR_GOMP_STATIC, MR_GOMP_DYNAMIC, MR_GOMP_GUIDED, MR_GOMP_AUTO };

/* The function that answers for this one of OpenMP (omp_…); NULL: there is none, or the thread or libgomp is not recorded. */
void *mr_gomp_answer_of(const char *name);

/* omp_lock_t (4 bytes) and omp_nest_lock_t (16 bytes) of libgomp. The caller is busy. */
void mr_gomp_make_lock(void *lock, size_t bytes, mr_log_retired how, uintptr_t code);
void mr_gomp_lock(mr_thread *thread, void *lock, uintptr_t code);
void mr_gomp_unlock(mr_thread *thread, void *lock, uintptr_t code);
int mr_gomp_try_lock(mr_thread *thread, void *lock, uintptr_t code);
void mr_gomp_lock_nested(mr_thread *thread, void *lock, uintptr_t code);
void mr_gomp_unlock_nested(mr_thread *thread, void *lock, uintptr_t code);
int mr_gomp_try_nested(mr_thread *thread, void *lock, uintptr_t code);

/* A detached task's event, as omp_fulfill_event. */
void mr_gomp_fulfill(mr_thread *thread, void *event, uintptr_t code);

/* The thread ends. */
void mr_gomp_ends(void);

/* What the program asked for (gomp_api.c): the schedule of loops that leave it open, and how many threads a team has that this thread
 * begins, for which so many are asked for (0: it does not say). */
void mr_gomp_schedule(int *kind, int *chunk);
unsigned mr_gomp_team_size(const mr_gomp_self *self, unsigned threads);
unsigned mr_gomp_most_threads(const mr_gomp_self *self);

#endif
