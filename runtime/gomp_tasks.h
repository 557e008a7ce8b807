/* gomp_tasks: what the files about tasks of OpenMP have in common (gomp.h). */
#ifndef MR_RUNTIME_GOMP_TASKS_H
#define MR_RUNTIME_GOMP_TASKS_H

#include "gomp.h"

/* Flags of GOMP_task and GOMP_taskloop. */
enum {
    MR_GOMP_FINAL = 1 << 1,
    MR_GOMP_DEPENDS = 1 << 3,
    MR_GOMP_IS_UP = 1 << 8,
    MR_GOMP_GRAINSIZE = 1 << 9,
    MR_GOMP_IS_IF = 1 << 10,
    MR_GOMP_NO_GROUP = 1 << 11,
    MR_GOMP_REDUCES = 1 << 12,
    MR_GOMP_DETACHES = 1 << 13,
    MR_GOMP_STRICT = 1 << 14,
};

/* The bytes of a task's place. */
enum { MR_GOMP_CREATED, MR_GOMP_ENDED, MR_GOMP_CHILDREN, MR_GOMP_RETURNED, MR_GOMP_FULFILLED };

/* What the program passes to be copied. */
typedef struct mr_gomp_passed {
    mr_gomp_function function;
    void *data;
    void (*copy)(void *to, void *from);
    size_t bytes, alignment;
    void **event; /* NULL: it is not detached */
} mr_gomp_passed;

const char *mr_gomp_place_of(mr_gomp_task *task);

/* The order of tasks; a team of one has none. */
void mr_gomp_task_order(const mr_gomp_team *team, mr_log_kind kind, mr_log_role role,
                        const char *place, uintptr_t code);

/* In a replay: does the thread take a task next? Others may have ended sooner what it waits for. */
bool mr_gomp_takes_one(const mr_thread *thread);

/* One user less. */
void mr_gomp_let_go(mr_gomp_task *task);

/* Memory of the program's, with a life in the log. */
void *mr_gomp_take_block(size_t bytes, uintptr_t code);
void mr_gomp_give_block(void *block, size_t bytes, uintptr_t code);

/*
 * The task depends on what `what` says; `stays`: later children of its parent may depend on it. What compilers pass: the number of addresses,
 * of those that are written, and the addresses; or 0, the number of addresses, of those that are written, that exclude each other, that
 * are read, and the addresses: the rest are of objects with an address and a kind.
 */
void mr_gomp_depend(mr_gomp_task *task, void **what, bool stays);
/* Waits for all that the task depends on, which is no task of the queue. */
void mr_gomp_wait_before(mr_thread *thread, mr_gomp_task *task, void **what, uintptr_t code);
/* The calling thread comes after what comes before the task by dependences. */
void mr_gomp_come_after(mr_gomp_task *task, uintptr_t code);

/* A task of the calling thread. `bounds`: of its iterations, NULL: none. */
bool mr_gomp_is_run_now(mr_thread *thread, unsigned count, uintptr_t code);
void mr_gomp_run_now(mr_thread *thread, const mr_gomp_passed *what, void **depends,
                     const uint64_t *bounds, bool is_final, uintptr_t code);
void mr_gomp_create(mr_thread *thread, const mr_gomp_passed *what, void **depends,
                    const uint64_t *bounds, bool is_final, uintptr_t code);

#endif
