/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _XOPEN_SOURCE 700 /* nanosleep, open_memstream */

#include "replay_gdb.h"

#include "launch.h"
#include "report/escape.h"
#include "runtime/inputs_format.h"
#include "runtime/log.h"
#include "runtime/operands_format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- gdb ---- */

/* Python of gdb: names both threads, and shows where they stand, in frames of the program. */
static const char *const commands =
    "set pagination off\n"
    "set confirm off\n"
    "set var *(int *)&maxrace_replay_go = 1\n"
    "python\n"
    "import gdb\n"
    "def stand(name):\n"
    "    for thread in gdb.selected_inferior().threads():\n"
    "        if thread.name == name:\n"
    "            thread.switch()\n"
    "            frame = gdb.newest_frame()\n"
    "            while frame.older() and (not frame.find_sal().symtab or\n"
    "                    'libmaxrace_rt' in (gdb.solib_name(frame.pc()) or '')):\n"
    "                frame = frame.older()\n"
    "            frame.select()\n"
    "            print('\\n%s: thread %d' % (name, thread.num))\n"
    "            gdb.execute('frame')\n"
    "stand('race-second')\n"
    "stand('race-first')\n"
    "end\n"
    "echo \\ncontinue: race-first does its access, then race-second, then all threads run.\\n\n"
    "echo set var *(int *)&maxrace_replay_other_first = 1: the other way round.\\n\n";

static mr_status write_commands(const char *path, mr_error *error)
{
    FILE *file = fopen(path, "w");
    bool ok = file && fputs(commands, file) >= 0;
    if (file && fclose(file) != 0)
        ok = false;
    return ok ? MR_OK
              : mr_error_set(error, MR_ERR_IO, path, 0, "cannot write: %s", strerror(errno));
}

/* Runs gdb, and waits for it. */
static mr_status run_gdb(int process, const char *path, mr_error *error)
{
    char number[24];
    int status = 0;
    snprintf(number, sizeof number, "%d", process);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        /* It reads the real files: those of a sandbox are the same, and may be closed to it. */
        execlp("gdb", "gdb", "-q", "-nx", "-iex", "set sysroot /", "-p", number, "-x", path,
               (char *)NULL);
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
        return mr_error_set(error, MR_ERR_IO, NULL, 0, "cannot run gdb");
    return MR_OK;
}

/* Waits until the goal is reached, the program has ended, or it takes too long. */
static mr_status wait_for_goal(const mr_replaying *self, const char *told, pid_t runner,
                               mr_replay_result *result, mr_error *error)
{
    const struct timespec moment = {.tv_nsec = 20000000};
    mr_status status = MR_OK;
    bool ended = false;
    for (unsigned i = 0; i < 50 * self->timeout_seconds && !status; i++) {
        mr_replay_result_free(result);
        status = mr_replay_result_read(told, result, error);
        if (status || result->outcome != MR_REPLAY_NOTHING || ended)
            break;
        ended = waitpid(runner, NULL, WNOHANG) == runner;
        nanosleep(&moment, NULL);
    }
    if (status || result->outcome == MR_REPLAY_GOAL)
        return status;
    return mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                        "the goal was not reached (%s); replay without --gdb says more",
                        result->reason[0] ? result->reason : "the program ended");
}

