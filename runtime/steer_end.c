#include "inputs.h"
#include "log_short.h"
#include "steer.h"
#include "steer_result.h"
#include "steer_state.h"
#include "sys.h"
#include "writer.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* "waits THREAD WHAT ADDRESS CODE"; for the end of a thread its number stands for the address. */
static void tell_wait(const mr_actor *self)
{
    static const char *const names[] = {
        [MR_LOG_ROLE_NONE] = "thread",    [MR_LOG_ROLE_MUTEX] = "mutex",
        [MR_LOG_ROLE_RWLOCK] = "rwlock",  [MR_LOG_ROLE_SEMAPHORE] = "semaphore",
        [MR_LOG_ROLE_WAKE] = "condition", [MR_LOG_ROLE_BARRIER_OUT] = "barrier",
    };
    unsigned role = mr_log_detail(self->waits[0]);
    if (self->thread->state == MR_BLOCKED && self->waits[0] == 0 && self->thread->key != NULL) {
        mr_result_word("waits"); /* once, futex, a lock of the program's own */
        mr_result_number(self->thread->role);
        mr_result_word("memory");
        mr_result_address((uintptr_t)self->thread->key);
        mr_result_code(self->thread->called);
        mr_result_end();
        return;
    }
    if (self->waits[0] == 0 || self->thread->state != MR_BLOCKED ||
        role >= sizeof names / sizeof *names || names[role] == NULL) {
        return;
    }
    uint64_t what = mr_log_payload(self->waits[0]);
    for (const mr_thread *t = mr_rt.threads; t != NULL && role == MR_LOG_ROLE_NONE; t = t->next) {
        what = t->id == self->waits[2] ? t->role : what;
    }
    mr_result_word("waits");
    mr_result_number(self->thread->role);
    mr_result_word(names[role]);
    mr_result_address(what);
    mr_result_code(mr_log_code(self->waits[1]));
    mr_result_end();
}

static void tell_threads(void)
{
    for (uint64_t i = 0; i < mr_steer.schedule.role_count; i++) {
        if (mr_steer.actors[i].thread != NULL && !mr_steer.actors[i].ended) {
            mr_result_thread(mr_steer.actors[i].thread, mr_steer.actors[i].position);
            tell_wait(&mr_steer.actors[i]);
        }
    }
}

static void tell_progress(void)
{
    char unfed[160];
    if (mr_inputs_unfed_text(unfed, sizeof unfed)[0] != '\0') {
        mr_result_word("unfed");
        mr_result_word(unfed);
        mr_result_end();
    }
    mr_result_word("steps");
    mr_result_number((int64_t)mr_steer.at);
    mr_result_number((int64_t)mr_steer.schedule.step_count);
    mr_result_end();
    mr_result_word("operations");
    mr_result_number((int64_t)mr_steer.operations);
    mr_result_end();
}

void mr_steer_tell_difference(const char *what)
{
    const mr_expected *expected = &mr_steer.expected;
    mr_result_word(what);
    mr_result_number(mr_steer.stray_role);
    mr_result_number((int64_t)expected->position);
    mr_result_word(mr_log_kind_name(expected->kind));
    uint64_t start =
        expected->module != 0 ? mr_steer.schedule.modules[expected->module - 1].start : 0;
    mr_result_address(start + expected->offset);
    if (expected->has_value) {
        mr_result_number(expected->value);
    }
    mr_result_end();
    mr_result_word("seen");
    mr_result_word(mr_log_kind_name(mr_log_kind_of(mr_steer.seen[0])));
    mr_result_code(mr_log_code(mr_steer.seen[1]));
    if (mr_steer_has_value(mr_steer.seen)) {
        mr_result_number(mr_steer_value(mr_steer.seen));
    }
    mr_result_end();
}

void mr_steer_end(void)
{
    mr_rt.steers = false;
    for (mr_thread *t = mr_rt.threads; t != NULL; t = t->next) {
        __atomic_and_fetch(&t->attention, ~(uint32_t)MR_ATTENTION_STEER, __ATOMIC_RELAXED);
    }
    mr_result_flush();
}

