#include "steer.h"

#include "awaiting.h"
#include "input_signals.h"
#include "inputs.h"
#include "log_short.h"
#include "scheduler.h"
#include "signals.h"
#include "steer_result.h"
#include "steer_state.h"
#include "sys.h"
#include "writer.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

mr_steer_state mr_steer;

enum {
    IDLE_STOPS = 200,   /* so many stop points without an operation, and others help … */
    HELP_STOPS = 400,   /* … for so many, … */
    HELP_ROUNDS = 2000, /* … so often */
    OUTSIDE_LOOKS = 20, /* of the watchdog, one every 5 ms */
    LOOSE_LOOKS = 100,  /* … after which a schedule that is a wish gives way */
};

mr_actor *mr_steer_actor(const mr_thread *thread)
{
    return thread != NULL && thread->role < mr_steer.schedule.role_count
               ? &mr_steer.actors[thread->role]
               : NULL;
}

/* ---- steps ---- */

static const mr_schedule_step *step_now(void)
{
    return mr_steer.at < mr_steer.schedule.step_count ? &mr_steer.schedule.steps[mr_steer.at]
                                                      : NULL;
}

/* A write is logged as a range when reads are ignored, and then it is not known yet. */
static bool is_same_access(mr_log_kind seen, mr_log_kind expected)
{
    return mr_steer_is_same_kind(seen, expected) ||
           (seen == MR_LOG_WRITE && expected == MR_LOG_RANGE_WRITE);
}

/* Where a function of this library calls another one the place is not known. */
static bool is_call_of(const mr_expected *expected, const mr_thread *thread)
{
    uint64_t code = mr_steer_expected_code(expected);
    return thread->called == code || code == 0 ||
           thread->called - mr_steer.own < mr_steer.own_end - mr_steer.own;
}

/* Is the thread, at this stop point, just before the operation? */
static bool is_before(const mr_expected *expected, const mr_thread *thread, mr_stop_kind kind)
{
    uint64_t code = mr_steer_expected_code(expected);
    if (mr_steer.actors[thread->role].position != expected->position) {
        return false;
    }
    if (kind == MR_STOP_WITHIN) {
        return true;
    }
    if (kind == MR_STOP_ACCESS) {
        return is_same_access(mr_log_kind_of(thread->about.head), expected->kind) &&
               thread->about.code == code;
    }
    if (expected->kind == MR_LOG_READ || expected->kind == MR_LOG_WRITE) {
        return false;
    }
    if (mr_log_is_access(expected->kind)) {
        return kind == MR_STOP_ATOMIC && thread->about.code == code;
    }
    return kind == MR_STOP_CALL && is_call_of(expected, thread);
}

/* Is the thread where the step wants it? */
static bool arrives(const mr_schedule_step *step, const mr_thread *thread, mr_stop_kind kind)
{
    if (mr_steer.actors[step->role].position != step->position) {
        return false;
    }
    const mr_expected *expected = mr_steer_next(step->role);
    return step->any_place || expected == NULL || expected->position != step->position ||
           is_before(expected, thread, kind);
}

bool mr_steer_splits(const mr_thread *thread, unsigned head, uintptr_t code)
{
    if (mr_steer_actor(thread) == NULL || mr_steer.at >= mr_steer.schedule.step_count) {
        return false;
    }
    const mr_schedule_step *step = &mr_steer.schedule.steps[mr_steer.at];
    uint64_t position = mr_steer.actors[thread->role].position; /* of the write: not counted yet */
    bool wants = step->role == thread->role && position + 1 >= step->position &&
                 (step->kind == MR_STEP_RUN || step->kind == MR_STEP_STOP);
    const mr_expected *write = wants ? mr_steer_next(thread->role) : NULL;
    if (!wants || (step->kind == MR_STEP_STOP && position + 1 > step->position)) {
        return false;
    }
    (void)head;
    (void)code;
    return write == NULL || write->position != position || !write->has_value ||
           mr_load(mr_hot->open_address, mr_hot->open_form & 3) == write->value;
}

