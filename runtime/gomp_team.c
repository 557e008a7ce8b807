/* Teams of OpenMP (gomp.h): their threads, their barrier, and what the other files need. */
#include "gomp.h"

#include "explore.h"
#include "modules.h"
#include "steer.h"
#include "sys.h"
#include "unseen.h"
#include "writer.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* A thread of a team; it waits for the next one. */
typedef struct worker {
    struct worker *next;
    mr_gomp_team *team; /* the next one, NULL: none */
    mr_gomp_self *outer;
    unsigned number;
    uint64_t use; /* of the team's barrier, for its begin */
    uintptr_t code;
    bool ends;
    mr_gomp_self self;
} worker;

static __thread mr_gomp_self *now;
static __thread mr_gomp_self initial;
static __thread worker *workers;       /* of the thread that begins teams, the first ones first */
static __thread unsigned workers_used; /* by its teams now, which are nested */
static __thread long workers_process;

static mr_gomp_team *unused_teams;

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), bytes = strlen(end);
    return length >= bytes && strcmp(name + length - bytes, end) == 0;
}

/*
 * A function of libgomp that has to do with teams or tasks and is not done here: older than gcc 4.9, newer than this file, of reductions
 * with the modifier `task`, or of Fortran. The library knows nothing of the teams that are made here, so its answer would be wrong.
 */
static bool is_not_done(const char *name)
{
    static const char *const done[] = {"PLUGIN_",   "alloc",     "atomic_",  "barrier", "cancel",
                                       "critical_", "doacross_", "error",    "free",    "loop_",
                                       "offload_",  "ordered_",  "sections", "single_", "target",
                                       "task",      "teams",     "warning",  "parallel"};
    if (mr_begins_with(name, "omp_")) {
        return ends_with(name, "_") && !mr_begins_with(name, "omp_get_wti");
    }
    if (!mr_begins_with(name, "GOMP_")) {
        return false;
    }
    if (strcmp(name, "GOMP_taskwait_depend_nowait") == 0 ||
        strcmp(name, "GOMP_parallel_reductions") == 0 || strcmp(name, "GOMP_parallel_end") == 0 ||
        (mr_begins_with(name, "GOMP_parallel") && ends_with(name, "_start"))) {
        return true;
    }
    for (size_t i = 0; i < sizeof done / sizeof *done; i++) {
        if (mr_begins_with(name + sizeof "GOMP_" - 1, done[i])) {
            return false;
        }
    }
    return true;
}

bool mr_gomp_is_used(void)
{
    enum { UNKNOWN, USED, OTHER };
    static int known;
    if (known == UNKNOWN) {
        Dl_info info;
        void *real = mr_real_look("GOMP_parallel");
        const char *cancels = secure_getenv("OMP_CANCELLATION");
        bool is_gomp = real != NULL && dladdr(real, &info) != 0 && info.dli_fname != NULL &&
                       mr_is_called(info.dli_fname, "libgomp.so") &&
                       !mr_is_instrumented((uintptr_t)real) &&
                       mr_real_next("__kmpc_fork_call") == NULL; /* that of clang, too */
        if (real == NULL && mr_real_look("__kmpc_fork_call") == NULL) {
            return false; /* a library that is loaded later may bring it */
        }
        known = is_gomp && (cancels == NULL || strcasecmp(cancels, "true") != 0) &&
                        !mr_modules_call(is_not_done)
                    ? USED
                    : OTHER;
    }
    return known == USED && mr_rt.active;
}

mr_gomp_self *mr_gomp_now(void)
{
    if (now == NULL) {
        now = &initial;
        initial.team = mr_openmp_take(sizeof *initial.team);
        initial.team->size = 1;
        initial.team->most = UINT_MAX;
        initial.task = &initial.own;
        initial.own.team = initial.team;
    }
    return now;
}

uint64_t mr_gomp_turn(void)
{
    return mr_rt.header != NULL ? mr_rt.header->seed : 0;
}

/* ---- the log ---- */

void mr_gomp_unseen(void)
{
    mr_unseen_module(MR_LOG_UNSEEN_OPENMP);
}

void mr_gomp_units(const mr_gomp_team *team, mr_log_kind kind, mr_log_role role, const char *place,
                   uint64_t units, uintptr_t code)
{
    if (team->size > 1) {
        mr_openmp_units(kind, role, place, units, place == team->place ? team->use : 0, code);
    }
}

void mr_gomp_order(const mr_gomp_team *team, mr_log_kind kind, const char *place, uintptr_t code)
{
    if (team->size > 1) {
        mr_write_object(kind, MR_LOG_ROLE_NONE, place, code, 0, 0);
    }
}

