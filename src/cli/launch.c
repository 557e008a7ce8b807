/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _GNU_SOURCE /* personality, mkostemp, pipe2 */

#include "launch.h"

#include "runtime/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

/* The process that signals are passed on to. */
static volatile sig_atomic_t child;

static void pass_on(int number)
{
    if (child > 0)
        kill((pid_t)child, number);
}

static mr_status failed(mr_error *error, const char *what)
{
    return mr_error_set(error, MR_ERR_IO, NULL, 0, "cannot %s: %s", what, strerror(errno));
}

/* An unused path in the folder of `beside`. The program makes the file. */
static mr_status make_log(const char *beside, mr_launched *launched, mr_error *error)
{
    const char *slash = strrchr(beside, '/');
    char folder[3000] = ".", resolved[4096];
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", slash == beside ? 1 : (int)(slash - beside),
                 beside);
    if (!realpath(folder, resolved))
        return mr_error_set(error, MR_ERR_IO, beside, 0, "cannot write: %s", strerror(errno));
    snprintf(launched->log, sizeof launched->log, "%.4000s/.maxrace-log-XXXXXX", resolved);
    int file = mkostemp(launched->log, O_CLOEXEC);
    if (file < 0)
        return mr_error_set(error, MR_ERR_IO, beside, 0, "cannot write: %s", strerror(errno));
    close(file);
    if (unlink(launched->log) != 0)
        return mr_error_set(error, MR_ERR_IO, launched->log, 0, "cannot remove: %s",
                            strerror(errno));
    return MR_OK;
}

static bool set_number(const char *name, uint64_t number)
{
    /* The text always has the same length, because the size of the environment moves the stack. */
    char text[32];
    snprintf(text, sizeof text, "%020" PRIu64, number);
    return setenv(name, text, 1) == 0;
}

/* Runs in the child and never returns. On failure it writes errno to the pipe. */
static void execute(const mr_launch *launch, const char *log, int error_pipe)
{
    char schedule[16];
    snprintf(schedule, sizeof schedule, "%s", launch->schedule);
    personality(ADDR_NO_RANDOMIZE); /* best effort */
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    if (launch->output_to_errors)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    if (setenv(MR_LOG_ENV_FILE, log, 1) == 0 && setenv(MR_LOG_ENV_SCHEDULE, schedule, 1) == 0 &&
        set_number(MR_LOG_ENV_SEED, launch->seed) &&
        set_number(MR_LOG_ENV_MAX_EVENTS, launch->max_events))
        execvp(launch->arguments[0], (char *const *)launch->arguments);
    int number = errno;
    if (write(error_pipe, &number, sizeof number) < 0)
        _exit(126);
    _exit(127);
}

/* Starts the child; `child` is its number. */
static mr_status start(const mr_launch *launch, const char *log, mr_error *error)
{
    int ends[2], number = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return failed(error, "make a pipe");
    fflush(NULL);
    pid_t process = fork();
    if (process == 0)
        execute(launch, log, ends[1]);
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return failed(error, "start a process");
    }
    child = process;
    ssize_t got;
    do
        got = read(ends[0], &number, sizeof number);
    while (got < 0 && errno == EINTR);
    close(ends[0]);
    if (got != (ssize_t)sizeof number)
        return MR_OK;
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR)
        continue;
    child = 0;
    return mr_error_set(error, MR_ERR_IO, launch->arguments[0], 0, "cannot run: %s",
                        strerror(number));
}

static mr_status wait_for(mr_launched *launched, mr_error *error)
{
    int status;
    while (waitpid((pid_t)child, &status, 0) < 0)
        if (errno != EINTR)
            return failed(error, "wait for the program");
    child = 0;
    launched->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    launched->exit_status = launched->signal ? 128 + launched->signal : WEXITSTATUS(status);
    return MR_OK;
}

mr_status mr_launch_run(const mr_launch *launch, const char *beside, mr_launched *launched,
                        mr_error *error)
{
    static const int passed[] = {SIGTERM, SIGHUP}, ignored[] = {SIGINT, SIGQUIT};
    enum { PASSED = 2, IGNORED = 2 };
    struct sigaction old[PASSED + IGNORED], action = {.sa_handler = pass_on};
    *launched = (mr_launched){.signal = 0};
    mr_status status = make_log(beside, launched, error);
    if (status)
        return status;
    status = start(launch, launched->log, error);
    if (status) {
        mr_launch_clean(launched);
        return status;
    }
    for (int i = 0; i < PASSED; i++)
        sigaction(passed[i], &action, &old[i]);
    action.sa_handler = SIG_IGN;
    for (int i = 0; i < IGNORED; i++)
        sigaction(ignored[i], &action, &old[PASSED + i]);
    status = wait_for(launched, error);
    for (int i = 0; i < PASSED; i++)
        sigaction(passed[i], &old[i], NULL);
    for (int i = 0; i < IGNORED; i++)
        sigaction(ignored[i], &old[PASSED + i], NULL);
    return status;
}

void mr_launch_clean(mr_launched *launched)
{
    if (launched->log[0])
        unlink(launched->log);
    launched->log[0] = '\0';
}