/* Steps that are no thread's, and those that are over because of the positions. */
static const mr_schedule_step *skip_steps(void)
{
    const mr_schedule_step *step;
    while ((step = step_now()) != NULL) {
        const mr_actor *whose = &mr_steer.actors[step->role];
        if (step->kind == MR_STEP_GOAL) {
            mr_steer_reach_goal();
        } else if (step->kind == MR_STEP_HOLD) {
            maxrace_replay_goal();
        } else if ((step->kind == MR_STEP_RUN ? whose->position < step->position
                                              : !whose->arrived)) {
            return step;
        }
        mr_steer.at++;
        mr_steer.helper = MR_ROLE_NONE;
        mr_steer.rounds = mr_steer.outside = 0;
        if (step->kind == MR_STEP_STOP) {
            mr_steer.actors[step->role].arrived = false;
        }
    }
    mr_steer_end();
    return NULL;
}

/* ---- help ---- */

static bool can_help(const mr_actor *self)
{
    return self->thread != NULL && !self->ended && !self->at_bound &&
           (self->thread->state == MR_RUNNABLE ||
            (self->thread->state == MR_BLOCKED && self->thread->deadline != MR_NEVER));
}

/* Somebody who can run, of those that are no further than they may be; the next one in turn. */
static mr_thread *find_helper(uint32_t besides)
{
    uint64_t count = mr_steer.schedule.role_count;
    uint32_t last = mr_steer.helper == MR_ROLE_NONE ? besides : mr_steer.helper;
    if (++mr_steer.rounds > HELP_ROUNDS || mr_steer.reached) {
        return NULL;
    }
    for (uint64_t i = 1; i <= count; i++) {
        uint32_t number = (uint32_t)((last + i) % count);
        mr_actor *self = &mr_steer.actors[number];
        if (number == besides || !can_help(self)) {
            continue;
        }
        if (self->thread->state == MR_BLOCKED && mr_skip_to(self->thread) == NULL) {
            continue;
        }
        mr_steer.helper = number;
        mr_steer.helped = 0;
        self->idle = 0;
        return self->thread;
    }
    return NULL;
}

/* A stop point of the helper: may it go on? */
static bool goes_on_helping(mr_thread *thread, mr_stop_kind kind, const mr_schedule_step *step)
{
    const mr_expected *expected = mr_steer_next(thread->role);
    mr_actor *self = &mr_steer.actors[thread->role];
    const mr_thread *helped = mr_steer.actors[step->role].thread;
    self->at_bound = expected != NULL &&
                     (is_before(expected, thread, kind) || self->position > expected->position);
    bool is_of_use = helped == NULL || helped->state != MR_RUNNABLE;
    return !self->at_bound && ++mr_steer.helped < HELP_STOPS &&
           (is_of_use || mr_steer.helped < IDLE_STOPS);
}

/* The stop point ends a step, or nothing is to be done. False: the thread gives its turn away. */
static bool keeps_turn(mr_thread *thread, mr_stop_kind kind, const mr_schedule_step *step)
{
    mr_actor *self = &mr_steer.actors[step->role];
    if (step->role != thread->role) {
        return mr_steer.helper == thread->role && goes_on_helping(thread, kind, step);
    }
    if (step->kind == MR_STEP_STOP && self->position > step->position) {
        mr_result_word("before");
        mr_result_number((int64_t)self->before);
        mr_result_end();
        mr_steer_diverge("passed the place where it should stop", step->role);
    }
    if (self->idle >= IDLE_STOPS && mr_steer.reached && mr_steer.schedule.is_loose) {
        mr_steer_diverge("does no operation", step->role);
    }
    return self->idle < IDLE_STOPS || mr_steer.reached;
}

/*
 * Far from everything that the schedule knows of, accesses need not be looked at one by one: the
 * thread comes back when its budget is used up. An access that takes one from it has at most two
 * records (a read right after a write takes none); calls and ranges come here anyway.
 */
static void set_pace(mr_thread *thread, const mr_schedule_step *step)
{
    enum { FAR = 256, NEAR = 64 };
    uint64_t position = mr_steer.actors[thread->role].position, far = 0;
    const mr_expected *expected = mr_steer_next(thread->role);
    if (step->role == thread->role && step->position > position && expected != NULL) {
        uint64_t next = expected->position < step->position ? expected->position : step->position;
        far = next - position;
    }
    if (far <= FAR || mr_steer.reached) {
        __atomic_or_fetch(&thread->attention, MR_ATTENTION_STEER, __ATOMIC_RELAXED);
        return;
    }
    __atomic_and_fetch(&thread->attention, ~(uint32_t)MR_ATTENTION_STEER, __ATOMIC_RELAXED);
    mr_budget_set((int64_t)((far - NEAR) / 2));
}

