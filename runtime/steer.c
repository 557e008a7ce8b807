#include "steer.h"

#include "log_short.h"
#include "modules.h"
#include "scheduler.h"
#include "steer_result.h"
#include "sys.h"
#include "writer.h"

#include <stdlib.h>
#include <sys/syscall.h>

/* A role while the replay runs. */
typedef struct actor {
    mr_thread *thread; /* NULL: not there yet, or gone */
    uint64_t position; /* operations so far */
    uint32_t created;  /* threads that it created */
    uint64_t stopped;  /* … at its last stop point, … */
    uint64_t before;   /* … and at the one before */
    bool ended, arrived;
    bool at_bound; /* it helped, up to its next operation */
    uint32_t idle; /* stop points since its last operation */
} actor;

static struct {
    mr_schedule schedule;
    actor *actors;
    uint64_t at;                            /* the step */
    uint64_t operations;                    /* of all threads */
    const uint32_t *counted;                /* the log up to here is counted … */
    mr_thread *writes;                      /* … and what follows is this thread's */
    uintptr_t libc, libc_end, own, own_end; /* the C library and this one */
    uint32_t helper;                        /* the role that helps, MR_ROLE_NONE */
    uint32_t helped;                        /* stop points of the helper */
    uint32_t rounds;                        /* of help in this step */
    uint32_t outside;                       /* how often the thread of the step was in a call */
    bool reached;                           /* the goal */
    bool differs;                           /* a value did */
    const char *strayed; /* why the replay cannot go on; found while the log is counted */
    uint32_t stray_role;
    mr_expected expected;
    uint64_t seen[4]; /* a record */
} steer;

/* NULL: the schedule knows no such thread. */
static actor *actor_of(const mr_thread *thread)
{
    return thread != NULL && thread->role < steer.schedule.role_count ? &steer.actors[thread->role]
                                                                      : NULL;
}

enum {
    IDLE_STOPS = 200,   /* so many stop points without an operation, and others help … */
    HELP_STOPS = 400,   /* … for so many, … */
    HELP_ROUNDS = 2000, /* … so often */
    OUTSIDE_LOOKS = 20, /* of the watchdog, one every 5 ms */
};

/* ---- the end ---- */

static void tell_threads(void)
{
    for (uint64_t i = 0; i < steer.schedule.role_count; i++) {
        if (steer.actors[i].thread != NULL && !steer.actors[i].ended) {
            mr_result_thread(steer.actors[i].thread, steer.actors[i].position);
        }
    }
}

static void tell_progress(void)
{
    mr_result_word("steps");
    mr_result_number((int64_t)steer.at);
    mr_result_number((int64_t)steer.schedule.step_count);
    mr_result_end();
    mr_result_word("operations");
    mr_result_number((int64_t)steer.operations);
    mr_result_end();
}

/* The value of an operation: what it reads, or writes when it reads nothing. */
static int64_t value_of(const uint64_t *record)
{
    return mr_log_kind_of(record[0]) == MR_LOG_ATOMIC_UPDATE ? (int64_t)record[2]
                                                             : mr_log_value(record);
}

static bool has_value(const uint64_t *record)
{
    return mr_log_is_access(mr_log_kind_of(record[0])) &&
           (mr_log_detail(record[0]) & MR_LOG_NO_VALUE) == 0;
}

static void tell_difference(const char *what)
{
    const mr_expected *expected = &steer.expected;
    mr_result_word(what);
    mr_result_number(steer.stray_role);
    mr_result_number((int64_t)expected->position);
    mr_result_word(mr_log_kind_name(expected->kind));
    uint64_t start = expected->module != 0 ? steer.schedule.modules[expected->module - 1].start : 0;
    mr_result_address(start + expected->offset);
    if (expected->has_value) {
        mr_result_number(expected->value);
    }
    mr_result_end();
    mr_result_word("seen");
    mr_result_word(mr_log_kind_name(mr_log_kind_of(steer.seen[0])));
    mr_result_code(mr_log_code(steer.seen[1]));
    if (has_value(steer.seen)) {
        mr_result_number(value_of(steer.seen));
    }
    mr_result_end();
}

/* Threads run by seed again. */
static void stop_steering(void)
{
    mr_rt.steers = false;
    for (mr_thread *t = mr_rt.threads; t != NULL; t = t->next) {
        __atomic_and_fetch(&t->attention, ~(uint32_t)MR_ATTENTION_STEER, __ATOMIC_RELAXED);
    }
    mr_result_flush();
}

