/*
 * Teams of OpenMP: fork, barriers, single, copyprivate.
 */
#include "kmpc.h"

#include "explore.h"
#include "sys.h"
#include "writer.h"

#include <stdarg.h>
#include <stdlib.h>

/* Numbers that no use of a pthread_barrier_t has. */
#define FIRST_USE (UINT64_C(1) << 40)

static uint64_t new_use(void)
{
    static uint64_t next = FIRST_USE;
    return next++;
}

mr_kmpc_team *mr_kmpc_make_team(mr_kmpc_thread *self, int size)
{
    mr_kmpc_member *above = self->member;
    mr_kmpc_team *team = mr_openmp_take(sizeof *team);
    *team = (mr_kmpc_team){.size = size, .users = size, .above = above};
    team->members = mr_openmp_take((size_t)size * sizeof *team->members);
    if (above != NULL) {
        team->level = above->team->level + 1;
        team->active_level = above->team->active_level + (size > 1);
    }
    for (int i = 0; i < size; i++) {
        mr_kmpc_member *member = &team->members[i];
        member->team = team;
        member->tid = i;
        member->queue_end = &member->queue;
        member->implicit.order.users = 1;
        member->implicit.is_final = above != NULL && self->task->is_final;
    }
    team->settings = self->settings;
    team->fork_use = new_use();
    team->use = new_use();
    return team;
}

void mr_kmpc_leave_team(mr_kmpc_team *team)
{
    if (--team->users == 0) {
        mr_openmp_give(team->members, (size_t)team->size * sizeof *team->members);
        mr_openmp_give(team, sizeof *team);
    }
}

/* ---- the semaphores ---- */

/* Who arrives posts a unit, and another one when it has done tasks since. */
static void post_arrival(mr_kmpc_team *team, uintptr_t code)
{
    mr_openmp_units(MR_LOG_POST, MR_LOG_ROLE_BARRIER_IN, team, 1, team->use, code);
    team->units++;
}

static void release(mr_kmpc_team *team, uintptr_t code)
{
    mr_openmp_units(MR_LOG_WAIT, MR_LOG_ROLE_BARRIER_IN, team, team->units, team->use, code);
    mr_openmp_units(MR_LOG_POST, MR_LOG_ROLE_BARRIER_OUT, team, (uint64_t)team->size - 1, team->use,
                    code);
    team->arrived = 0;
    team->units = 0;
    team->use = new_use();
    mr_wake_key(team);
}

/* All tasks of the team have ended, too. */
void mr_kmpc_barrier(mr_thread *thread, mr_kmpc_thread *self, uintptr_t code)
{
    mr_kmpc_member *member = self->member;
    mr_kmpc_team *team = member->team;
    mr_yield(thread);
    if (team->size > 1) {
        uint64_t use = team->use;
        bool long_wait = false;
        team->arrived++;
        post_arrival(team, code);
        while (team->use == use) {
            if (mr_kmpc_do_task(thread, self, long_wait, code)) {
                post_arrival(team, code);
                long_wait = false;
            } else if (team->arrived == team->size && team->outstanding == 0) {
                release(team, code);
                break;
            } else {
                bool may_steal = team->outstanding > 0 && !long_wait;
                long_wait = mr_kmpc_block(thread, team, may_steal, code);
                if (team->use != use) {
                    mr_kmpc_resume(thread);
                    mr_openmp_units(MR_LOG_WAIT, MR_LOG_ROLE_BARRIER_OUT, team, 1, use, code);
                }
            }
        }
    }
    member->implicit.children.ended = 0;
    member->implicit.children.token = NULL; /* they are in order by the barrier */
    mr_kmpc_forget_places(&member->implicit);
}

/* ---- fork and join ---- */

static void call(mr_kmpc_microtask function, int number, int tid, void **arguments, int count)
{
#define A4(i)  a[i], a[(i) + 1], a[(i) + 2], a[(i) + 3]
#define A16(i) A4(i), A4((i) + 4), A4((i) + 8), A4((i) + 12)
#define A64(i) A16(i), A16((i) + 16), A16((i) + 32), A16((i) + 48)
    enum { FEW = 16 };
    void *a[MR_KMPC_ARGUMENTS] = {NULL}; /* who is called looks at its own only */
    for (int i = 0; i < count; i++) {
        a[i] = arguments[i];
    }
    if (count <= FEW) {
        function(&number, &tid, A16(0));
    } else {
        function(&number, &tid, A64(0), A64(64), A64(128), A64(192));
    }
#undef A64
#undef A16
#undef A4
}