void mr_steer_stop(mr_thread *thread, mr_stop_kind kind)
{
    mr_steer.can_stop_within = false;
    mr_hot->budget -= kind != MR_STOP_FUNCTION;
    if (mr_hot->budget < 0) {
        mr_budget_renew();
    }
    mr_steer_count();
    if (mr_steer.strayed != NULL) {
        mr_steer_diverge(mr_steer.strayed, mr_steer.stray_role);
    }
    const mr_schedule_step *step;
    mr_actor *self = mr_steer_actor(thread);
    if (self != NULL) {
        self->idle = self->position == self->stopped ? self->idle + 1 : 0;
        self->before = self->stopped;
        self->stopped = self->position;
    }
    while (mr_rt.steers && thread->quiet == 0 && (step = skip_steps()) != NULL) {
        if (self != NULL && step->role == thread->role && step->kind == MR_STEP_STOP &&
            arrives(step, thread, kind)) {
            self->arrived = true;
            continue;
        }
        bool keeps = keeps_turn(thread, kind, step);
        if (!mr_rt.steers) {
            return;
        }
        if (keeps) {
            set_pace(thread, step);
            return;
        }
        mr_hand_over(thread);
    }
}

void mr_steer_before(mr_thread *thread, const void *address, unsigned head, uintptr_t code)
{
    thread->about = (mr_about){code, address, head};
    mr_steer_stop(thread, MR_STOP_ACCESS);
    thread->about.code = 0;
}

/* Is it the operation before which a step stops the thread? */
static bool is_at_stop(const mr_thread *thread)
{
    const mr_actor *self = mr_steer_actor(thread);
    mr_steer_count();
    return self != NULL && !mr_steer.reached && mr_steer.strayed == NULL &&
           self->position == self->stop;
}

void mr_steer_within(mr_thread *thread)
{
    if (is_at_stop(thread)) {
        mr_steer_stop(thread, MR_STOP_WITHIN);
    }
}

/* Does a step of the thread end at its position, or may it help no further? */
static bool is_at_end(const mr_thread *thread)
{
    const mr_actor *self = mr_steer_actor(thread);
    mr_steer_count();
    if (self == NULL || mr_steer.reached || mr_steer.at >= mr_steer.schedule.step_count) {
        return false;
    }
    const mr_schedule_step *step = &mr_steer.schedule.steps[mr_steer.at];
    const mr_expected *next = mr_steer_next(thread->role);
    return step->role == thread->role ? self->position >= step->position
                                      : next != NULL && self->position == next->position;
}

void mr_steer_own_access(mr_thread *thread, const void *address, unsigned head, uintptr_t code)
{
    if (is_at_stop(thread) || is_at_end(thread)) {
        mr_steer_before(thread, address, head, code);
    }
}

void mr_steer_call_begins(const mr_thread *thread)
{
    mr_steer.can_stop_within = mr_steer_actor(thread) != NULL;
}

void mr_steer_call_is_made(mr_thread *thread)
{
    mr_steer_within(thread);
    mr_steer.can_stop_within = false;
}

void mr_steer_call_access(mr_thread *thread, const void *address, unsigned head, uintptr_t code)
{
    if (mr_steer.can_stop_within && is_at_stop(thread)) {
        mr_steer_before(thread, address, head, code);
    }
}

/*
 * A thread in a wait at the position of its step: does it stand before the operation of the step?
 * The wait may be one that has no event, as for a lock that the recording was told to ignore. Then
 * an access comes only after it, unless the wait is in the call that makes the access.
 */
static bool waits_in_its_stop(const mr_thread *thread)
{
    const mr_expected *expected = mr_steer_next(thread->role);
    return expected == NULL || !mr_log_is_access(expected->kind) || is_call_of(expected, thread);
}

