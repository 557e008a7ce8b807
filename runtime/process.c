/* What becomes of the process and of its modules: fork, exec, _exit, dlopen. */
#include "channels.h"
#include "init.h"
#include "inputs.h"
#include "memory.h"
#include "modules.h"
#include "real.h"
#include "scheduler.h"
#include "signals.h"
#include "sys.h"
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utmp.h>

/* The number of the child that `thread` is about to make. Handlers of pthread_atfork that follow are
 * code of the program. */
static uint32_t fork_begins(mr_thread *thread, uintptr_t code)
{
    mr_yield(thread);
    uint32_t number =
        mr_rt.logging ? __atomic_add_fetch(&mr_rt.header->forks, 1, __ATOMIC_RELAXED) : 0;
    mr_inputs_unfed(MR_INPUTS_UNFED_CHILDREN);
    mr_signal_caused(SIGCHLD, code); /* some day */
    mr_channels_inherited(code);
    mr_leave(thread);
    return number;
}

/* The child has this thread alone. */
static void child_begins(bool follows, uint32_t number)
{
    mr_stop_in_child();
    if (follows) {
        mr_follow_in_child(number);
    }
}

static void child_has_begun(pid_t child, bool follows)
{
    if (child > 0 && !follows && mr_rt.logging) {
        mr_rt.header->last_child = (uint32_t)child;
    }
}

static pid_t fork_at(mr_thread *thread, uintptr_t code)
{
    if (thread == NULL) {
        return MR_REAL(fork)();
    }
    bool follows = mr_rt.logging && mr_rt.follows_forks;
    uint32_t number = fork_begins(thread, code);
    pid_t child = MR_REAL(fork)();
    if (child == 0) {
        child_begins(follows, number);
    }
    child_has_begun(child, follows);
    return child;
}

MR_EXPORT pid_t fork(void)
{
    return fork_at(mr_enter(), MR_CALLER);
}

/* glibc's forkpty forks inside the library, where the runtime does not see it. */
MR_EXPORT pid_t forkpty(int *master, char *name, const struct termios *terminal,
                        const struct winsize *window)
{
    int ends[2];
    if (openpty(&ends[0], &ends[1], name, terminal, window) != 0) {
        return -1;
    }
    pid_t child = fork_at(mr_enter(), MR_CALLER);
    if (child == 0) {
        close(ends[0]);
        if (login_tty(ends[1]) != 0) {
            _exit(1);
        }
    } else if (child > 0) {
        *master = ends[0];
        mr_memory_end(mr_memory_begin(MR_CALLER), master, sizeof *master, MR_CALLER);
    } else {
        close(ends[0]);
    }
    if (child != 0) {
        close(ends[1]);
    }
    return child;
}

static __attribute__((noreturn)) void end_process(int status, uintptr_t code)
{
    mr_thread *thread = mr_self != NULL && mr_self->is_lent ? NULL : mr_enter();
    if (thread != NULL && mr_rt.logging) {
        mr_write_object(MR_LOG_EXIT, 0, NULL, code, 0, (uint64_t)status);
        mr_rt.header->exit_status = status;
        mr_writer_close(MR_LOG_EXITED, 0);
    }
    for (;;) {
        mr_sys(SYS_exit_group, status, 0, 0, 0, 0, 0);
    }
}

/* What the child of a clone runs. It is on the parent's stack, of which the child has a copy. */
typedef struct cloned {
    int (*run)(void *);
    void *argument;
    uint32_t number;
    bool follows;
} cloned;

static int run_cloned(void *argument)
{
    const cloned start = *(const cloned *)argument;
    child_begins(start.follows, start.number);
    int status = start.run(start.argument);
    if (start.follows) {
        end_process(status, 0); /* the end of this thread alone would leave the runtime's */
    }
    return status;
}

/*
 * The child of a clone that shares memory has the thread-local variables of its parent, so the runtime
 * takes the two for one thread. While the parent waits for the child's end or exec (CLONE_VFORK) they are
 * as good as one. Else they would write into the log and wait for turns at the same time, so the recording
 * ends, and the runtime knows neither of the two, as in a call that blocks.
 */
