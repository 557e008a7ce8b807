/*
 * QThread, QThreadPool and the state of a QFuture, where Qt is not recorded. Threads and their beginnings are seen, because Qt makes them by
 * pthread_create. What is missing:
 *
 * - Who waits for a thread comes after its end. That wakes others, by which it is noticed (mr_qt_wakes).
 * - Who starts a task of a pool comes before the task: the library gets another one in its place, which says so when it runs.
 * - What is reported to a future comes before who asks for it: an atomic variable for each future.
 */
#include "qt.h"

#include "explore.h"
#include "modules.h"
#include "sys.h"
#include "writer.h"

#include <limits.h>

static void before(const void *token, uintptr_t code)
{
    mr_write_object(MR_LOG_BEFORE, MR_LOG_ROLE_NONE, token, code, 0, 0);
}

static void after(const void *token, uintptr_t code)
{
    mr_write_object(MR_LOG_AFTER, MR_LOG_ROLE_NONE, token, code, 0, 0);
}

/* ---- threads ---- */

/* A thread of Qt's gets its QThread as its argument. */
static bool is_of_qt(const mr_thread *thread)
{
    return mr_is_qt((uintptr_t)thread->start);
}

void mr_qt_wakes(const mr_thread *thread, uintptr_t code)
{
    if (mr_is_qt(code) && is_of_qt(thread)) {
        before(thread->argument, code);
    }
}

void mr_qt_ends(const mr_thread *thread)
{
    if (is_of_qt(thread)) {
        before(thread->argument, 0);
    }
}

/* The thread that runs for a QThread. NULL: none. */
static mr_thread *thread_of(const void *of)
{
    mr_thread *at = mr_rt.threads;
    while (at != NULL && (at->state == MR_DONE || at->argument != of || !is_of_qt(at))) {
        at = at->next;
    }
    return at;
}

/* Waits in the runtime: at its end the thread has given back the lock that the library's function takes. A replay stops threads there
 * else. False: the limit is over, or the thread waits for itself. */
static bool wait_for(mr_thread *self, const void *of, int64_t limit, uintptr_t code)
{
    mr_thread *thread;
    mr_yield(self);
    while ((thread = thread_of(of)) != NULL && thread != self) {
        mr_write_object(MR_LOG_BLOCKED, MR_LOG_ROLE_NONE, thread, code,
                        mr_explore_wait(limit, false), thread->id);
        mr_wake_reason reason = mr_block(self, thread, limit, false);
        if (reason == MR_TIMED_OUT) {
            break;
        }
        if (reason == MR_INTERRUPTED) {
            mr_attend(self);
        }
    }
    mr_leave(self);
    return thread == NULL;
}

#define DEFINE_WAIT(name, type, limit_of)                                                          \
    MR_EXPORT bool name(void *of, type end);                                                       \
    bool name(void *of, type end)                                                                  \
    {                                                                                              \
        mr_thread *thread = MR_QT_ENTER(name);                                                     \
        if (thread != NULL && !wait_for(thread, of, limit_of(end), MR_CALLER)) {                   \
            return false;                                                                          \
        }                                                                                          \
        bool has_ended = MR_REAL(name)(of, end);                                                   \
        if (has_ended) {                                                                           \
            MR_QT_ORDER(name, MR_LOG_AFTER, of, MR_CALLER);                                        \
        }                                                                                          \
        return has_ended;                                                                          \
    }
DEFINE_WAIT(_ZN7QThread4waitE14QDeadlineTimer, mr_qt_deadline, mr_qt_limit_at)
DEFINE_WAIT(_ZN7QThread4waitEm, unsigned long, mr_qt_limit_in_long)
#undef DEFINE_WAIT

/* The tasks of a pool have ended. */
MR_EXPORT bool _ZN11QThreadPool11waitForDoneEi(void *pool, int milliseconds);
bool _ZN11QThreadPool11waitForDoneEi(void *pool, int milliseconds)
{
    bool are_done = MR_REAL(_ZN11QThreadPool11waitForDoneEi)(pool, milliseconds);
    if (are_done) {
        MR_QT_ORDER(_ZN11QThreadPool11waitForDoneEi, MR_LOG_AFTER, pool, MR_CALLER);
    }
    return are_done;
}