/* The thread of the step is in a wait; can it go on? */
static mr_thread *from_wait(mr_thread *thread, const mr_schedule_step *step)
{
    mr_actor *whose = &mr_steer.actors[step->role];
    if (mr_signals_ready(thread)) {
        thread->state = MR_RUNNABLE;
        thread->reason = MR_INTERRUPTED;
        return thread;
    }
    if (thread->awaits) {
        mr_thread *helper = find_helper(step->role);
        return helper == NULL && thread->deadline != MR_NEVER ? mr_skip_to(thread) : helper;
    }
    if (step->kind == MR_STEP_STOP && whose->position == step->position &&
        thread->deadline == MR_NEVER && waits_in_its_stop(thread)) {
        whose->arrived = true;
        return NULL;
    }
    return thread->deadline != MR_NEVER ? mr_skip_to(thread) : find_helper(step->role);
}

/* The thread of the step waits where a handler ran: it gets the signal, which is there in no time. */
static bool sends_signal(const mr_thread *thread)
{
    const int ARRIVAL_NS = 50000000;
    if ((thread->state == MR_OUTSIDE || thread->state == MR_BLOCKED) && thread->signals == 0 &&
        mr_steer_handler(thread) == MR_HANDLER_NOW && mr_input_signal_send(thread)) {
        mr_steer.sent_until = mr_clock_ns(CLOCK_MONOTONIC) + ARRIVAL_NS;
    }
    return mr_steer.sent_until != 0 && thread->state != MR_RUNNABLE && thread->signals == 0 &&
           mr_clock_ns(CLOCK_MONOTONIC) < mr_steer.sent_until;
}

/* Counts one more look in which nobody ran for the step. Has a schedule that is a wish waited for long enough? */
static bool looked_in_vain(void)
{
    return ++mr_steer.outside >= LOOSE_LOOKS && mr_steer.schedule.is_loose;
}

/* Who runs for the step; NULL: nobody now. */
static mr_thread *choose_for(const mr_schedule_step *step)
{
    mr_actor *whose = &mr_steer.actors[step->role];
    mr_thread *thread = whose->thread;
    bool waits = thread == NULL || thread->state != MR_RUNNABLE || whose->idle >= IDLE_STOPS;
    if (whose->ended || (thread != NULL && thread->state == MR_DONE)) {
        mr_steer_diverge("ended before its step", step->role);
        return NULL;
    }
    whose->at_bound = false;
    if (thread != NULL && sends_signal(thread)) {
        return NULL;
    }
    if (thread != NULL && thread->state == MR_OUTSIDE) {
        if (mr_steer.outside >= OUTSIDE_LOOKS && mr_steer.reached && mr_steer.schedule.is_loose) {
            mr_steer_diverge("is in a call", step->role);
            return NULL;
        }
        mr_thread *helper = mr_steer.outside + 1 < OUTSIDE_LOOKS ? NULL : find_helper(step->role);
        /* What the call waits for may be what another thread is not to do yet. */
        if (helper == NULL && looked_in_vain()) {
            mr_steer_diverge("is in a call, and nobody can help", step->role);
        }
        return helper;
    }
    if (!waits) {
        return thread;
    }
    bool is_spinning = thread != NULL && thread->state == MR_RUNNABLE;
    whose->idle = 0;
    mr_thread *next =
        thread != NULL && !is_spinning ? from_wait(thread, step) : find_helper(step->role);
    if (next == NULL && is_spinning && mr_steer.rounds <= HELP_ROUNDS) {
        return thread;
    }
    bool may_come =
        thread != NULL && (thread->polls || thread->awaits || thread->deadline != MR_NEVER);
    if (next == NULL && !whose->arrived && !mr_signal_is_due() && (!may_come || looked_in_vain())) {
        mr_steer_diverge(thread == NULL ? "is not there yet"
                         : is_spinning  ? "does no operation, and nobody can help"
                                        : "waits, and nobody is to let it go on",
                         step->role);
    }
    return next;
}

mr_thread *mr_steer_choose(void)
{
    const mr_schedule_step *step;
    mr_steer_count();
    mr_awaited_look();
    if (mr_steer.strayed != NULL) {
        mr_steer_diverge(mr_steer.strayed, mr_steer.stray_role);
    }
    while (mr_rt.steers && (step = skip_steps()) != NULL) {
        mr_thread *next = choose_for(step);
        if (next != NULL || (mr_rt.steers && !mr_steer.actors[step->role].arrived)) {
            return next;
        }
    }
    return NULL;
}

/* ---- what others ask ---- */

