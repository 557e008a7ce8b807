/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _GNU_SOURCE /* mkostemp */

#include "launch.h"

#include "leftovers.h"
#include "record/child_logs.h"
#include "runtime/inputs_format.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The process that signals are passed on to, and that the alarm has killed. */
static volatile sig_atomic_t child, timed_out;
/* Who is asked to end when a signal comes; NULL: the program gets it. */
static mr_halt *_Atomic asked_to;
/* A signal that came when the program had ended: for its children. */
static volatile sig_atomic_t asked;
static volatile sig_atomic_t told_to_end;

static void pass_on(int number)
{
    if (child > 0)
        kill((pid_t)child, number);
    else
        asked = number;
}

static void tell_to_end(int number)
{
    told_to_end = 1;
    pass_on(number);
}

static void end_child(int number)
{
    (void)number;
    timed_out = 1;
    pass_on(SIGKILL);
}

static void halt_child(int number)
{
    (void)number;
    mr_halt_ask(asked_to, MR_HALT_SIGNAL);
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

/* Starts the child; `child` is its number. */
static mr_status start(const mr_launch *launch, const char *log, mr_error *error)
{
    pid_t process;
    if (launch->follows_forks)
        prctl(PR_SET_CHILD_SUBREAPER, 1);
    mr_status status = mr_spawn(launch, log, &process, error);
    child = status ? 0 : process;
    return status;
}

static mr_status wait_for(mr_launched *launched, mr_error *error)
{
    int status;
    while (waitpid((pid_t)child, &status, 0) < 0)
        if (errno != EINTR)
            return failed(error, "wait for the program");
    launched->process = (int)child;
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

/* What signals do while a program runs: with somebody to ask, and without. SIGALRM is the timeout. */
static const struct {
    int number;
    void (*asks)(int), (*passes)(int);
} signals[] = {{SIGALRM, end_child, end_child},
               {SIGTERM, halt_child, tell_to_end},
               {SIGHUP, halt_child, tell_to_end},
               {SIGINT, halt_child, SIG_IGN},
               {SIGQUIT, halt_child, SIG_IGN}};
enum { SIGNALS = sizeof signals / sizeof *signals };

/* What was ignored stays so, where somebody is asked. */
static void catch_signals(const mr_launch *launch, struct sigaction *old)
{
    struct sigaction action = {.sa_flags = 0};
    timed_out = 0;
    asked = 0;
    asked_to = launch->halt;
    for (int i = 0; i < SIGNALS; i++) {
        action.sa_handler = launch->halt ? signals[i].asks : signals[i].passes;
        sigaction(signals[i].number, &action, &old[i]);
        if (launch->halt && signals[i].number != SIGALRM && old[i].sa_handler == SIG_IGN)
            sigaction(signals[i].number, &old[i], NULL);
    }
}

/* Waits for the program, with signals as the header says. */
static mr_status attend(const mr_launch *launch, mr_launched *launched, mr_error *error)
{
    struct sigaction old[SIGNALS], action = {.sa_handler = pass_on};
    catch_signals(launch, old);
    alarm(launch->timeout_seconds);
    if (mr_halt_asked(launch->halt)) /* before the handlers were there */
        pass_on(SIGKILL);
    mr_status status = wait_for(launched, error);
    launched->stopped = mr_halt_asked(launch->halt) != MR_HALT_NONE;
    /* What was killed may have been a shell, and the program that records runs on. */
    if (timed_out || launched->stopped)
        signal_recorded(launched->log, SIGKILL);
    if (launch->follows_forks && !status) {
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
    if (launch->begun)
        launch->begun(launch->context, launched->log);
    return attend(launch, launched, error);
}

bool mr_launch_told_to_end(void)
{
    return told_to_end != 0;
}

void mr_launch_tell_missing(const mr_descriptors *wanted, const mr_descriptors *ours)
{
    enum { STREAMS = 3 };
    char text[1024];
    if (mr_descriptors_missing(wanted, text, sizeof text))
        fprintf(stderr,
                "maxrace: the program does not get these descriptors of the recording; /dev/null "
                "or an unconnected socket stands for each: %s\n",
                text);
    if (!wanted->count && ours->count > STREAMS)
        fputs("maxrace: an older maxrace recorded the run and did not keep which descriptors the "
              "program began with; it gets those of this process\n",
              stderr);
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