void mr_gomp_before_update(mr_thread *thread, uintptr_t code)
{
    if (mr_steers()) {
        thread->about = (mr_about){code, NULL, MR_LOG_ATOMIC_UPDATE << 2};
        mr_steer_stop(thread, MR_STOP_ATOMIC);
        thread->about.code = 0;
    } else {
        mr_yield(thread);
    }
}

enum { LOG2_WORD = 3 }; /* and relaxed */

void mr_gomp_update(const mr_gomp_team *team, const char *place, uint64_t old_value,
                    uint64_t new_value, uintptr_t code)
{
    if (team->size > 1) {
        mr_writer_settle();
        uint64_t *record = mr_writer_room();
        record[0] = mr_log_head(MR_LOG_ATOMIC_UPDATE, LOG2_WORD, (uintptr_t)place);
        record[1] = code;
        record[2] = old_value;
        record[3] = new_value;
        mr_writer_advance(record + 4);
    }
}

void mr_gomp_wait(mr_thread *thread, const mr_gomp_team *team, const void *key, uintptr_t code)
{
    mr_write_object(MR_LOG_BLOCKED, MR_LOG_ROLE_BARRIER_OUT, team->place, code, 0, team->use);
    if (mr_block(thread, key, MR_NEVER, false) == MR_INTERRUPTED) {
        mr_attend(thread);
    }
}

/* ---- the barrier ---- */

static bool is_complete(const mr_gomp_team *team)
{
    return team->arrived == team->size && team->open == 0;
}

/* All have come, and all tasks have ended. */
static void take_posts(mr_gomp_team *team, uintptr_t code)
{
    mr_gomp_units(team, MR_LOG_WAIT, MR_LOG_ROLE_BARRIER_IN, team->place,
                  (uint64_t)team->size + team->posted, code);
    team->arrived = team->posted = 0;
}

/* Comes to the barrier, and runs tasks until somebody else has released it. True: it is this thread that has to. */
static bool arrive(mr_thread *thread, mr_gomp_team *team, uintptr_t code)
{
    uint64_t use = team->use;
    mr_yield(thread);
    team->arrived++;
    mr_gomp_units(team, MR_LOG_POST, MR_LOG_ROLE_BARRIER_IN, team->place, 1, code);
    while (team->use == use && !is_complete(team)) {
        if (!mr_gomp_run_task(thread, team, NULL, NULL, code) && team->use == use) {
            mr_gomp_wait(thread, team, team, code);
        }
    }
    return team->use == use;
}

static void wait_for_post(mr_thread *thread, mr_gomp_team *team, uint64_t use, uintptr_t code)
{
    if (mr_steers()) {
        mr_steer_stop(thread, MR_STOP_CALL);
    }
    mr_write_object(MR_LOG_WAIT, MR_LOG_ROLE_BARRIER_OUT, team->place, code, 1, use);
}

void mr_gomp_barrier(mr_thread *thread, uintptr_t code)
{
    mr_gomp_team *team = mr_gomp_now()->team;
    uint64_t use = team->use;
    if (arrive(thread, team, code)) {
        take_posts(team, code);
        mr_gomp_units(team, MR_LOG_POST, MR_LOG_ROLE_BARRIER_OUT, team->place, team->size - 1,
                      code);
        team->use++;
        mr_wake_key(team);
    } else {
        wait_for_post(thread, team, use, code);
    }
}

/* ---- regions ---- */

static void begin_member(mr_gomp_self *self, mr_gomp_team *team, unsigned number,
                         mr_gomp_self *outer)
{
    *self = (mr_gomp_self){.team = team, .number = number, .outer = outer};
    self->task = &self->own;
    self->own.team = team;
    self->own.threads = team->threads;
    if (team->is_shaped) { /* the region is a loop, or sections */
        self->shares = 1;
        self->share = team->shares;
    }
}

/* At the end of a region only who began it waits for the others. True: the caller has released it. */
static bool end_member(mr_thread *thread, mr_gomp_self *self, uintptr_t code)
{
    mr_gomp_team *team = self->team;
    bool releases = arrive(thread, team, code);
    if (releases) {
        take_posts(team, code);
        mr_gomp_units(team, MR_LOG_POST, MR_LOG_ROLE_BARRIER_OUT, team->place, self->number != 0,
                      code);
        team->use++;
        mr_wake_key(team);
    }
    return releases;
}

static void leave_team(mr_gomp_team *team)
{
    if (--team->users == 0) {
        team->next = unused_teams;
        unused_teams = team;
    }
}