void mr_steer_diverge(const char *why, uint32_t role)
{
    if (mr_steer.reached) {
        mr_result_word("loose");
        mr_result_word(why);
        mr_result_end();
        mr_steer_end();
        return;
    }
    if (!mr_rt.steers) {
        return;
    }
    mr_result_word("outcome diverged");
    mr_result_end();
    mr_result_word("reason");
    mr_result_word(why);
    mr_result_end();
    mr_result_word("whose");
    mr_result_number(role == MR_ROLE_NONE ? -1 : (int64_t)role);
    mr_result_end();
    if (mr_steer.strayed != NULL) {
        mr_steer_tell_difference("expected");
    }
    tell_progress();
    tell_threads();
    if (mr_steer.schedule.is_loose) {
        mr_steer_end();
        return;
    }
    mr_result_flush();
    mr_sys(SYS_exit_group, MR_LOG_DIVERGED_STATUS, 0, 0, 0, 0, 0);
}

void mr_steer_stuck(const char *why)
{
    const mr_schedule_step *step = &mr_steer.schedule.steps[mr_steer.at];
    if (mr_rt.steers && !mr_steer.holds && mr_steer.at < mr_steer.schedule.step_count) {
        mr_steer_diverge(why, step->role);
    }
}

/* Text of a kernel file: the thread is called so in debuggers. */
static void name_thread(const mr_thread *thread, const char *name)
{
    char path[64];
    size_t at = mr_copy_text(path, sizeof path, "/proc/self/task/");
    at += mr_copy_number(path + at, (uint64_t)thread->kernel_id);
    mr_copy_text(path + at, sizeof path - at, "/comm");
    long fd = mr_sys(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_CLOEXEC, 0, 0, 0);
    size_t length = 0;
    while (name[length] != '\0') {
        length++;
    }
    if (fd >= 0) {
        mr_sys(SYS_write, fd, (long)name, (long)length, 0, 0, 0);
        mr_sys(SYS_close, fd, 0, 0, 0, 0, 0);
    }
}

/* Set by a debugger: go on; and let the other access go first. */
volatile int maxrace_replay_go __attribute__((visibility("default")));
volatile int maxrace_replay_other_first __attribute__((visibility("default")));

__attribute__((noinline, visibility("default"))) void maxrace_replay_goal(void)
{
    mr_sys(SYS_prctl, PR_SET_PTRACER, (long)PR_SET_PTRACER_ANY, 0, 0, 0, 0);
    mr_steer.holds = true;
    while (maxrace_replay_go == 0) {
        uint32_t never = 0;
        mr_futex_wait(&never, 0, 20000000);
    }
    mr_steer.holds = false;
    mr_schedule_step *steps = &mr_steer.schedule.steps[mr_steer.at];
    if (maxrace_replay_other_first != 0 && mr_steer.at + 2 < mr_steer.schedule.step_count) {
        mr_schedule_step first = steps[1];
        steps[1] = steps[2];
        steps[2] = first;
    }
}

/* Who stands before the accesses. */
static void name_stopped(void)
{
    static const char *const names[] = {"race-first", "race-second"};
    uint64_t stops = 0;
    for (uint64_t i = 0; i < mr_steer.at && stops < sizeof names / sizeof *names; i++) {
        const mr_schedule_step *step = &mr_steer.schedule.steps[i];
        const mr_actor *its = &mr_steer.actors[step->role];
        if (step->kind == MR_STEP_STOP && its->thread != NULL && !its->ended) {
            name_thread(its->thread, names[stops++]);
        }
    }
}

void mr_steer_reach_goal(void)
{
    mr_result_word("outcome goal");
    mr_result_end();
    mr_result_word("process");
    mr_result_number(mr_sys(SYS_getpid, 0, 0, 0, 0, 0, 0));
    mr_result_end();
    name_stopped();
    tell_progress();
    tell_threads();
    mr_steer.reached = true;
    mr_result_flush();
}

void mr_steer_exit(void)
{
    if (mr_rt.steers && !mr_steer.reached) {
        mr_result_word("outcome ended");
        mr_result_end();
        tell_progress();
        tell_threads();
    }
    if (mr_rt.steers) {
        mr_steer_end();
    }
}