void mr_steer_thread(mr_thread *creator, mr_thread *thread)
{
    uint32_t parent = MR_ROLE_NONE, nth = 0;
    mr_actor *whose = mr_steer_actor(creator);
    thread->role = (uint32_t)mr_steer.schedule.role_count + thread->id;
    if (whose != NULL) {
        parent = creator->role;
        nth = ++whose->created;
    }
    for (uint32_t i = 0; i < mr_steer.schedule.role_count; i++) {
        const mr_role *role = &mr_steer.schedule.roles[i];
        if (role->parent == parent && role->nth == nth && (creator == NULL || whose != NULL)) {
            thread->role = i;
            mr_steer.actors[i].thread = thread;
            break;
        }
    }
    thread->attention |= mr_rt.steers ? MR_ATTENTION_STEER : 0;
    thread->attention |= mr_rt.explores ? MR_ATTENTION_EXPLORE : 0;
}

void mr_steer_no_thread(mr_thread *creator, mr_thread *thread)
{
    mr_actor *whose = mr_steer_actor(creator), *its = mr_steer_actor(thread);
    if (whose != NULL) {
        whose->created--;
    }
    if (its != NULL) {
        its->thread = NULL;
    }
}

mr_thread *mr_steer_woken(const mr_thread *thread)
{
    const mr_actor *self = mr_steer_actor(thread);
    for (uint64_t i = 0; self != NULL && i < mr_steer.schedule.wake_count; i++) {
        const mr_schedule_wake *wake = &mr_steer.schedule.wakes[i];
        if (wake->role == thread->role && wake->position == self->position) {
            return mr_steer.actors[wake->woken].thread;
        }
    }
    return NULL;
}

int mr_steer_expects(const mr_thread *thread, mr_log_kind kind)
{
    const mr_actor *self = mr_steer_actor(thread);
    mr_steer_count();
    if (self == NULL || mr_steer.reached) {
        return -1;
    }
    const mr_role *role = &mr_steer.schedule.roles[thread->role];
    uint64_t i = role->next;
    while (i < role->expected_count && role->expected[i].position < self->position) {
        i++;
    }
    if (i == role->expected_count) {
        return -1;
    }
    return role->expected[i].position == self->position && role->expected[i].kind == kind;
}

mr_handler_place mr_steer_handler_place(const mr_thread *thread)
{
    const mr_actor *self = mr_steer_actor(thread);
    if (self == NULL || mr_steer.reached || !mr_steer.schedule.has_handlers) {
        return MR_HANDLER_FREE;
    }
    if (thread == mr_self && thread == mr_rt.owner) {
        mr_steer_count();
    }
    mr_role *role = &mr_steer.schedule.roles[thread->role];
    while (role->handler < role->expected_count &&
           (!role->expected[role->handler].is_handler ||
            role->expected[role->handler].position < self->position)) {
        role->handler++;
    }
    return role->handler == role->expected_count                      ? MR_HANDLER_FREE
           : role->expected[role->handler].position == self->position ? MR_HANDLER_NOW
                                                                      : MR_HANDLER_LATER;
}

/* Is a handler still to run in the thread of this role? */
static bool expects_handler(uint32_t number)
{
    const mr_actor *self = &mr_steer.actors[number];
    const mr_role *role = &mr_steer.schedule.roles[number];
    uint64_t i = role->handler;
    while (i < role->expected_count &&
           (!role->expected[i].is_handler || role->expected[i].position < self->position)) {
        i++;
    }
    return self->thread != NULL && !self->ended && i < role->expected_count;
}

mr_thread *mr_steer_handles(const mr_thread *thread)
{
    const mr_actor *self = mr_steer_actor(thread);
    if (self == NULL || mr_steer.reached || !mr_steer.schedule.has_handlers ||
        expects_handler(thread->role)) {
        return NULL;
    }
    for (uint32_t i = 0; i < mr_steer.schedule.role_count; i++) {
        if (expects_handler(i)) {
            return mr_steer.actors[i].thread;
        }
    }
    return NULL;
}

/* Our own library may be another one. */
static bool is_runtime(const char *path, uint32_t bytes)
{
    const char *name = "libmaxrace_rt.so";
    uint32_t i = 0, first = 0;
    while (first < bytes && path[first] != '\0') {
        first++;
    }
    while (first > 0 && path[first - 1] != '/') {
        first--;
    }
    while (name[i] != '\0' && first + i < bytes && path[first + i] == name[i]) {
        i++;
    }
    return name[i] == '\0';
}