/* Ends the program: what was to happen does not. After the goal, only steering ends. */
static void diverge(const char *why, uint32_t role)
{
    if (steer.reached) {
        mr_result_word("loose");
        mr_result_word(why);
        mr_result_end();
        stop_steering();
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
    if (steer.strayed != NULL) {
        tell_difference("expected");
    }
    tell_progress();
    tell_threads();
    mr_result_flush();
    mr_sys(SYS_exit_group, MR_LOG_DIVERGED_STATUS, 0, 0, 0, 0, 0);
}

void mr_steer_stuck(const char *why)
{
    const mr_schedule_step *step = &steer.schedule.steps[steer.at];
    if (mr_rt.steers && steer.at < steer.schedule.step_count) {
        diverge(why, step->role);
    }
}

__attribute__((noinline, visibility("default"))) void maxrace_replay_goal(void)
{
    __asm__ volatile("" ::: "memory");
}

static void reach_goal(void)
{
    mr_result_word("outcome goal");
    mr_result_end();
    tell_progress();
    tell_threads();
    steer.reached = true;
    mr_result_flush();
}

void mr_steer_exit(void)
{
    if (mr_rt.steers && !steer.reached) {
        mr_result_word("outcome ended");
        mr_result_end();
        tell_progress();
        tell_threads();
    }
    if (mr_rt.steers) {
        stop_steering();
    }
}

/* ---- counting and comparing ---- */

static bool is_libc(uint64_t code)
{
    return code - steer.libc < steer.libc_end - steer.libc;
}

static bool counts(const uint64_t *record)
{
    unsigned kind = mr_log_kind_of(record[0]);
    return mr_log_counts(kind) &&
           ((kind != MR_LOG_GIVEN && kind != MR_LOG_TAKEN) || !is_libc(mr_log_code(record[1])));
}

/* The code address that is expected, in this process; 0: its module is not loaded. */
static uint64_t expected_code(const mr_expected *expected)
{
    if (expected->module == 0) {
        return expected->offset;
    }
    uint64_t here = steer.schedule.modules[expected->module - 1].here;
    return here != 0 ? here + expected->offset : 0;
}

static void copy_record(const uint64_t *record)
{
    uint64_t words = mr_log_is_access(mr_log_kind_of(record[0])) ? mr_log_words(record, 4) : 3;
    for (uint64_t i = 0; i < words && i < 4; i++) {
        steer.seen[i] = record[i];
    }
}

static void note_value(uint32_t role, const mr_expected *expected, const uint64_t *record)
{
    if (!steer.differs) {
        steer.differs = true;
        steer.stray_role = role;
        steer.expected = *expected;
        copy_record(record);
        tell_difference("value");
    }
}

static void compare(uint32_t number, const uint64_t *record)
{
    mr_role *role = &steer.schedule.roles[number];
    uint64_t position = steer.actors[number].position;
    while (role->next < role->expected_count && role->expected[role->next].position < position) {
        role->next++;
    }
    const mr_expected *expected = &role->expected[role->next];
    if (steer.reached || role->next >= role->expected_count || expected->position != position) {
        return;
    }
    if (mr_log_kind_of(record[0]) != expected->kind ||
        mr_log_code(record[1]) != expected_code(expected)) {
        steer.strayed = "another operation";
        steer.stray_role = number;
        steer.expected = *expected;
        copy_record(record);
    } else if (expected->has_value && has_value(record) && value_of(record) != expected->value) {
        note_value(number, expected, record);
    }
}

/* After the goal: what the threads that stood there have done. */
static void tell_done(uint32_t number, const uint64_t *record)
{
    mr_result_word("did");
    mr_result_number(number);
    mr_result_word(mr_log_kind_name(mr_log_kind_of(record[0])));
    mr_result_address(mr_log_payload(record[0]));
    if (has_value(record)) {
        mr_result_number(value_of(record));
    }
    mr_result_end();
}

static void count_record(mr_thread *thread, const uint64_t *record)
{
    actor *self = actor_of(thread);
    if (self == NULL || !counts(record)) {
        return;
    }
    compare(thread->role, record);
    if (steer.reached && steer.at < steer.schedule.step_count &&
        steer.schedule.steps[steer.at].role == thread->role) {
        tell_done(thread->role, record);
    }
    self->position++;
    steer.operations++;
    self->ended = self->ended || mr_log_kind_of(record[0]) == MR_LOG_END;
}

/* A short record of the log as a full one. The models are those of the writer, which knows the value
 * by now. */
static const uint64_t *full_record(const uint32_t *units, uint64_t *room)
{
    if (!mr_log_is_short(units[0])) {
        return (const uint64_t *)(const void *)units;
    }
    mr_log_parts parts = mr_log_take_apart(units);
    const mr_log_site *site = &mr_writer_model.sites[parts.site];
    int64_t value = 0;
    if (parts.form == MR_LOG_FORM_SAME) {
        value = *mr_writer_known((unsigned)site->head & 0xffff, site->address);
    } else {
        value =
            parts.form == MR_LOG_FORM_32 ? (int32_t)parts.content[0] : mr_log_wide(parts.content);
    }
    room[0] = (site->head & 0xffff) | site->address << 16;
    room[1] = mr_log_payload(site->head);
    room[2] = (uint64_t)value;
    return room;
}

void mr_steer_count(void)
{
    const uint32_t *end = mr_hot->live.cursor;
    uint64_t room[3];
    if (steer.counted > end) {
        steer.counted = end; /* entries of functions were taken back */
    }
    while (mr_rt.steers && steer.counted < end) {
        uint64_t units = mr_log_units(steer.counted, (uint64_t)(end - steer.counted));
        if (units == 0) {
            steer.strayed = steer.strayed != NULL ? steer.strayed : "the log cannot be read";
            break;
        }
        count_record(steer.writes, full_record(steer.counted, room));
        steer.counted += units;
    }
    steer.counted = end;
}

void mr_steer_moved(void)
{
    steer.counted = mr_hot->live.cursor;
}

void mr_steer_switched(uint32_t number)
{
    steer.counted = mr_hot->live.cursor;
    for (mr_thread *t = mr_rt.threads; t != NULL; t = t->next) {
        if (t->id == number) {
            steer.writes = t;
        }
    }
}

/* ---- steps ---- */

static const mr_schedule_step *step_now(void)
{
    return steer.at < steer.schedule.step_count ? &steer.schedule.steps[steer.at] : NULL;
}

/* What the thread is expected to do at its position or later; NULL: nothing is known. */
static const mr_expected *next_expected(uint32_t number)
{
    mr_role *role = &steer.schedule.roles[number];
    while (role->next < role->expected_count &&
           role->expected[role->next].position < steer.actors[number].position) {
        role->next++;
    }
    return role->next < role->expected_count ? &role->expected[role->next] : NULL;
}

/* Is the thread, at this stop point, just before the operation? */
static bool is_before(const mr_expected *expected, const mr_thread *thread, mr_stop_kind kind)
{
    uint64_t code = expected_code(expected);
    if (steer.actors[thread->role].position != expected->position) {
        return false;
    }
    if (expected->kind == MR_LOG_READ || expected->kind == MR_LOG_WRITE) {
        return kind == MR_STOP_ACCESS && mr_log_kind_of(thread->about.head) == expected->kind &&
               thread->about.code == code;
    }
    if (mr_log_is_access(expected->kind)) {
        return kind == MR_STOP_ATOMIC && thread->about.code == code;
    }
    /* Where a function of this library calls another one the place is not known. */
    return kind == MR_STOP_CALL && (thread->called == code || code == 0 ||
                                    thread->called - steer.own < steer.own_end - steer.own);
}

/* Is the thread where the step wants it? */
static bool arrives(const mr_schedule_step *step, const mr_thread *thread, mr_stop_kind kind)
{
    if (steer.actors[step->role].position != step->position) {
        return false;
    }
    const mr_expected *expected = next_expected(step->role);
    return step->any_place || expected == NULL || expected->position != step->position ||
           is_before(expected, thread, kind);
}

bool mr_steer_splits(const mr_thread *thread, unsigned head, uintptr_t code)
{
    if (actor_of(thread) == NULL || steer.at >= steer.schedule.step_count) {
        return false;
    }
    const mr_schedule_step *step = &steer.schedule.steps[steer.at];
    uint64_t position = steer.actors[thread->role].position; /* of the write: not counted yet */
    bool wants = step->role == thread->role && position + 1 >= step->position &&
                 (step->kind == MR_STEP_RUN || step->kind == MR_STEP_STOP);
    const mr_expected *write = wants ? next_expected(thread->role) : NULL;
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
        const actor *whose = &steer.actors[step->role];
        if (step->kind == MR_STEP_GOAL) {
            reach_goal();
        } else if (step->kind == MR_STEP_HOLD) {
            maxrace_replay_goal();
        } else if ((step->kind == MR_STEP_RUN ? whose->position < step->position
                                              : !whose->arrived)) {
            return step;
        }
        steer.at++;
        steer.helper = MR_ROLE_NONE;
        steer.rounds = steer.outside = 0;
        if (step->kind == MR_STEP_STOP) {
            steer.actors[step->role].arrived = false;
        }
    }
    stop_steering();
    return NULL;
}