/* What a member does from fork to join. */
static void work(mr_kmpc_thread *self, mr_kmpc_team *team, int tid)
{
    call(team->function, self->number, tid, team->arguments, team->argument_count);
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_kmpc_barrier(thread, self, team->code);
        mr_leave(thread);
    }
}

static void *openmp_thread(void *argument)
{
    mr_kmpc_thread *self = argument;
    mr_thread *thread;
    while ((thread = mr_enter()) != NULL) {
        mr_kmpc_become(thread, self);
        while (self->job == NULL) {
            if (mr_block(thread, self, MR_NEVER, false) == MR_INTERRUPTED) {
                mr_attend(thread);
            }
        }
        mr_kmpc_resume(thread);
        mr_kmpc_team *team = self->job;
        int tid = self->job_tid;
        self->job = NULL;
        self->member = &team->members[tid];
        self->task = &self->member->implicit;
        self->settings = team->settings;
        mr_openmp_units(MR_LOG_WAIT, MR_LOG_ROLE_BARRIER_OUT, team, 1, team->fork_use, team->code);
        mr_leave(thread);
        work(self, team, tid);
        thread = mr_enter();
        if (thread == NULL) {
            break;
        }
        mr_kmpc_leave_team(team);
        mr_leave(thread);
    }
    return NULL;
}

/* Makes workers that are missing; how many there are in the end. */
static int have_workers(mr_thread *thread, mr_kmpc_thread *self, int count, uintptr_t code)
{
    if (count > self->worker_count) {
        mr_kmpc_thread **more = mr_openmp_take((size_t)count * sizeof *more);
        for (int i = 0; i < self->worker_count; i++) {
            more[i] = self->workers[i];
        }
        if (self->workers != NULL) {
            mr_openmp_give(self->workers, (size_t)self->worker_count * sizeof *more);
        }
        self->workers = more;
    }
    while (self->worker_count < count) {
        mr_kmpc_thread *worker = mr_kmpc_new_thread();
        if (!mr_openmp_start(&thread, openmp_thread, worker, code)) {
            break;
        }
        self->workers[self->worker_count++] = worker;
    }
    return self->worker_count < count ? self->worker_count : count;
}

static int threads_busy = 1; /* in teams, with the first one */

static int team_size(mr_kmpc_thread *self)
{
    enum { MOST = 1024 };
    int size = self->threads_pushed > 0 ? self->threads_pushed : self->settings.threads;
    int left = mr_kmpc_limits_now()->threads - threads_busy + 1;
    self->threads_pushed = 0;
    if (self->member->team->active_level >= self->settings.most_active_levels) {
        size = 1;
    }
    size = size < left ? size : left;
    return size < 1 ? 1 : size < MOST ? size : MOST;
}

static void fork_team(mr_kmpc_microtask function, void **arguments, int count, bool alone,
                      uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) { /* in a handler of the runtime's own time */
        call(function, 0, 0, arguments, count);
        return;
    }
    mr_kmpc_thread *self = mr_kmpc_self(thread);
    mr_kmpc_member *above = self->member;
    mr_kmpc_task *task = self->task;
    mr_kmpc_settings settings = self->settings;
    mr_yield(thread);
    int size = alone ? 1 : team_size(self);
    int used = self->workers_used;
    size = size > 1 ? 1 + have_workers(thread, self, used + size - 1, code) - used : 1;
    mr_kmpc_team *team = mr_kmpc_make_team(self, size);
    team->function = function;
    team->arguments = arguments;
    team->argument_count = count;
    team->code = code;
    if (size > 1) {
        mr_explore_choice(MR_LOG_CHOICE_OPENMP, MR_LOG_ROLE_NONE, NULL, code, (uint64_t)size);
    }
    if (team->level < MR_KMPC_LEVELS && mr_kmpc_limits_now()->threads_at[team->level] > 0) {
        team->settings.threads = mr_kmpc_limits_now()->threads_at[team->level];
    }
    self->settings = team->settings;
    mr_openmp_units(MR_LOG_POST, MR_LOG_ROLE_BARRIER_OUT, team, (uint64_t)size - 1, team->fork_use,
                    code);
    for (int i = 1; i < size; i++) {
        mr_kmpc_thread *worker = self->workers[used + i - 1];
        worker->job = team;
        worker->job_tid = i;
        mr_wake_key(worker);
    }
    self->workers_used = used + size - 1;
    threads_busy += size - 1;
    self->member = team->members;
    self->task = &team->members->implicit;
    mr_yield(thread);
    mr_leave(thread);
    work(self, team, 0);
    thread = mr_enter();
    self->member = above;
    self->task = task;
    self->workers_used = used;
    self->settings = settings;
    if (thread != NULL) {
        threads_busy -= size - 1;
        mr_kmpc_leave_team(team);
        mr_leave(thread);
    }
}