static void lend(mr_thread *thread, int flags)
{
    if ((flags & CLONE_VFORK) != 0) {
        thread->is_lent = true;
    } else if (mr_enter() != NULL) {
        if (mr_rt.logging) {
            mr_writer_close(MR_LOG_CLONED, 0);
        }
        mr_rt.real_waits++; /* who waits for a mutex of the two is not told when it is free */
        thread->is_shared = true;
        mr_outside_begin(thread);
        mr_self = NULL;
    }
}

/* Without CLONE_VM it is a fork whose child runs a function on another stack. */
MR_EXPORT int clone(int (*run)(void *), void *stack, int flags, void *argument, ...)
{
    va_list rest;
    va_start(rest, argument); /* who passes none of these has no flag that uses them */
    pid_t *parent_id = va_arg(rest, pid_t *);
    void *tls = va_arg(rest, void *);
    pid_t *child_id = va_arg(rest, pid_t *);
    va_end(rest);
    mr_thread *thread = run != NULL ? mr_enter() : NULL;
    if (thread == NULL) {
        return MR_REAL(clone)(run, stack, flags, argument, parent_id, tls, child_id);
    }
    cloned start = {run, argument, 0, mr_rt.logging && mr_rt.follows_forks};
    start.number = fork_begins(thread, MR_CALLER);
    if ((flags & CLONE_VM) != 0) {
        lend(thread, flags);
        int sharing = MR_REAL(clone)(run, stack, flags, argument, parent_id, tls, child_id);
        thread->is_lent = false;
        return sharing;
    }
    int child = MR_REAL(clone)(run_cloned, stack, flags, &start, parent_id, tls, child_id);
    child_has_begun(child, start.follows);
    return child;
}

MR_EXPORT pid_t _Fork(void)
{
    pid_t child = MR_REAL(_Fork)();
    if (child == 0) {
        mr_stop_in_child();
    }
    return child;
}

/* A child that shares our memory would go on writing the log. */
MR_EXPORT pid_t vfork(void)
{
    return fork();
}

/* glibc's daemon forks, and ends the parent, inside the library, where the runtime does not see it. */
MR_EXPORT int daemon(int keeps_directory, int keeps_descriptors)
{
    enum { STANDARD = 3 };
    pid_t child = fork();
    if (child > 0) {
        _exit(0);
    }
    if (child < 0 || setsid() < 0) {
        return -1;
    }
    if (!keeps_directory) {
        int unused = chdir("/"); /* nor does glibc look at it */
        (void)unused;
    }
    if (!keeps_descriptors) {
        int null = open("/dev/null", O_RDWR);
        if (null < 0) {
            return -1;
        }
        for (int fd = 0; fd < STANDARD; fd++) {
            dup2(null, fd);
        }
        if (null >= STANDARD) {
            close(null);
        }
    }
    return 0;
}

#define DEFINE_SPAWN(name)                                                                         \
    MR_EXPORT int name(pid_t *restrict child, const char *restrict file,                           \
                       const posix_spawn_file_actions_t *restrict actions,                         \
                       const posix_spawnattr_t *restrict attributes, char *const arguments[],      \
                       char *const environment[])                                                  \
    {                                                                                              \
        mr_thread *thread = mr_enter();                                                            \
        if (thread != NULL) {                                                                      \
            mr_signal_caused(SIGCHLD, MR_CALLER); /* as by fork */                                 \
            mr_channels_inherited(MR_CALLER);                                                      \
            mr_leave(thread);                                                                      \
        }                                                                                          \
        return MR_REAL_VERSION(name, "GLIBC_2.15")(child, file, actions, attributes, arguments,    \
                                                   environment);                                   \
    }
DEFINE_SPAWN(posix_spawn)
DEFINE_SPAWN(posix_spawnp)
#undef DEFINE_SPAWN

