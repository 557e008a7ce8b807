/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _GNU_SOURCE /* personality, mkostemp, pipe2 */

#include "launch.h"

#include "child_logs.h"
#include "leftovers.h"
#include "replay/run_info.h"
#include "runtime/inputs_format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The process that signals are passed on to, and that the alarm has killed. */
static volatile sig_atomic_t child, timed_out;
/* A signal that came when the program had ended: for its children. */
static volatile sig_atomic_t asked;

static void pass_on(int number)
{
    if (child > 0)
        kill((pid_t)child, number);
    else
        asked = number;
}

static void end_child(int number)
{
    (void)number;
    timed_out = 1;
    pass_on(SIGKILL);
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
    snprintf(launched->log, sizeof launched->log, "%.4000s/maxrace-log-XXXXXX", resolved);
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

/* The environment always has the same size, whatever the paths are, as far as they have room. */
static bool set_paths(const mr_launch *launch, const char *log)
{
    char pad[MR_LAUNCH_PATHS_BYTES + 1];
    const char *replay = launch->replay ? launch->replay : "";
    const char *result = launch->result ? launch->result : "";
    const char *inputs = launch->inputs ? launch->inputs : "";
    size_t used = strlen(log) + strlen(replay) + strlen(result) + strlen(inputs);
    size_t left = used < MR_LAUNCH_PATHS_BYTES ? MR_LAUNCH_PATHS_BYTES - used : 0;
    memset(pad, '-', left);
    pad[left] = '\0';
    return setenv(MR_LOG_ENV_FILE, log, 1) == 0 && setenv(MR_LOG_ENV_REPLAY, replay, 1) == 0 &&
           setenv(MR_LOG_ENV_REPLAY_RESULT, result, 1) == 0 &&
           setenv(MR_INPUTS_ENV_FEED, inputs, 1) == 0 && setenv("MAXRACE_PAD", pad, 1) == 0;
}

/* A standard stream goes to a new file. */
static bool redirect(const char *path, int stream)
{
    if (!path)
        return true;
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW, 0600);
    bool ok = file >= 0 && dup2(file, stream) >= 0;
    if (file >= 0)
        close(file);
    return ok;
}