/* Questions; the answer says that the thread has ended. */
#define DEFINE_QUESTION(name, has_ended)                                                           \
    MR_EXPORT bool name(const void *of);                                                           \
    bool name(const void *of)                                                                      \
    {                                                                                              \
        bool answer = MR_REAL(name)(of);                                                           \
        if (answer == (has_ended)) {                                                               \
            MR_QT_ORDER(name, MR_LOG_AFTER, of, MR_CALLER);                                        \
        }                                                                                          \
        return answer;                                                                             \
    }
DEFINE_QUESTION(_ZNK7QThread10isFinishedEv, true)
DEFINE_QUESTION(_ZNK7QThread9isRunningEv, false)
#undef DEFINE_QUESTION

/* ---- what one thread asks of another ---- */

/* A place of its own for each question to an object. */
static const void *interruption_of(const void *thread)
{
    return (const char *)thread + 1;
}

static const void *loop_of(const void *object)
{
    return (const char *)object + 2;
}

static const char application;

MR_EXPORT void _ZN7QThread19requestInterruptionEv(void *of);
void _ZN7QThread19requestInterruptionEv(void *of)
{
    MR_QT_ORDER(_ZN7QThread19requestInterruptionEv, MR_LOG_BEFORE, interruption_of(of), MR_CALLER);
    MR_REAL(_ZN7QThread19requestInterruptionEv)(of);
}

MR_EXPORT bool _ZNK7QThread23isInterruptionRequestedEv(const void *of);
bool _ZNK7QThread23isInterruptionRequestedEv(const void *of)
{
    bool answer = MR_REAL(_ZNK7QThread23isInterruptionRequestedEv)(of);
    MR_QT_ORDER(_ZNK7QThread23isInterruptionRequestedEv, MR_LOG_AFTER, interruption_of(of),
                MR_CALLER);
    return answer;
}

/* Ends of loops, and what returns after them. */
#define DEFINE_QUIT(name, parameters, arguments, token)                                            \
    MR_EXPORT void name parameters;                                                                \
    void name parameters                                                                           \
    {                                                                                              \
        MR_QT_ORDER(name, MR_LOG_BEFORE, token, MR_CALLER);                                        \
        MR_REAL(name) arguments;                                                                   \
    }
DEFINE_QUIT(_ZN7QThread4quitEv, (void *of), (of), loop_of(of))
DEFINE_QUIT(_ZN7QThread4exitEi, (void *of, int status), (of, status), loop_of(of))
DEFINE_QUIT(_ZN10QEventLoop4quitEv, (void *of), (of), loop_of(of))
DEFINE_QUIT(_ZN10QEventLoop4exitEi, (void *of, int status), (of, status), loop_of(of))
DEFINE_QUIT(_ZN16QCoreApplication4quitEv, (void), (), &application)
DEFINE_QUIT(_ZN16QCoreApplication4exitEi, (int status), (status), &application)
#undef DEFINE_QUIT

#define DEFINE_EXEC(name, parameters, arguments, token)                                            \
    MR_EXPORT int name parameters;                                                                 \
    int name parameters                                                                            \
    {                                                                                              \
        int status = MR_REAL(name) arguments;                                                      \
        MR_QT_ORDER(name, MR_LOG_AFTER, token, MR_CALLER);                                         \
        return status;                                                                             \
    }
DEFINE_EXEC(_ZN7QThread4execEv, (void *of), (of), loop_of(of))
DEFINE_EXEC(_ZN10QEventLoop4execE6QFlagsINS_17ProcessEventsFlagEE, (void *of, int flags),
            (of, flags), loop_of(of))
DEFINE_EXEC(_ZN16QCoreApplication4execEv, (void), (), &application)
#undef DEFINE_EXEC

/* ---- pools ---- */

/* QRunnable. `owners` of Qt 5: -1 says that the program deletes it. Of Qt 6 the first byte says that the library does. */
typedef struct runnable {
    const void *const *functions; /* run, and two destructors */
    int owners, unused;
} runnable;

/* The task that the library gets. */
typedef struct stand_in {
    runnable task;
    runnable *real;
    const void *pool, *token;
    const mr_thread *runs_in;
    bool deletes; /* the real one, at the end */
    bool has_run;
    struct stand_in *next, **link; /* all that wait or run; or free */
} stand_in;

static stand_in *all, *spare; /* of who has the baton */

static bool is_deleted_by_library(const runnable *task)
{
    return mr_qt_is_5() ? task->owners != -1 : *(const bool *)&task->owners;
}