static bool is_same_build(const mr_schedule_module *known, const mr_log_module *module)
{
    if (is_runtime(known->path, known->path_bytes)) {
        return true;
    }
    if (known->id_digits != 2 * module->build_id_bytes) {
        return module->build_id_bytes == 0 && known->id_digits == 1;
    }
    for (uint32_t i = 0; i < known->id_digits; i++) {
        unsigned digit = module->build_id[i / 2] >> (i % 2 == 0 ? 4 : 0) & 15;
        if (known->id[i] != "0123456789abcdef"[digit]) {
            return false;
        }
    }
    return true;
}

void mr_steer_module(const mr_log_module *module, const char *path)
{
    for (uint64_t i = 0; i < mr_steer.schedule.module_count; i++) {
        mr_schedule_module *known = &mr_steer.schedule.modules[i];
        uint32_t same = 0;
        while (same < known->path_bytes && path[same] == known->path[same]) {
            same++;
        }
        if (same != known->path_bytes || path[same] != '\0') {
            continue;
        }
        known->here = module->start;
        if (mr_rt.steers && !is_same_build(known, module)) {
            mr_result_word("module");
            mr_result_word(path);
            mr_result_end();
            mr_steer_diverge("a file of the program is another build than the recorded one",
                             MR_ROLE_NONE);
        }
    }
    if (is_runtime(path, UINT32_MAX)) {
        mr_steer.own = module->start;
        mr_steer.own_end = module->end;
    }
    if (mr_log_is_file(path, "libc.so.")) {
        mr_steer.libc = module->start;
        mr_steer.libc_end = module->end;
    } else if (mr_log_is_file(path, "ld-linux")) {
        mr_steer.loader = module->start;
        mr_steer.loader_end = module->end;
    } else if (mr_log_allocates(path)) {
        mr_steer.glib = module->start;
        mr_steer.glib_end = module->end;
    }
}

/* The thread asks for something else from outside than it did in the recording. */
static void input_differs(const mr_thread *thread, const char *expected, const char *seen)
{
    if (!mr_rt.steers || mr_steer.reached) {
        return;
    }
    mr_result_word("input-expected");
    mr_result_word(expected);
    mr_result_end();
    mr_result_word("input-seen");
    mr_result_word(seen);
    mr_result_end();
    mr_steer_diverge("another input", thread->role);
}

/* Where each thread stops. */
static void note_stops(void)
{
    for (uint64_t i = 0; mr_steer.actors != NULL && i < mr_steer.schedule.role_count; i++) {
        mr_steer.actors[i].stop = UINT64_MAX;
    }
    for (uint64_t i = 0; mr_steer.actors != NULL && i < mr_steer.schedule.step_count; i++) {
        const mr_schedule_step *step = &mr_steer.schedule.steps[i];
        if (step->kind == MR_STEP_STOP) {
            mr_steer.actors[step->role].stop = step->position;
        }
    }
}

static void refuse(const mr_schedule *schedule)
{
    char text[128] = "";
    size_t length = 0;
    if (schedule->line > 0) {
        length = mr_copy_text(text, sizeof text, "line ");
        length += mr_copy_number(text + length, schedule->line);
        text[length++] = ' ';
    }
    mr_copy_text(text + length, sizeof text - length, schedule->problem);
    mr_complain("cannot replay: the schedule cannot be used: ", text);
}

void mr_steer_start(void)
{
    const char *path = secure_getenv(MR_LOG_ENV_REPLAY);
    if (path == NULL || path[0] == '\0') {
        return;
    }
    if (!mr_schedule_read(path, &mr_steer.schedule)) {
        refuse(&mr_steer.schedule);
        mr_sys(SYS_exit_group, MR_LOG_DIVERGED_STATUS, 0, 0, 0, 0, 0);
    }
    mr_steer.actors = mr_pages(mr_steer.schedule.role_count * sizeof *mr_steer.actors);
    note_stops();
    mr_result_open(secure_getenv(MR_LOG_ENV_REPLAY_RESULT), &mr_steer.schedule);
    mr_result_word("maxrace replay result 1");
    mr_result_end();
    mr_steer.helper = MR_ROLE_NONE;
    mr_inputs_tell(input_differs);
    mr_rt.steers = mr_steer.actors != NULL;
    mr_steer.counted = mr_hot->live.cursor;
}