/* What a replay has of its own. */
static bool prepare(const mr_launch *launch)
{
    if (launch->environment)
        environ = (char **)launch->environment;
    for (size_t i = 0; mr_run_info_hidden[i]; i++)
        unsetenv(mr_run_info_hidden[i]);
    return (!launch->folder || chdir(launch->folder) == 0) &&
           redirect(launch->output, STDOUT_FILENO) && redirect(launch->errors, STDERR_FILENO);
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
    if (prepare(launch) && set_paths(launch, log) &&
        setenv(MR_LOG_ENV_SCHEDULE, schedule, 1) == 0 &&
        set_number(MR_LOG_ENV_SEED, launch->seed) &&
        set_number(MR_LOG_ENV_MAX_EVENTS, launch->max_events) &&
        set_number(MR_LOG_ENV_MAX_LOG, launch->max_log_bytes) &&
        set_number(MR_INPUTS_ENV_RECORD, launch->records_inputs) &&
        set_number(MR_INPUTS_ENV_MAX, launch->max_input_bytes) &&
        set_number(MR_LOG_ENV_FOLLOW_FORKS, launch->follows_forks) &&
        setenv(MR_LOG_ENV_ON_DEADLOCK, launch->waits_in_deadlock ? "wait" : "stop", 1) == 0)
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
    if (launch->follows_forks)
        prctl(PR_SET_CHILD_SUBREAPER, 1);
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

/* Sends a signal to the process that writes the log, and to its children. With SIGKILL, waits until
 * the process is gone. */
static void signal_recorded(const char *log, int number)
{
    mr_log_header header;
    char path[MR_CHILD_LOG_BYTES];
    const struct timespec moment = {.tv_nsec = 10000000};
    enum { MOMENTS = 100 };
    if (!mr_log_header_read(log, &header))
        return;
    pid_t process =
        header.state == MR_LOG_RUNNING && header.process > 1 ? (pid_t)header.process : 0;
    int moments = number == SIGKILL ? MOMENTS : 1;
    for (int i = 0; process && i < moments && kill(process, number) == 0; i++)
        if (waitpid(process, NULL, WNOHANG) != process)
            nanosleep(&moment, NULL);
    for (uint32_t i = 1; i <= header.forks; i++)
        if (mr_child_log(log, i, path))
            signal_recorded(path, number);
}

/* The program has ended; what it started goes on, and is ours since. */
static void wait_for_children(const mr_launched *launched)
{
    for (;;) {
        pid_t ended = waitpid(-1, NULL, 0);
        if (ended < 0 && errno != EINTR)
            return;
        int number = timed_out ? SIGKILL : (int)asked;
        asked = 0;
        if (ended < 0 && number)
            signal_recorded(launched->log, number);
    }
}

/* Does a child that has no log go on? */
static int find_child(const char *log)
{
    mr_log_header header;
    bool goes_on = mr_log_header_read(log, &header) && header.last_child > 1 &&
                   kill((pid_t)header.last_child, 0) == 0;
    return goes_on ? (int)header.last_child : 0;
}

/* Waits for the program, with signals as the header says. */
static mr_status attend(const mr_launch *launch, mr_launched *launched, mr_error *error)
{
    static const struct {
        int number;
        void (*handler)(int);
    } signals[] = {{SIGTERM, pass_on},
                   {SIGHUP, pass_on},
                   {SIGALRM, end_child},
                   {SIGINT, SIG_IGN},
                   {SIGQUIT, SIG_IGN}};
    enum { SIGNALS = sizeof signals / sizeof *signals };
    struct sigaction old[SIGNALS], action = {.sa_flags = 0};
    timed_out = 0;
    asked = 0;
    for (int i = 0; i < SIGNALS; i++) {
        action.sa_handler = signals[i].handler;
        sigaction(signals[i].number, &action, &old[i]);
    }
    alarm(launch->timeout_seconds);
    mr_status status = wait_for(launched, error);
    /* What was killed may have been a shell, and the program that records runs on. */
    if (timed_out)
        signal_recorded(launched->log, SIGKILL);
    if (launch->follows_forks && !status) {
        action.sa_handler = pass_on;
        sigaction(SIGINT, &action, NULL);
        wait_for_children(launched);
    }
    launched->child = find_child(launched->log);
    launched->timed_out = timed_out != 0;
    alarm(0);
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signals[i].number, &old[i], NULL);
    return status;
}

mr_status mr_launch_run(const mr_launch *launch, const char *beside, mr_launched *launched,
                        mr_error *error)
{
    *launched = (mr_launched){.leftover = -1, .has_children = launch->follows_forks};
    mr_status status = make_log(beside, launched, error);
    if (status)
        return status;
    launched->leftover = mr_leftover_add(launched->log, launch->tells_log ? MR_LEFTOVER_TELL_LOG
                                                                          : MR_LEFTOVER_REMOVE_LOG);
    status = start(launch, launched->log, error);
    if (status) {
        mr_launch_clean(launched);
        return status;
    }
    return attend(launch, launched, error);
}

void mr_launch_inputs_path(const char *log, char path[4352])
{
    snprintf(path, 4352, "%.4096s%s", log, MR_INPUTS_SUFFIX);
}

void mr_launch_clean(mr_launched *launched)
{
    if (launched->log[0] && launched->has_children)
        mr_child_logs_visit(launched->log, mr_child_log_remove);
    else if (launched->log[0])
        mr_child_log_remove(launched->log);
    mr_launch_keep(launched);
}

void mr_launch_keep(mr_launched *launched)
{
    launched->log[0] = '\0';
    mr_leftover_forget(launched->leftover);
    launched->leftover = -1;
}