static void delete_task(const runnable *task)
{
    enum { DELETES = 2 };
    ((void (*)(const void *))task->functions[DELETES])(task);
}

/* The thread is busy. */
static void forget(stand_in *self)
{
    *self->link = self->next;
    if (self->next != NULL) {
        self->next->link = self->link;
    }
    self->next = spare;
    spare = self;
}

/* The tasks of one engine of QtConcurrent wait for each other inside the library: all that they have done so far. */
static const void *tasks_of(const void *real)
{
    return (const char *)real + 1;
}

static void end_task(stand_in *self)
{
    if (self->deletes && (!mr_qt_is_5() || --self->real->owners == 0)) {
        delete_task(self->real);
    }
}

static void end_run(stand_in **at)
{
    stand_in *self = *at;
    end_task(self);
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        self->runs_in = NULL;
        before(self->pool, MR_CALLER);
        before(tasks_of(self->real), MR_CALLER);
        mr_leave(thread);
    }
}

static void run(stand_in *self)
{
    stand_in *at __attribute__((cleanup(end_run), unused)) = self;
    mr_thread *thread = mr_enter();
    self->has_run = true;
    if (thread != NULL) {
        self->runs_in = thread;
        after(self->token, MR_CALLER);
        mr_leave(thread);
    }
    ((void (*)(void *))self->real->functions[0])(self->real);
}

static void nothing(const stand_in *self)
{
    (void)self;
}

/* When it has run, or when the pool drops it. */
static void delete_stand_in(stand_in *self)
{
    if (!self->has_run) {
        end_task(self);
    }
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        forget(self);
        mr_leave(thread);
    } /* else this thread ends: the room is lost */
}

static stand_in *take_spare(void)
{
    enum { CHUNK = 64 };
    stand_in *chunk = spare == NULL ? mr_pages(CHUNK * sizeof *chunk) : NULL;
    for (int i = 0; chunk != NULL && i < CHUNK; i++) {
        chunk[i].next = spare;
        spare = &chunk[i];
    }
    stand_in *taken = spare;
    if (taken != NULL) {
        spare = taken->next;
    }
    return taken;
}

/* The thread is busy. NULL: no memory. */
static stand_in *make(runnable *real)
{
    static const void *const table[] = {NULL, NULL, run, nothing, delete_stand_in};
    stand_in *made = take_spare();
    if (made == NULL) {
        return NULL;
    }
    *made = (stand_in){.task = {.functions = table + 2}, .real = real, .next = all, .link = &all};
    *(bool *)&made->task.owners = !mr_qt_is_5();
    if (all != NULL) {
        all->link = &made->next;
    }
    all = made;
    return made;
}

/* One that waits, in the pool or for it (NULL). */
static stand_in *find(const runnable *real, const void *pool)
{
    stand_in *at = all;
    while (at != NULL && (at->real != real || at->pool != pool || at->has_run)) {
        at = at->next;
    }
    return at;
}

/* NULL: the library is to get the real one. */
static stand_in *hand_on(mr_thread *thread, const void *pool, runnable *real, uintptr_t code)
{
    if (thread == NULL) {
        return NULL;
    }
    stand_in *made = find(real, NULL);
    made = made != NULL ? made : make(real);
    if (made != NULL) {
        made->pool = pool;
        made->token = mr_glib_token();
        made->deletes = is_deleted_by_library(real);
        real->owners += made->deletes && mr_qt_is_5() ? 1 : 0;
        before(made->token, code);
    }
    mr_leave(thread);
    return made;
}

/* The pool has not taken it, or gave it back. */
static void take_back(stand_in *self)
{
    self->real->owners -= self->deletes && mr_qt_is_5() ? 1 : 0;
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        forget(self);
        mr_leave(thread);
    }
}

MR_EXPORT void _ZN11QThreadPool5startEP9QRunnablei(void *pool, runnable *task, int priority);
void _ZN11QThreadPool5startEP9QRunnablei(void *pool, runnable *task, int priority)
{
    mr_thread *thread = task != NULL ? MR_QT_ENTER(_ZN11QThreadPool5startEP9QRunnablei) : NULL;
    stand_in *other = hand_on(thread, pool, task, MR_CALLER);
    MR_REAL(_ZN11QThreadPool5startEP9QRunnablei)
    (pool, other != NULL ? &other->task : task, priority);
}

