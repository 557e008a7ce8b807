/* What tasks of OpenMP depend on (gomp.h). */
#include "gomp_tasks.h"

#include "steer.h"

static void let_go(mr_dependent *task)
{
    mr_gomp_let_go((mr_gomp_task *)task);
}

void mr_gomp_drop_table(mr_gomp_task *task)
{
    mr_dependences_drop(&task->table, let_go);
}

void mr_gomp_come_after(mr_gomp_task *task, uintptr_t code)
{
    mr_dependent_comes_after(&task->order, task->team->size > 1, code);
}

static void depend(mr_gomp_task *task, const void *address, bool writes, bool stays)
{
    mr_dependences_add(&task->parent->table, &task->order, address, writes, stays, let_go);
}

void mr_gomp_depend(mr_gomp_task *task, void **what, bool stays)
{
    enum { IS_IN = 1 };
    bool is_old = (uintptr_t)what[0] != 0;
    uintptr_t count = (uintptr_t)what[is_old ? 0 : 1];
    uintptr_t written = (uintptr_t)what[is_old ? 1 : 2];
    uintptr_t given = count;
    void **at = what + 2;
    if (!is_old) {
        given = written + (uintptr_t)what[3] + (uintptr_t)what[4];
        written += (uintptr_t)what[3];
        at = what + 5;
    }
    for (uintptr_t i = 0; i < count; i++) {
        if (i < given) {
            depend(task, at[i], i < written, stays);
        } else {
            void **object = at[i];
            depend(task, object[0], (uintptr_t)object[1] != IS_IN, stays);
        }
    }
}

void mr_gomp_wait_before(mr_thread *thread, mr_gomp_task *task, void **what, uintptr_t code)
{
    task->is_waited_for = true;
    mr_gomp_depend(task, what, false);
    while (task->order.waits_for > 0 || mr_gomp_takes_one(thread)) {
        if (!mr_gomp_run_task(thread, task->team, task->parent, NULL, code) &&
            task->order.waits_for > 0) {
            mr_gomp_wait(thread, task->team, task->team, code);
        }
    }
    if (mr_steers()) {
        mr_steer_stop(thread, MR_STOP_CALL);
    }
    mr_gomp_come_after(task, code);
}
