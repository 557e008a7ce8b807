#include "kmpc.h"

#include "modules.h"
#include "steer.h"
#include "writer.h"

#include <stdlib.h>

static __thread mr_kmpc_thread *mine;

/* ---- memory ---- */

void *mr_kmpc_allocate(size_t bytes, uintptr_t code)
{
    uintptr_t before = mr_self->caller;
    mr_self->caller = code;
    void *block = malloc(bytes);
    mr_self->caller = before;
    return block;
}

void mr_kmpc_free(void *block, uintptr_t code)
{
    uintptr_t before = mr_self->caller;
    mr_self->caller = code;
    free(block);
    mr_self->caller = before;
}

/* ---- orders and waits ---- */

void mr_kmpc_before(const void *token, uintptr_t code)
{
    mr_write_object(MR_LOG_BEFORE, MR_LOG_ROLE_NONE, token, code, 0, 0);
}

void mr_kmpc_after(const void *token, uintptr_t code)
{
    mr_write_object(MR_LOG_AFTER, MR_LOG_ROLE_NONE, token, code, 0, 0);
}

void mr_kmpc_resume(mr_thread *thread)
{
    if (mr_steers()) {
        mr_steer_stop(thread, MR_STOP_CALL);
    }
}

bool mr_kmpc_block(mr_thread *thread, const void *key, bool is_limited, uintptr_t code)
{
    const int64_t LONG_NS = 1000000000;
    int64_t limit = is_limited && !mr_steers() ? mr_limit_after(LONG_NS) : MR_NEVER;
    mr_write_object(MR_LOG_BLOCKED, MR_LOG_ROLE_BARRIER_OUT, key, code, 0, 0);
    thread->is_inner = true;
    mr_wake_reason reason = mr_block(thread, key, limit, false);
    if (reason == MR_INTERRUPTED) {
        mr_attend(thread);
    }
    return reason == MR_TIMED_OUT;
}

/* ---- threads ---- */

static int next_number;

mr_kmpc_thread *mr_kmpc_new_thread(void)
{
    mr_kmpc_thread *thread = mr_openmp_take(sizeof *thread);
    *thread = (mr_kmpc_thread){.number = next_number++, .settings = mr_kmpc_limits_now()->first};
    return thread;
}

int mr_kmpc_number_theirs(int ours)
{
    int (*ask)(void *) =
        next_number > 0 ? (int (*)(void *))mr_real_find("__kmpc_global_thread_num") : NULL;
    return ask != NULL ? ask(NULL) : ours;
}

bool mr_kmpc_is_used(void)
{
    static enum { UNKNOWN, USED, UNUSED } answer;
    if (answer == UNKNOWN) {
        answer = mr_real_next("__kmpc_fork_call") != NULL ? USED : UNUSED;
    }
    return mine != NULL || answer == USED; /* or a library that was loaded later does */
}

/* The library knows what it takes for true. */
static bool cancels(void)
{
    int (*ask)(void) = getenv("OMP_CANCELLATION") != NULL
                           ? (int (*)(void))mr_real_look("omp_get_cancellation")
                           : NULL;
    return ask != NULL && ask() != 0;
}

bool mr_kmpc_is_left(void)
{
    enum { UNKNOWN, LEFT, OURS };
    static int answer;
    int known = __atomic_load_n(&answer, __ATOMIC_RELAXED);
    if (known == UNKNOWN) {
        known = mr_modules_leave_openmp() || cancels() ? LEFT : OURS;
        __atomic_store_n(&answer, known, __ATOMIC_RELAXED);
    }
    return known == LEFT;
}

void mr_kmpc_become(mr_thread *thread, mr_kmpc_thread *self)
{
    self->of = thread;
    mine = self;
}

mr_kmpc_thread *mr_kmpc_self(mr_thread *thread)
{
    if (mine == NULL ||
        mine->of != thread) { /* in a child that is recorded the thread is another */
        mine = mr_kmpc_new_thread();
        mine->of = thread;
        mr_kmpc_team *alone = mr_kmpc_make_team(mine, 1);
        mine->member = alone->members;
        mine->task = &alone->members->implicit;
    }
    return mine;
}

mr_kmpc_thread *mr_kmpc_current(void)
{
    if (mine != NULL && mine->of == mr_self) {
        return mine;
    }
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return NULL;
    }
    mr_kmpc_thread *self = mr_kmpc_self(thread);
    mr_leave(thread);
    return self;
}