MR_EXPORT void _ZN11QThreadPool21startOnReservedThreadEP9QRunnable(void *pool, runnable *task);
void _ZN11QThreadPool21startOnReservedThreadEP9QRunnable(void *pool, runnable *task)
{
    mr_thread *thread =
        task != NULL ? MR_QT_ENTER(_ZN11QThreadPool21startOnReservedThreadEP9QRunnable) : NULL;
    stand_in *other = hand_on(thread, pool, task, MR_CALLER);
    MR_REAL(_ZN11QThreadPool21startOnReservedThreadEP9QRunnable)
    (pool, other != NULL ? &other->task : task);
}

MR_EXPORT bool _ZN11QThreadPool8tryStartEP9QRunnable(void *pool, runnable *task);
bool _ZN11QThreadPool8tryStartEP9QRunnable(void *pool, runnable *task)
{
    mr_thread *thread = task != NULL ? MR_QT_ENTER(_ZN11QThreadPool8tryStartEP9QRunnable) : NULL;
    stand_in *other = hand_on(thread, pool, task, MR_CALLER);
    bool starts =
        MR_REAL(_ZN11QThreadPool8tryStartEP9QRunnable)(pool, other != NULL ? &other->task : task);
    if (!starts && other != NULL) {
        take_back(other);
    }
    return starts;
}

MR_EXPORT bool _ZN11QThreadPool7tryTakeEP9QRunnable(void *pool, runnable *task);
bool _ZN11QThreadPool7tryTakeEP9QRunnable(void *pool, runnable *task)
{
    stand_in *other = find(task, pool);
    bool taken =
        MR_REAL(_ZN11QThreadPool7tryTakeEP9QRunnable)(pool, other != NULL ? &other->task : task);
    if (taken && other != NULL) {
        take_back(other);
    }
    return taken;
}

MR_EXPORT void _ZN11QThreadPool6cancelEP9QRunnable(void *pool, runnable *task);
void _ZN11QThreadPool6cancelEP9QRunnable(void *pool, runnable *task)
{
    if (find(task, pool) == NULL) {
        MR_REAL(_ZN11QThreadPool6cancelEP9QRunnable)(pool, task);
    } else if (_ZN11QThreadPool7tryTakeEP9QRunnable(pool, task) && task->owners == 0) {
        delete_task(task);
    }
}

/* With functions. The parameter is a std::function, which is at an address. */
MR_EXPORT runnable *_ZN9QRunnable6createESt8functionIFvvEE(void *function);

MR_EXPORT void _ZN11QThreadPool5startESt8functionIFvvEEi(void *pool, void *function, int priority);
void _ZN11QThreadPool5startESt8functionIFvvEEi(void *pool, void *function, int priority)
{
    _ZN11QThreadPool5startEP9QRunnablei(
        pool, MR_REAL(_ZN9QRunnable6createESt8functionIFvvEE)(function), priority);
}

MR_EXPORT void _ZN11QThreadPool21startOnReservedThreadESt8functionIFvvEE(void *pool,
                                                                         void *function);
void _ZN11QThreadPool21startOnReservedThreadESt8functionIFvvEE(void *pool, void *function)
{
    _ZN11QThreadPool21startOnReservedThreadEP9QRunnable(
        pool, MR_REAL(_ZN9QRunnable6createESt8functionIFvvEE)(function));
}

MR_EXPORT bool _ZN11QThreadPool8tryStartESt8functionIFvvEE(void *pool, void *function);
bool _ZN11QThreadPool8tryStartESt8functionIFvvEE(void *pool, void *function)
{
    runnable *task = MR_REAL(_ZN9QRunnable6createESt8functionIFvvEE)(function);
    bool starts = _ZN11QThreadPool8tryStartEP9QRunnable(pool, task);
    if (!starts) {
        delete_task(task);
    }
    return starts;
}

/* The destructor waits for the tasks. */
#define DEFINE_GONE(name)                                                                          \
    MR_EXPORT void name(void *pool);                                                               \
    void name(void *pool)                                                                          \
    {                                                                                              \
        MR_REAL(name)(pool);                                                                       \
        MR_QT_ORDER(name, MR_LOG_AFTER, pool, MR_CALLER);                                          \
    }
DEFINE_GONE(_ZN11QThreadPoolD1Ev)
DEFINE_GONE(_ZN11QThreadPoolD2Ev)
#undef DEFINE_GONE

