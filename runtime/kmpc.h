/*
 * kmpc: OpenMP of clang. A program calls the library of LLVM (libomp) by __kmpc_… and omp_…. While the program is recorded, the runtime
 * does these calls itself: inside the library threads would wait for each other unseen. A program that is not recorded calls the library.
 *
 * - A thread of a team is a thread of the trace, made by the thread that first forked it, which keeps it for its later teams.
 * - Fork and barriers are semaphores, as those of pthread_barrier_t. Of tasks each creation and each end has an order of its own, so
 *   tasks that nobody orders stay unordered.
 * - What a thread gets depends on nothing but its own numbers: chunks of dynamic loops go round, so do singles and the tasks of a
 *   thread. OpenMP leaves all of this open. So the schedule of a replay gives each thread the same work, and accesses in two chunks
 *   are in no order that the trace would have from their being given out.
 * - Who waits for tasks does its own meanwhile; those of others only when nothing happens for a long time (a thread that is to do one
 *   may wait for a lock).
 *
 * All that is declared here is called with the baton, by a thread that is busy.
 */
#ifndef MR_RUNTIME_KMPC_H
#define MR_RUNTIME_KMPC_H

#include "openmp.h"
#include "openmp_dependences.h"
#include "steer_tasks.h"

typedef struct mr_kmpc_member mr_kmpc_member;
typedef struct mr_kmpc_team mr_kmpc_team;
typedef struct mr_kmpc_task mr_kmpc_task;

/* From the environment (OMP_NUM_THREADS and so on), or from omp_set_…: these are of the task that calls, and of the regions and tasks
 * that it begins afterwards. */
typedef struct mr_kmpc_settings {
    int threads, most_active_levels;
    int schedule,
        chunk; /* of schedule(runtime): 1 static, 2 dynamic, 3 guided, 4 auto; above: modifiers */
    bool is_dynamic; /* nothing but what omp_get_dynamic says */
} mr_kmpc_settings;

/* A thread of the program that uses OpenMP. */
typedef struct mr_kmpc_thread {
    mr_thread *of;
    int number;             /* in the process */
    mr_kmpc_member *member; /* its place in the team that it is in */
    mr_kmpc_task *task;     /* that it does */
    mr_kmpc_team *job;      /* the next team */
    int job_tid;
    struct mr_kmpc_thread **workers; /* that it forks */
    int worker_count, workers_used;  /* those of teams that it is in now come first */
    mr_kmpc_settings settings;       /* of its task */
    int threads_pushed;              /* for the next fork alone; 0: none */
    int locks_held;
    int depth; /* of tasks within waits */
} mr_kmpc_thread;

typedef struct mr_kmpc_counter { /* of tasks that somebody may wait for */
    const void *token;           /* a semaphore: each end posts a unit */
    uint64_t left;               /* that have not ended */
    uint64_t ended;              /* since the last wait */
} mr_kmpc_counter;

typedef struct mr_kmpc_group {
    struct mr_kmpc_group *around;
    mr_kmpc_counter tasks;
    struct mr_kmpc_reduction *reduction;
} mr_kmpc_group;

struct mr_kmpc_task {
    mr_dependent order; /* the first one */
    mr_kmpc_task *parent;
    mr_kmpc_member *creator, *target; /* who is to do it */
    mr_kmpc_task *next, **from;       /* in the queue of the target; what leads to it there … */
    mr_kmpc_task *next_child, **from_child; /* … and among those of the parent … */
    mr_kmpc_task *queued;                   /* … which are in queues */
    void *body;                             /* the task of the compiled code; NULL: implicit */
    size_t body_bytes, block_bytes;
    unsigned flags;
    bool is_final, is_deferred, may_be_completed, is_completed;
    bool goes_on; /* an untied task is called again for each of its parts */
    const void *created_token;
    mr_made made; /* in a replay */
    mr_kmpc_counter children;
    uint64_t spawned;          /* so far */
    uint64_t depth;            /* of tasks within tasks */
    mr_kmpc_settings settings; /* it begins with */
    mr_dependences *places;    /* of dependences among its children */
    mr_kmpc_group *group;      /* it belongs to */
    mr_kmpc_group *open;       /* the innermost around what it does now */
};

/* A loop that all members of a team come to. */
typedef struct mr_kmpc_loop {
    uint64_t number;
    int left; /* members that have not ended it */
    uint64_t next_ordered;
    const char *token;
    char *posted; /* doacross: one for each iteration */
    struct mr_kmpc_loop *next;
} mr_kmpc_loop;

struct mr_kmpc_member {
    mr_kmpc_team *team;
    int tid;
    mr_kmpc_task implicit;
    mr_kmpc_task *queue, **queue_end;
    uint64_t singles, loops, doacrosses; /* so far */
    struct {
        mr_kmpc_loop *shared; /* ordered */
        uint64_t trip, chunk, next, step_count, ordered;
        int64_t lower, stride;
        bool is_static, is_ordered, has_bumped, is_done;
    } loop;
    struct {
        mr_kmpc_loop *shared;
        int dimensions;
        int64_t *bounds; /* lower, upper, stride of each */
        uint64_t count;
    } doacross;
};