mr_status mr_replay_gdb(mr_replaying *self, const mr_witness *witness, uint32_t stop_at,
                        mr_error *error)
{
    mr_replayed replayed = {.attempts = 0};
    mr_replay_result result = {.whose = -1};
    char script[MR_REPLAY_PATH_BYTES + 32], told[MR_REPLAY_PATH_BYTES + 32];
    mr_status status = mr_replaying_find(self, witness, stop_at, &replayed, error);
    if (!status && replayed.goal.outcome != MR_REPLAY_GOAL)
        status = mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                              "the goal was not reached (%s); replay without --gdb says more",
                              replayed.goal.reason);
    snprintf(script, sizeof script, "%s/errors", self->folder);
    snprintf(told, sizeof told, "%s/result", self->folder);
    unlink(told);
    if (!status)
        status = write_commands(script, error);
    if (!status)
        status = mr_replaying_schedule(self, &replayed.plan, MR_PLAN_HOLD, NULL, error);
    if (!status) {
        fflush(NULL);
        pid_t runner = fork();
        if (runner == 0) {
            mr_error unused;
            _exit(mr_replaying_start(self, &unused) ? 1 : 0);
        }
        status = wait_for_goal(self, told, runner, &result, error);
        if (!status)
            status = run_gdb(result.process, script, error);
        if (result.process > 1)
            kill(result.process, SIGKILL);
        while (runner > 0 && waitpid(runner, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    mr_replay_result_free(&result);
    mr_replayed_free(&replayed);
    return status;
}

/* ---- script ---- */

/* The environment of the recorded program, with the variables of a replay (spawn.c), all of them and as
 * long: a program may walk over it. */
static void print_environment(FILE *file, const mr_run_info *run)
{
    fprintf(file, "env -i %s=%s", MR_LAUNCH_SLICES, MR_LAUNCH_SLICES_ARE);
    for (size_t i = 0; i < run->environment.count; i++) {
        fputs(" \\\n    ", file);
        mr_escape_shell(file, run->environment.items[i]);
    }
    fprintf(file,
            " \\\n    %s=\"$log\" %s=\"$schedule\" %s=\"$result\" %s=\"$inputs\" %s= "
            "MAXRACE_PAD=\"$pad\""
            " \\\n    %s=%s %s=%020" PRIu64 " %s=%020d %s=%020" PRIu64 " %s=%020d %s=%020d %s=%020d"
            " %s=%s",
            MR_LOG_ENV_FILE, MR_LOG_ENV_REPLAY, MR_LOG_ENV_REPLAY_RESULT, MR_INPUTS_ENV_FEED,
            MR_OPERANDS_ENV, MR_LOG_ENV_SCHEDULE, run->schedule ? run->schedule : "random",
            MR_LOG_ENV_SEED, run->seed, MR_LOG_ENV_MAX_EVENTS, 0, MR_LOG_ENV_MAX_LOG,
            (uint64_t)4 << 30, MR_INPUTS_ENV_RECORD, 0, MR_INPUTS_ENV_MAX, 0,
            MR_LOG_ENV_FOLLOW_FORKS, 0, MR_LOG_ENV_ON_DEADLOCK,
            run->waits_in_deadlock ? "wait" : "stop");
}

/* How bash opens it. Who only writes a file writes at its end: a shell knows no offsets. */
static const char *operator_of(const mr_descriptor *is)
{
    int access = is->flags & O_ACCMODE;
    return access == O_RDONLY ? "<" : access == O_RDWR ? "<>" : ">>";
}

static void open_descriptor(FILE *text, const mr_descriptor *is)
{
    const char *operator= operator_of(is);
    bool has_path = mr_descriptor_has_path(is);
    if (has_path) {
        fprintf(text, "if [ -%c ", (is->flags & O_ACCMODE) == O_RDONLY ? 'r' : 'w');
        mr_escape_shell(text, is->name);
        fprintf(text, " ]; then exec %d%s", is->number, operator);
        mr_escape_shell(text, is->name);
        fputs("; else ", text);
    }
    fprintf(text,
            "exec %d%s/dev/null; echo 'maxrace: /dev/null stands for descriptor %d (%s)' >&2%s\n",
            is->number, operator, is->number, mr_descriptor_kind_word(is->kind),
            has_path ? "; fi" : "");
}

/* Lines of bash, for the descriptors of the recording and no others; sh knows only those of one digit. */
static mr_status print_descriptors(FILE *file, const mr_descriptors *descriptors, mr_error *error)
{
    char *lines = NULL;
    size_t room = 0;
    FILE *text = open_memstream(&lines, &room);
    if (!text)
        return mr_error_memory(error, "writing the script");
    fputs("for fd in /proc/$$/fd/*; do fd=${fd##*/}; [ \"$fd\" -le 2 ] || eval \"exec $fd<&-\"; "
          "done\n",
          text);
    for (size_t i = 0; i < descriptors->count; i++)
        if (descriptors->items[i].number > STDERR_FILENO)
            open_descriptor(text, &descriptors->items[i]);
    fputs("exec \"$@\"", text);
    bool ok = fclose(text) == 0;
    if (ok) {
        fputs("bash -c ", file);
        mr_escape_shell(file, lines);
        fputs(" bash \\\n", file);
    }
    free(lines);
    return ok ? MR_OK : mr_error_memory(error, "writing the script");
}

static mr_status print_script(const mr_replaying *self, size_t number, FILE *file, mr_error *error)
{
    const mr_run_info *run = &self->run;
    fprintf(
        file,
        "#!/bin/sh\n"
        "# Replays race %zu of %s by the files beside this one: the program below runs until both\n"
        "# threads stand before their accesses, then goes on, with the first access first. What "
        "came\n"
        "# of it is printed last. Needs the same program and libraries, bash, and setarch "
        "of\n# util-linux.\n"
        "script=$(realpath \"$0\") folder=$(mktemp -d) || exit 1\n"
        "schedule=$script.schedule log=$folder/log result=$folder/result inputs=%s\n"
        "used=$((${#log} + ${#schedule} + ${#result} + ${#inputs}))\n"
        "pad=$(printf '%%*s' $((%d - used)) '' | tr ' ' -)\n"
        "cd ",
        number, self->trace->path, self->has_inputs ? "$script.inputs" : "", MR_LAUNCH_PATHS_BYTES);
    mr_escape_shell(file, run->folder ? run->folder : ".");
    fputs(" || exit 1\n", file);
    mr_status status =
        run->descriptors.count ? print_descriptors(file, &run->descriptors, error) : MR_OK;
    print_environment(file, run);
    fputs(" \\\n    setarch -R --", file);
    for (size_t i = 0; i < run->arguments.count; i++) {
        fputc(' ', file);
        mr_escape_shell(file, run->arguments.items[i]);
    }
    fputs("\nstatus=$?\necho \"exit status $status\"\ncat \"$result\"\nrm -rf \"$folder\"\n"
          "exit $status\n",
          file);
    return status;
}

mr_status mr_replay_script(const mr_replaying *self, const mr_witness *witness, uint32_t stop_at,
                           size_t number, const char *path, mr_error *error)
{
    char beside[MR_REPLAY_PATH_BYTES + 32];
    mr_plan plan = {
        .trace = self->trace, .positions = &self->positions, .run = &self->run, .witness = witness};
    mr_status status = mr_plan_init(&plan, stop_at, error);
    snprintf(beside, sizeof beside, "%.4096s.schedule", path);
    if (!status)
        status = mr_replaying_schedule(self, &plan, MR_PLAN_FIRST, beside, error);
    snprintf(beside, sizeof beside, "%.4096s.inputs", path);
    if (!status && self->has_inputs)
        status = mr_replaying_inputs(self, beside, error);
    FILE *file = status ? NULL : fopen(path, "w");
    if (!status && !file)
        return mr_error_set(error, MR_ERR_IO, path, 0, "cannot write: %s", strerror(errno));
    if (file)
        status = print_script(self, number, file, error);
    if (file && (fclose(file) != 0 || chmod(path, 0755) != 0) && !status)
        status = mr_error_set(error, MR_ERR_IO, path, 0, "cannot write: %s", strerror(errno));
    return status;
}