static void collect(void **arguments, int count, va_list list)
{
    if (count > MR_KMPC_ARGUMENTS) {
        mr_complain("a parallel region of OpenMP uses too many variables", NULL);
        abort();
    }
    for (int i = 0; i < count; i++) {
        arguments[i] = va_arg(list, void *);
    }
}

#define A4(i)   arguments[i], arguments[(i) + 1], arguments[(i) + 2], arguments[(i) + 3]
#define A16(i)  A4(i), A4((i) + 4), A4((i) + 8), A4((i) + 12)
#define A64(i)  A16(i), A16((i) + 16), A16((i) + 32), A16((i) + 48)
#define A256(i) A64(i), A64((i) + 64), A64((i) + 128), A64((i) + 192)
#define FORK(name, alone)                                                                          \
    MR_EXPORT void name(void *place, int count, mr_kmpc_microtask function, ...);                  \
    void name(void *place, int count, mr_kmpc_microtask function, ...)                             \
    {                                                                                              \
        void *arguments[MR_KMPC_ARGUMENTS] = {NULL};                                               \
        va_list list;                                                                              \
        va_start(list, function);                                                                  \
        collect(arguments, count, list);                                                           \
        va_end(list);                                                                              \
        if (mr_kmpc_is_ours()) {                                                                   \
            fork_team(function, arguments, count, alone, MR_CALLER);                               \
        } else {                                                                                   \
            MR_REAL(name)(place, count, function, A256(0));                                        \
        }                                                                                          \
    }
FORK(__kmpc_fork_call, false)
FORK(__kmpc_fork_teams, true) /* a league of one team */
#undef FORK
#undef A256
#undef A64
#undef A16
#undef A4

MR_EXPORT void __kmpc_serialized_parallel(void *place, int number);
void __kmpc_serialized_parallel(void *place, int number)
{
    mr_thread *thread;
    if (!mr_kmpc_is_ours()) {
        MR_REAL(__kmpc_serialized_parallel)(place, MR_THEIRS(number));
    } else if ((thread = mr_enter()) != NULL) {
        mr_kmpc_thread *self = mr_kmpc_self(thread);
        mr_kmpc_team *team = mr_kmpc_make_team(self, 1);
        team->members->implicit.parent = self->task; /* to come back to */
        self->member = team->members;
        self->task = &team->members->implicit;
        mr_leave(thread);
    }
}

MR_EXPORT void __kmpc_end_serialized_parallel(void *place, int number);
void __kmpc_end_serialized_parallel(void *place, int number)
{
    mr_thread *thread;
    if (!mr_kmpc_is_ours()) {
        MR_REAL(__kmpc_end_serialized_parallel)(place, MR_THEIRS(number));
    } else if ((thread = mr_enter()) != NULL) {
        mr_kmpc_thread *self = mr_kmpc_self(thread);
        mr_kmpc_team *team = self->member->team;
        if (team->above != NULL) {
            self->task = team->members->implicit.parent;
            self->member = team->above;
            self->settings = team->settings;
            mr_kmpc_leave_team(team);
        }
        mr_leave(thread);
    }
}

/* ---- inside a team ---- */

MR_EXPORT void __kmpc_barrier(void *place, int number);
void __kmpc_barrier(void *place, int number)
{
    mr_thread *thread;
    if (!mr_kmpc_is_ours()) {
        MR_REAL(__kmpc_barrier)(place, MR_THEIRS(number));
    } else if ((thread = mr_enter()) != NULL) {
        mr_kmpc_barrier(thread, mr_kmpc_self(thread), MR_CALLER);
        mr_leave(thread);
    }
}

/* Nothing is ever cancelled (OMP_CANCELLATION is false). */
MR_EXPORT int __kmpc_cancel_barrier(void *place, int number);
int __kmpc_cancel_barrier(void *place, int number)
{
    mr_thread *thread;
    if (!mr_kmpc_is_ours()) {
        return MR_REAL(__kmpc_cancel_barrier)(place, MR_THEIRS(number));
    }
    if ((thread = mr_enter()) != NULL) {
        mr_kmpc_barrier(thread, mr_kmpc_self(thread), MR_CALLER);
        mr_leave(thread);
    }
    return 0;
}