void _ZdlPv(void *block);
MR_EXPORT void _ZN11QThreadPoolD0Ev(void *pool);
void _ZN11QThreadPoolD0Ev(void *pool)
{
    _ZN11QThreadPoolD1Ev(pool);
    _ZdlPv(pool);
}

/* ---- futures ---- */

/* QFutureInterfaceBase: its functions, and what all that stand for one future share. */
typedef struct future {
    const void *functions;
    void *state;
} future;

/* A task that takes part in an engine of QtConcurrent's comes after what the other tasks of it have done. */
static void meet_tasks(mr_thread *self, const void *real, uintptr_t code)
{
    for (const stand_in *at = all; at != NULL; at = at->next) {
        if (at->real == real && at->runs_in != NULL && at->runs_in != self) {
            mr_write_switch(at->runs_in->id);
            before(tasks_of(real), code);
        }
    }
    mr_write_switch(self->id);
    after(tasks_of(real), code);
}

static void report(const future *to, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    const stand_in *at = thread != NULL ? all : NULL;
    while (at != NULL && at->runs_in != thread) {
        at = at->next;
    }
    if (at != NULL) {
        meet_tasks(thread, at->real, code);
    }
    if (thread != NULL) {
        before(to->state, code);
        mr_leave(thread);
    }
}

#define DEFINE_REPORT(name, parameters, arguments)                                                 \
    MR_EXPORT void name parameters;                                                                \
    void name parameters                                                                           \
    {                                                                                              \
        if (!mr_is_instrumented((uintptr_t)MR_REAL(name))) {                                       \
            report(of, MR_CALLER);                                                                 \
        }                                                                                          \
        MR_REAL(name) arguments;                                                                   \
    }
DEFINE_REPORT(_ZN20QFutureInterfaceBase14reportFinishedEv, (future * of), (of))
DEFINE_REPORT(_ZN20QFutureInterfaceBase18reportResultsReadyEii, (future * of, int from, int to),
              (of, from, to))
DEFINE_REPORT(_ZN20QFutureInterfaceBase15reportExceptionERK10QException,
              (future * of, void *exception), (of, exception))
DEFINE_REPORT(_ZN20QFutureInterfaceBase15reportExceptionENSt15__exception_ptr13exception_ptrE,
              (future * of, void *exception), (of, exception))
DEFINE_REPORT(_ZN20QFutureInterfaceBase14reportCanceledEv, (future * of), (of))
DEFINE_REPORT(_ZN20QFutureInterfaceBase13reportStartedEv, (future * of), (of))
DEFINE_REPORT(_ZN20QFutureInterfaceBase6cancelEv, (future * of), (of))
DEFINE_REPORT(_ZN20QFutureInterfaceBase9setPausedEb, (future * of, bool how), (of, how))
DEFINE_REPORT(_ZN20QFutureInterfaceBase12setSuspendedEb, (future * of, bool how), (of, how))
DEFINE_REPORT(_ZN20QFutureInterfaceBase16setProgressValueEi, (future * of, int value), (of, value))
DEFINE_REPORT(_ZN20QFutureInterfaceBase16setProgressRangeEii, (future * of, int from, int to),
              (of, from, to))
#undef DEFINE_REPORT

#define DEFINE_ASK(type, name, parameters, arguments)                                              \
    MR_EXPORT type name parameters;                                                                \
    type name parameters                                                                           \
    {                                                                                              \
        type answer = MR_REAL(name) arguments;                                                     \
        MR_QT_ORDER(name, MR_LOG_AFTER, of->state, MR_CALLER);                                     \
        return answer;                                                                             \
    }
DEFINE_ASK(bool, _ZNK20QFutureInterfaceBase10isCanceledEv, (const future *of), (of))
DEFINE_ASK(bool, _ZNK20QFutureInterfaceBase10isFinishedEv, (const future *of), (of))
DEFINE_ASK(bool, _ZNK20QFutureInterfaceBase9isStartedEv, (const future *of), (of))
DEFINE_ASK(bool, _ZNK20QFutureInterfaceBase9isRunningEv, (const future *of), (of))
DEFINE_ASK(bool, _ZNK20QFutureInterfaceBase18isRunningOrPendingEv, (const future *of), (of))
DEFINE_ASK(bool, _ZNK20QFutureInterfaceBase8isPausedEv, (const future *of), (of))
DEFINE_ASK(bool, _ZNK20QFutureInterfaceBase11isSuspendedEv, (const future *of), (of))
DEFINE_ASK(bool, _ZNK20QFutureInterfaceBase12isSuspendingEv, (const future *of), (of))
DEFINE_ASK(bool, _ZNK20QFutureInterfaceBase15isResultReadyAtEi, (const future *of, int index),
           (of, index))