static void work(mr_thread *thread, worker *self)
{
    mr_gomp_team *team = self->team;
    uintptr_t code = self->code;
    self->team = NULL;
    begin_member(&self->self, team, self->number, self->outer);
    wait_for_post(thread, team, self->use, code);
    mr_leave(thread);
    team->function(team->data);
    thread = mr_enter_at(code);
    mr_gomp_drop_table(&self->self.own);
    end_member(thread, &self->self, code);
    leave_team(team);
}

static void *openmp_thread(void *argument)
{
    worker *self = argument;
    now = &self->self;
    mr_thread *thread = mr_enter();
    while (!self->ends) {
        if (self->team != NULL) {
            work(thread, self);
        } else if (mr_block(thread, self, MR_NEVER, false) == MR_INTERRUPTED) {
            mr_attend(thread);
        }
    }
    mr_leave(thread);
    return NULL;
}

/* The first `count` workers of the calling thread, which leaves the runtime meanwhile. False: there are fewer. */
static bool have_workers(mr_thread **thread, unsigned count, uintptr_t code)
{
    long process = mr_sys(SYS_getpid, 0, 0, 0, 0, 0, 0);
    worker **at = &workers;
    if (workers_process != process) { /* those of the parent of a fork */
        workers = NULL;
        workers_used = 0;
        workers_process = process;
    }
    while (count > 0) {
        if (*at == NULL) {
            worker *made = mr_openmp_take(sizeof *made);
            if (!mr_openmp_start(thread, openmp_thread, made, code)) {
                mr_openmp_give(made, sizeof *made);
                return false;
            }
            *at = made;
        }
        at = &(*at)->next;
        count--;
    }
    return true;
}

static mr_gomp_team *new_team(void)
{
    mr_gomp_team *team = unused_teams;
    if (team != NULL) {
        unused_teams = team->next;
    } else {
        team = mr_openmp_take(sizeof *team);
        team->place = mr_openmp_places(sizeof(uint64_t));
    }
    return team;
}

static void begin_workers(mr_gomp_team *team, mr_gomp_self *outer, uintptr_t code)
{
    worker *at = workers;
    for (unsigned i = 0; i < workers_used; i++) {
        at = at->next;
    }
    mr_gomp_units(team, MR_LOG_POST, MR_LOG_ROLE_BARRIER_OUT, team->place, team->size - 1, code);
    for (unsigned i = 1; i < team->size; i++, at = at->next) {
        at->number = i;
        at->outer = outer;
        at->use = team->use;
        at->code = code;
        at->team = team;
        mr_wake_key(at);
    }
    team->use++;
}

void mr_gomp_parallel(mr_thread *thread, mr_gomp_function function, void *data, unsigned threads,
                      const mr_gomp_share *shape, uintptr_t code)
{
    mr_gomp_self self, *outer = mr_gomp_now();
    unsigned size = mr_gomp_team_size(outer, threads);
    mr_yield(thread);
    while (size > 1 && !have_workers(&thread, workers_used + size - 1, code)) {
        size = 1;
    }
    mr_gomp_team *team = new_team(), before = *team;
    *team = (mr_gomp_team){.size = size,
                           .users = size,
                           .level = outer->team->level + 1,
                           .active_level = outer->team->active_level + (size > 1),
                           .threads = outer->task->threads,
                           .most = mr_gomp_most_threads(outer),
                           .use = before.use,
                           .place = before.place,
                           .queue = size > 1 ? mr_openmp_places(sizeof(uint64_t)) : NULL,
                           .function = function,
                           .data = data};
    if (shape != NULL) {
        team->is_shaped = true;
        team->shares = mr_openmp_take(sizeof *shape);
        *team->shares = *shape;
        team->shares->number = 1;
        team->shares->place = mr_openmp_places(sizeof(uint64_t));
    }
    if (size > 1) {
        mr_explore_choice(MR_LOG_CHOICE_OPENMP, MR_LOG_ROLE_NONE, NULL, code, size);
    }
    begin_workers(team, outer, code);
    workers_used += size - 1;
    begin_member(&self, team, 0, outer);
    now = &self;
    mr_leave(thread);
    function(data);
    thread = mr_enter_at(code);
    mr_gomp_drop_table(&self.own);
    uint64_t use = team->use;
    if (!end_member(thread, &self, code) && size > 1) {
        wait_for_post(thread, team, use, code);
    }
    now = outer;
    workers_used -= size - 1;
    leave_team(team);
}

void mr_gomp_ends(void)
{
    for (worker *at = workers; at != NULL; at = at->next) {
        at->ends = true;
        mr_wake_key(at);
    }
    workers = NULL;
}
