/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _GNU_SOURCE /* personality, pipe2, environ */

#include "spawn.h"

#include "run_info.h"
#include "runtime/inputs_format.h"
#include "runtime/log.h"
#include "runtime/operands_format.h"

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
#include <unistd.h>

static mr_status failed(mr_error *error, const char *what)
{
    return mr_error_set(error, MR_ERR_IO, NULL, 0, "cannot %s: %s", what, strerror(errno));
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
    const char *operands = launch->operands ? launch->operands : "";
    size_t used = strlen(log) + strlen(replay) + strlen(result) + strlen(inputs) + strlen(operands);
    size_t left = used < MR_LAUNCH_PATHS_BYTES ? MR_LAUNCH_PATHS_BYTES - used : 0;
    memset(pad, '-', left);
    pad[left] = '\0';
    return setenv(MR_LOG_ENV_FILE, log, 1) == 0 && setenv(MR_LOG_ENV_REPLAY, replay, 1) == 0 &&
           setenv(MR_LOG_ENV_REPLAY_RESULT, result, 1) == 0 &&
           setenv(MR_INPUTS_ENV_FEED, inputs, 1) == 0 &&
           setenv(MR_OPERANDS_ENV, operands, 1) == 0 && setenv("MAXRACE_PAD", pad, 1) == 0;
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

/* Standard input is a file. */
static bool take_input(const char *path)
{
    if (!path)
        return true;
    int file = open(path, O_RDONLY);
    bool ok = file >= 0 && dup2(file, STDIN_FILENO) >= 0;
    if (file > STDIN_FILENO)
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
           redirect(launch->output, STDOUT_FILENO) && redirect(launch->errors, STDERR_FILENO) &&
           take_input(launch->input);
}

/* Why the program could not be started: errno, or, when there is a text, that. */
typedef struct failure {
    int number;
    char text[MR_LAYERS_WHY_BYTES];
} failure;

/* The folder and the streams are taken behind it: they lie in it. */
static bool enter(const mr_launch *launch, failure *why)
{
    return !launch->sandbox || mr_sandbox_enter(launch->sandbox, why->text);
}

/* Runs in the child and never returns. On failure it writes the reason to the pipe. */
static void execute(const mr_launch *launch, const char *log, int error_pipe)
{
    char schedule[16];
    snprintf(schedule, sizeof schedule, "%s", launch->schedule);
    personality(ADDR_NO_RANDOMIZE); /* best effort */
    if (launch->apart) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    if (launch->output_to_errors)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    failure why = {.number = 0};
    bool ready = enter(launch, &why) && prepare(launch);
    if (launch->apart && launch->sandbox)
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a new namespace of users has taken it back */
    if (ready)
        mr_descriptors_provide(launch->descriptors, launch->descriptors_again, &error_pipe);
    if (ready && set_paths(launch, log) && setenv(MR_LOG_ENV_SCHEDULE, schedule, 1) == 0 &&
        set_number(MR_LOG_ENV_SEED, launch->seed) &&
        set_number(MR_LOG_ENV_MAX_EVENTS, launch->max_events) &&
        set_number(MR_LOG_ENV_MAX_LOG, launch->max_log_bytes) &&
        set_number(MR_INPUTS_ENV_RECORD, launch->records_inputs) &&
        set_number(MR_INPUTS_ENV_MAX, launch->max_input_bytes) &&
        set_number(MR_LOG_ENV_FOLLOW_FORKS, launch->follows_forks) &&
        setenv(MR_LAUNCH_SLICES, MR_LAUNCH_SLICES_ARE, 0) == 0 &&
        (!launch->explores ||
         setenv(MR_LOG_ENV_EXPLORE, launch->tells_states ? "2" : "1", 1) == 0) &&
        setenv(MR_LOG_ENV_ON_DEADLOCK,
               launch->waits_in_deadlock     ? "wait"
               : launch->ends_deadlocks_soon ? "soon"
                                             : "stop",
               1) == 0)
        execvp(launch->arguments[0], (char *const *)launch->arguments);
    why.number = errno;
    if (write(error_pipe, &why, sizeof why) < 0)
        _exit(126);
    _exit(127);
}

mr_status mr_spawn(const mr_launch *launch, const char *log, pid_t *process, mr_error *error)
{
    int ends[2];
    failure why;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return failed(error, "make a pipe");
    fflush(NULL);
    *process = fork();
    if (*process == 0)
        execute(launch, log, ends[1]);
    close(ends[1]);
    if (*process < 0) {
        close(ends[0]);
        return failed(error, "start a process");
    }
    ssize_t got;
    do
        got = read(ends[0], &why, sizeof why);
    while (got < 0 && errno == EINTR);
    close(ends[0]);
    if (got != (ssize_t)sizeof why)
        return MR_OK;
    while (waitpid(*process, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (why.text[0])
        return mr_error_set(error, MR_ERR_IO, NULL, 0, "--sandbox: %s", why.text);
    return mr_error_set(error, MR_ERR_IO, launch->arguments[0], 0, "cannot run: %s",
                        strerror(why.number));
}