DEFINE_ASK(bool, _ZNK20QFutureInterfaceBase10queryStateENS_5StateE, (const future *of, int state),
           (of, state))
DEFINE_ASK(int, _ZNK20QFutureInterfaceBase9loadStateEv, (const future *of), (of))
DEFINE_ASK(int, _ZNK20QFutureInterfaceBase11resultCountEv, (const future *of), (of))
DEFINE_ASK(int, _ZNK20QFutureInterfaceBase13progressValueEv, (const future *of), (of))
DEFINE_ASK(bool, _ZN20QFutureInterfaceBase17waitForNextResultEv, (future * of), (of))
#undef DEFINE_ASK

/* Also when it throws what the task has thrown. */
typedef struct asker {
    const void *state;
    uintptr_t code;
} asker;

static void end_ask(asker *self)
{
    mr_glib_order(MR_LOG_AFTER, self->state, self->code);
}

#define DEFINE_AWAIT(name, parameters, arguments)                                                  \
    MR_EXPORT void name parameters;                                                                \
    void name parameters                                                                           \
    {                                                                                              \
        const void *state = mr_is_instrumented((uintptr_t)MR_REAL(name)) ? NULL : of->state;       \
        asker until __attribute__((cleanup(end_ask), unused)) = {state, MR_CALLER};                \
        MR_REAL(name) arguments;                                                                   \
    }
DEFINE_AWAIT(_ZN20QFutureInterfaceBase15waitForFinishedEv, (future * of), (of))
DEFINE_AWAIT(_ZN20QFutureInterfaceBase13waitForResultEi, (future * of, int index), (of, index))
DEFINE_AWAIT(_ZN20QFutureInterfaceBase13waitForResumeEv, (future * of), (of))
#undef DEFINE_AWAIT

/* Who lets go of the results comes before the last one, who destroys them. */
MR_EXPORT bool _ZNK20QFutureInterfaceBase6derefTEv(const future *of);
bool _ZNK20QFutureInterfaceBase6derefTEv(const future *of)
{
    const void *token = (const char *)of->state + 1;
    MR_QT_ORDER(_ZNK20QFutureInterfaceBase6derefTEv, MR_LOG_BEFORE, token, MR_CALLER);
    bool is_used = MR_REAL(_ZNK20QFutureInterfaceBase6derefTEv)(of);
    if (!is_used) {
        MR_QT_ORDER(_ZNK20QFutureInterfaceBase6derefTEv, MR_LOG_AFTER, token, MR_CALLER);
    }
    return is_used;
}

/* A wait for the result may take the task out of the pool, and run it itself: it is to know the other one. */
MR_EXPORT void _ZN20QFutureInterfaceBase11setRunnableEP9QRunnable(future *of, runnable *task);
void _ZN20QFutureInterfaceBase11setRunnableEP9QRunnable(future *of, runnable *task)
{
    mr_thread *thread =
        task != NULL ? MR_QT_ENTER(_ZN20QFutureInterfaceBase11setRunnableEP9QRunnable) : NULL;
    stand_in *made = thread != NULL ? make(task) : NULL;
    if (thread != NULL) {
        mr_leave(thread);
    }
    MR_REAL(_ZN20QFutureInterfaceBase11setRunnableEP9QRunnable)
    (of, made != NULL ? &made->task : task);
}

/* The caller of an engine works itself, too, and waits for its other tasks. */
MR_EXPORT void _ZN12QtConcurrent16ThreadEngineBase13startBlockingEv(runnable *engine);
void _ZN12QtConcurrent16ThreadEngineBase13startBlockingEv(runnable *engine)
{
    MR_REAL(_ZN12QtConcurrent16ThreadEngineBase13startBlockingEv)(engine);
    mr_thread *thread = MR_QT_ENTER(_ZN12QtConcurrent16ThreadEngineBase13startBlockingEv);
    if (thread != NULL) {
        meet_tasks(thread, engine, MR_CALLER);
        mr_leave(thread);
    }
}