/* ---- help ---- */

static bool can_help(const actor *self)
{
    return self->thread != NULL && !self->ended && !self->at_bound &&
           (self->thread->state == MR_RUNNABLE ||
            (self->thread->state == MR_BLOCKED && self->thread->deadline != MR_NEVER));
}

/* Somebody who can run, of those that are no further than they may be; the next one in turn. */
static mr_thread *find_helper(uint32_t besides)
{
    uint64_t count = steer.schedule.role_count;
    uint32_t last = steer.helper == MR_ROLE_NONE ? besides : steer.helper;
    if (++steer.rounds > HELP_ROUNDS) {
        return NULL;
    }
    for (uint64_t i = 1; i <= count; i++) {
        uint32_t number = (uint32_t)((last + i) % count);
        actor *self = &steer.actors[number];
        if (number == besides || !can_help(self)) {
            continue;
        }
        if (self->thread->state == MR_BLOCKED && mr_skip_to(self->thread) == NULL) {
            continue;
        }
        steer.helper = number;
        steer.helped = 0;
        self->idle = 0;
        return self->thread;
    }
    return NULL;
}

/* A stop point of the helper: may it go on? */
static bool goes_on_helping(mr_thread *thread, mr_stop_kind kind, const mr_schedule_step *step)
{
    const mr_expected *expected = next_expected(thread->role);
    actor *self = &steer.actors[thread->role];
    const mr_thread *helped = steer.actors[step->role].thread;
    self->at_bound = expected != NULL &&
                     (is_before(expected, thread, kind) || self->position > expected->position);
    bool is_of_use = helped == NULL || helped->state != MR_RUNNABLE;
    return !self->at_bound && ++steer.helped < HELP_STOPS &&
           (is_of_use || steer.helped < IDLE_STOPS);
}