static void log_exec(mr_thread *thread, uintptr_t code)
{
    if (thread != NULL) {
        if (!thread->is_lent) {
            mr_write_object(MR_LOG_EXEC, 0, NULL, code, 0, 0);
            mr_writer_settle();
            if (mr_rt.logging) {
                mr_rt.header->state = MR_LOG_EXECED;
            }
        }
        mr_leave(thread);
    }
}

/* It came back: the program goes on. */
static int exec_failed(const mr_thread *thread, int status)
{
    if (thread != NULL && mr_rt.logging) {
        mr_rt.header->state = MR_LOG_RUNNING;
    }
    return status;
}

#define DEFINE_EXEC(name, parameters, arguments)                                                   \
    MR_EXPORT int name parameters                                                                  \
    {                                                                                              \
        mr_thread *thread = mr_enter();                                                            \
        log_exec(thread, MR_CALLER);                                                               \
        return exec_failed(thread, MR_REAL(name) arguments);                                       \
    }
DEFINE_EXEC(execve, (const char *path, char *const *arguments, char *const *environment),
            (path, arguments, environment))
DEFINE_EXEC(execv, (const char *path, char *const *arguments), (path, arguments))
DEFINE_EXEC(execvp, (const char *path, char *const *arguments), (path, arguments))
DEFINE_EXEC(execvpe, (const char *path, char *const *arguments, char *const *environment),
            (path, arguments, environment))
DEFINE_EXEC(fexecve, (int fd, char *const *arguments, char *const *environment),
            (fd, arguments, environment))
#undef DEFINE_EXEC

enum { LIST_MAX = 4096 };

/* The arguments of execl and its like, as a vector; false: too many. */
static bool collect(const char **vector, const char *first, va_list arguments)
{
    size_t count = 0;
    vector[count++] = first;
    while (vector[count - 1] != NULL) {
        if (count == LIST_MAX) {
            errno = E2BIG;
            return false;
        }
        vector[count++] = va_arg(arguments, const char *);
    }
    return true;
}

MR_EXPORT int execl(const char *path, const char *first, ...)
{
    const char *vector[LIST_MAX];
    va_list arguments;
    va_start(arguments, first);
    bool fits = collect(vector, first, arguments);
    va_end(arguments);
    return fits ? execv(path, (char *const *)vector) : -1;
}

MR_EXPORT int execlp(const char *path, const char *first, ...)
{
    const char *vector[LIST_MAX];
    va_list arguments;
    va_start(arguments, first);
    bool fits = collect(vector, first, arguments);
    va_end(arguments);
    return fits ? execvp(path, (char *const *)vector) : -1;
}

MR_EXPORT int execle(const char *path, const char *first, ...)
{
    const char *vector[LIST_MAX];
    va_list arguments;
    va_start(arguments, first);
    bool fits = collect(vector, first, arguments);
    char *const *environment = va_arg(arguments, char *const *);
    va_end(arguments);
    return fits ? execve(path, (char *const *)vector, environment) : -1;
}

MR_EXPORT __attribute__((noreturn)) void _exit(int status)
{
    end_process(status, MR_CALLER);
}

MR_EXPORT __attribute__((noreturn)) void _Exit(int status)
{
    end_process(status, MR_CALLER);
}

/* Constructors and destructors run under a lock of the loader's: no hand-over at their accesses. */
static mr_thread *load_begin(void)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        thread->quiet++;
        mr_leave(thread);
    }
    return thread;
}

static void load_end(mr_thread *thread)
{
    if (thread != NULL && mr_enter() != NULL) {
        mr_modules_log();
        thread->quiet--;
        mr_leave(thread);
    }
}

/*
 * dlopen looks at who calls it, for $ORIGIN and the namespace: those of the runtime library are as
 * good as those of the program, but for a caller with a RUNPATH of its own.
 */
MR_EXPORT void *dlopen(const char *path, int flags)
{
    mr_thread *thread = load_begin();
    void *handle = MR_REAL(dlopen)(path, flags);
    load_end(thread);
    return handle;
}

MR_EXPORT int dlclose(void *handle)
{
    mr_thread *thread = load_begin();
    int status = MR_REAL(dlclose)(handle);
    load_end(thread);
    return status;
}