typedef void (*mr_kmpc_microtask)(int *number, int *tid, ...);
enum { MR_KMPC_ARGUMENTS = 256 };

struct mr_kmpc_team {
    int size, level, active_level, users;
    mr_kmpc_member *above; /* who forked it */
    mr_kmpc_member *members;
    mr_kmpc_settings settings; /* of its implicit tasks at first */
    mr_kmpc_microtask function;
    void **arguments;
    int argument_count;
    uintptr_t code;         /* where it was forked */
    uint64_t fork_use, use; /* numbers of semaphores */
    int arrived;
    uint64_t units;       /* posted at this barrier */
    uint64_t outstanding; /* deferred tasks that have not ended */
    void *copied;         /* copyprivate */
    mr_kmpc_loop *loops;
};

/* Does the program call the library of LLVM? That of gcc has functions of the same names (omp_…). */
bool mr_kmpc_is_used(void);
/* Is all of the program left to the library, because it cancels (OMP_CANCELLATION) or calls what the runtime does not do? The caller is
 * not busy. */
bool mr_kmpc_is_left(void);

/* Does the runtime do what the calling thread calls? Else the library is called. */
static inline bool mr_kmpc_is_ours(void)
{
    return mr_rt.active && mr_self != NULL && !mr_kmpc_is_left();
}

/* The number of the calling thread in the library, which is called with it: in a child of fork that is not recorded, code that began before
 * the fork still has ours. */
int mr_kmpc_number_theirs(int ours);
#define MR_THEIRS(number) mr_kmpc_number_theirs(number)

static inline bool mr_kmpc_answers(void)
{
    return mr_rt.active && mr_kmpc_is_used() && mr_kmpc_is_ours();
}

/* The calling thread, which has a team of its own at first. */
mr_kmpc_thread *mr_kmpc_self(mr_thread *thread);
/* Without the baton. */
mr_kmpc_thread *mr_kmpc_current(void);
/* A thread that is to be made, and what it is when it runs. */
mr_kmpc_thread *mr_kmpc_new_thread(void);
void mr_kmpc_become(mr_thread *thread, mr_kmpc_thread *self);

/* A team within that of the thread. The last member that leaves it ends it. */
mr_kmpc_team *mr_kmpc_make_team(mr_kmpc_thread *self, int size);
void mr_kmpc_leave_team(mr_kmpc_team *team);

/* From the environment, for all threads. */
enum { MR_KMPC_LEVELS = 8 };
typedef struct mr_kmpc_limits {
    mr_kmpc_settings first; /* of a thread that no other one of OpenMP has made */
    int threads_at
        [MR_KMPC_LEVELS]; /* of OMP_NUM_THREADS, by the level of who forks; 0: none given */
    int threads;          /* of the process at once */
} mr_kmpc_limits;
const mr_kmpc_limits *mr_kmpc_limits_now(void);

void mr_kmpc_before(const void *token, uintptr_t code);
void mr_kmpc_after(const void *token, uintptr_t code);
/* A replay may stop the thread here, before what is logged next. */
void mr_kmpc_resume(mr_thread *thread);
/* Waits on the key; true: nothing has happened for a long time, which is asked for by `is_limited`. */
bool mr_kmpc_block(mr_thread *thread, const void *key, bool is_limited, uintptr_t code);

void mr_kmpc_barrier(mr_thread *thread, mr_kmpc_thread *self, uintptr_t code);

/* Memory of the program's, as if the code had asked for it. The caller is not busy. */
void *mr_kmpc_allocate(size_t bytes, uintptr_t code);
void mr_kmpc_free(void *block, uintptr_t code);

/* ---- tasks ---- */

/* Does the next own task, if there is one that may be done now; else false. `steals`: or one of another thread. Gives up the baton meanwhile. */
bool mr_kmpc_do_task(mr_thread *thread, mr_kmpc_thread *self, bool steals, uintptr_t code);
/* Another task is counted; and the wait for all of them. The thread does tasks meanwhile. */
void mr_kmpc_count_one(mr_kmpc_counter *counter);
void mr_kmpc_wait_for_all(mr_thread *thread, mr_kmpc_thread *self, mr_kmpc_counter *counter,
                          uintptr_t code);
/* Waits for all that the task depends on. */
void mr_kmpc_wait_for_ends(mr_thread *thread, mr_kmpc_thread *self, mr_kmpc_task *task,
                           uintptr_t code);
/* The children of the task have ended: their dependences are forgotten. */
void mr_kmpc_forget_places(mr_kmpc_task *task);

/* ---- locks ---- */

void mr_kmpc_lock(mr_thread *thread, void *word, unsigned bytes, uintptr_t code);
void mr_kmpc_unlock(mr_thread *thread, void *word, unsigned bytes, uintptr_t code);

#endif