/* The stop point ends a step, or nothing is to be done. False: the thread gives its turn away. */
static bool keeps_turn(mr_thread *thread, mr_stop_kind kind, const mr_schedule_step *step)
{
    actor *self = &steer.actors[step->role];
    if (step->role != thread->role) {
        return steer.helper == thread->role && goes_on_helping(thread, kind, step);
    }
    if (step->kind == MR_STEP_STOP && self->position > step->position) {
        mr_result_word("before");
        mr_result_number((int64_t)self->before);
        mr_result_end();
        diverge("passed the place where it should stop", step->role);
    }
    return self->idle < IDLE_STOPS || steer.reached;
}

void mr_steer_stop(mr_thread *thread, mr_stop_kind kind)
{
    mr_hot->budget -= kind != MR_STOP_FUNCTION;
    if (mr_hot->budget < 0) {
        mr_budget_renew();
    }
    mr_steer_count();
    if (steer.strayed != NULL) {
        diverge(steer.strayed, steer.stray_role);
    }
    const mr_schedule_step *step;
    actor *self = actor_of(thread);
    if (self != NULL) {
        self->idle = self->position == self->stopped ? self->idle + 1 : 0;
        self->before = self->stopped;
        self->stopped = self->position;
    }
    while (mr_rt.steers && thread->quiet == 0 && (step = skip_steps()) != NULL) {
        if (step->role == thread->role && step->kind == MR_STEP_STOP &&
            arrives(step, thread, kind)) {
            self->arrived = true;
            continue;
        }
        if (keeps_turn(thread, kind, step)) {
            return;
        }
        mr_hand_over(thread);
    }
}

/* The thread of the step is in a wait; can it go on? */
static mr_thread *from_wait(mr_thread *thread, const mr_schedule_step *step)
{
    actor *whose = &steer.actors[step->role];
    if (thread->signals != 0) {
        thread->state = MR_RUNNABLE;
        thread->reason = MR_INTERRUPTED;
        return thread;
    }
    if (step->kind == MR_STEP_STOP && whose->position == step->position &&
        thread->deadline == MR_NEVER) {
        whose->arrived = true;
        return NULL;
    }
    return thread->deadline != MR_NEVER ? mr_skip_to(thread) : find_helper(step->role);
}