#define NEVER(name)                                                                                \
    MR_EXPORT int name(void *place, int number, int kind);                                         \
    int name(void *place, int number, int kind)                                                    \
    {                                                                                              \
        return mr_kmpc_is_ours() ? 0 : MR_REAL(name)(place, MR_THEIRS(number), kind);              \
    }
NEVER(__kmpc_cancel)
NEVER(__kmpc_cancellationpoint)
#undef NEVER

MR_EXPORT int __kmpc_single(void *place, int number);
int __kmpc_single(void *place, int number)
{
    mr_thread *thread;
    int is_it = 1;
    if (!mr_kmpc_is_ours()) {
        return MR_REAL(__kmpc_single)(place, MR_THEIRS(number));
    }
    if ((thread = mr_enter()) != NULL) {
        mr_kmpc_member *member = mr_kmpc_self(thread)->member;
        uint64_t turn = member->singles++ + mr_rt.header->seed;
        mr_yield(thread);
        is_it = (int)(turn % (uint64_t)member->team->size) == member->tid;
        mr_leave(thread);
    }
    return is_it;
}

MR_EXPORT void __kmpc_end_single(void *place, int number);
void __kmpc_end_single(void *place, int number)
{
    if (!mr_kmpc_is_ours()) {
        MR_REAL(__kmpc_end_single)(place, MR_THEIRS(number));
    }
}

#define FIRST_ONLY(name, parameters, arguments, is_it)                                             \
    MR_EXPORT int name parameters;                                                                 \
    int name parameters                                                                            \
    {                                                                                              \
        if (!mr_kmpc_is_ours()) {                                                                  \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        const mr_kmpc_thread *self = mr_kmpc_current();                                            \
        return self == NULL || (is_it);                                                            \
    }
FIRST_ONLY(__kmpc_master, (void *place, int number), (place, MR_THEIRS(number)),
           self->member->tid == 0)
FIRST_ONLY(__kmpc_masked, (void *place, int number, int filter), (place, MR_THEIRS(number), filter),
           self->member->tid == filter)
#undef FIRST_ONLY

#define NOTHING(name)                                                                              \
    MR_EXPORT void name(void *place, int number);                                                  \
    void name(void *place, int number)                                                             \
    {                                                                                              \
        if (!mr_kmpc_is_ours()) {                                                                  \
            MR_REAL(name)(place, MR_THEIRS(number));                                               \
        }                                                                                          \
    }
NOTHING(__kmpc_end_master)
NOTHING(__kmpc_end_masked)
#undef NOTHING

/* Who did the single hands its data to the others. */
MR_EXPORT void __kmpc_copyprivate(void *place, int number, size_t bytes, void *data,
                                  void (*copy)(void *to, void *from), int did_it);
void __kmpc_copyprivate(void *place, int number, size_t bytes, void *data,
                        void (*copy)(void *to, void *from), int did_it)
{
    mr_thread *thread;
    if (!mr_kmpc_is_ours()) {
        MR_REAL(__kmpc_copyprivate)(place, MR_THEIRS(number), bytes, data, copy, did_it);
        return;
    }
    if ((thread = mr_enter()) == NULL) {
        return;
    }
    mr_kmpc_thread *self = mr_kmpc_self(thread);
    mr_kmpc_team *team = self->member->team;
    if (did_it) {
        team->copied = data;
    }
    mr_kmpc_barrier(thread, self, MR_CALLER);
    void *from = team->copied;
    mr_leave(thread);
    if (!did_it) {
        copy(data, from);
    }
    if ((thread = mr_enter()) != NULL) {
        mr_kmpc_barrier(thread, self, MR_CALLER);
        mr_leave(thread);
    }
}

MR_EXPORT void __kmpc_flush(void *place);
void __kmpc_flush(void *place)
{
    enum { SEQ_CST = 5 };
    mr_thread *thread;
    if (!mr_kmpc_is_ours()) {
        MR_REAL(__kmpc_flush)(place);
    } else if ((thread = mr_enter()) != NULL) {
        mr_yield(thread);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        mr_write_object(MR_LOG_FENCE, SEQ_CST, NULL, MR_CALLER, 0, 0);
        mr_leave(thread);
    }
}