/* Who runs for the step; NULL: nobody now. */
static mr_thread *choose_for(const mr_schedule_step *step)
{
    actor *whose = &steer.actors[step->role];
    mr_thread *thread = whose->thread, *next = thread;
    bool waits = thread == NULL || thread->state != MR_RUNNABLE || whose->idle >= IDLE_STOPS;
    if (whose->ended || (thread != NULL && thread->state == MR_DONE)) {
        diverge("ended before its step", step->role);
        return NULL;
    }
    whose->at_bound = false;
    if (thread != NULL && thread->state == MR_OUTSIDE) {
        return ++steer.outside < OUTSIDE_LOOKS ? NULL : find_helper(step->role);
    }
    if (!waits) {
        return thread;
    }
    bool is_spinning = thread != NULL && thread->state == MR_RUNNABLE;
    whose->idle = 0;
    next = thread != NULL && !is_spinning ? from_wait(thread, step) : find_helper(step->role);
    if (next == NULL && is_spinning && steer.rounds <= HELP_ROUNDS) {
        return thread;
    }
    if (next == NULL && !whose->arrived &&
        (thread == NULL || (!thread->polls && thread->deadline == MR_NEVER))) {
        diverge(thread == NULL ? "is not there yet"
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
    if (steer.strayed != NULL) {
        diverge(steer.strayed, steer.stray_role);
    }
    while (mr_rt.steers && (step = skip_steps()) != NULL) {
        mr_thread *next = choose_for(step);
        if (next != NULL || (mr_rt.steers && !steer.actors[step->role].arrived)) {
            return next;
        }
    }
    return NULL;
}

/* ---- what others ask ---- */

void mr_steer_thread(mr_thread *creator, mr_thread *thread)
{
    uint32_t parent = MR_ROLE_NONE, nth = 0;
    actor *whose = actor_of(creator);
    thread->role = (uint32_t)steer.schedule.role_count + thread->id;
    if (whose != NULL) {
        parent = creator->role;
        nth = ++whose->created;
    }
    for (uint32_t i = 0; i < steer.schedule.role_count; i++) {
        const mr_role *role = &steer.schedule.roles[i];
        if (role->parent == parent && role->nth == nth && (creator == NULL || whose != NULL)) {
            thread->role = i;
            steer.actors[i].thread = thread;
            break;
        }
    }
    if (mr_rt.steers) {
        thread->attention |= MR_ATTENTION_STEER;
    }
}

void mr_steer_no_thread(mr_thread *creator, mr_thread *thread)
{
    actor *whose = actor_of(creator), *its = actor_of(thread);
    if (whose != NULL) {
        whose->created--;
    }
    if (its != NULL) {
        its->thread = NULL;
    }
}

mr_thread *mr_steer_woken(const mr_thread *thread)
{
    const actor *self = actor_of(thread);
    for (uint64_t i = 0; self != NULL && i < steer.schedule.wake_count; i++) {
        const mr_schedule_wake *wake = &steer.schedule.wakes[i];
        if (wake->role == thread->role && wake->position == self->position) {
            return steer.actors[wake->woken].thread;
        }
    }
    return NULL;
}

int mr_steer_expects(const mr_thread *thread, mr_log_kind kind)
{
    const actor *self = actor_of(thread);
    mr_steer_count();
    if (self == NULL || steer.reached) {
        return -1;
    }
    const mr_role *role = &steer.schedule.roles[thread->role];
    uint64_t i = role->next;
    while (i < role->expected_count && role->expected[i].position < self->position) {
        i++;
    }
    if (i == role->expected_count) {
        return -1;
    }
    return role->expected[i].position == self->position && role->expected[i].kind == kind;
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
    for (uint64_t i = 0; i < steer.schedule.module_count; i++) {
        mr_schedule_module *known = &steer.schedule.modules[i];
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
            diverge("a file of the program is another build than the recorded one", MR_ROLE_NONE);
        }
    }
    if (is_runtime(path, UINT32_MAX)) {
        steer.own = module->start;
        steer.own_end = module->end;
    }
    if (mr_log_is_libc(path)) {
        steer.libc = module->start;
        steer.libc_end = module->end;
    }
}

void mr_steer_start(void)
{
    const char *path = secure_getenv(MR_LOG_ENV_REPLAY);
    if (path == NULL || path[0] == '\0') {
        return;
    }
    if (!mr_schedule_read(path, &steer.schedule)) {
        mr_complain("cannot replay: the schedule cannot be used: ", steer.schedule.problem);
        mr_sys(SYS_exit_group, MR_LOG_DIVERGED_STATUS, 0, 0, 0, 0, 0);
    }
    steer.actors = mr_pages(steer.schedule.role_count * sizeof *steer.actors);
    mr_result_open(secure_getenv(MR_LOG_ENV_REPLAY_RESULT), &steer.schedule);
    mr_result_word("maxrace replay result 1");
    mr_result_end();
    steer.helper = MR_ROLE_NONE;
    mr_rt.steers = steer.actors != NULL;
    steer.counted = mr_hot->live.cursor;
}
