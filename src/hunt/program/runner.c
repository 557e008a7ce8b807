/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _GNU_SOURCE /* mkdtemp, pidfd_open */

#include "runner.h"

#include "base/memory.h"
#include "base/seconds.h"
#include "formats/read.h"
#include "hunt/inputs/inputs.h"
#include "record/child_logs.h"
#include "record/convert.h"
#include "replay/spawn.h"
#include "runtime/inputs_format.h"
#include "runtime/log.h"
#include "witness/witness.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OUTPUT_MOST = 1 << 20 };

/* The files of a run, in the folder. */
#define INPUTS_NAME "log" MR_INPUTS_SUFFIX
/* One name, of two literals. NOLINTNEXTLINE(bugprone-suspicious-missing-comma) */
static const char *const files[] = {"log", INPUTS_NAME, "result",  "out",
                                    "err", "trace.mrt", "operands"};
enum { LOG, INPUTS, RESULT, OUTPUT, ERRORS, TRACE, OPERANDS, FILES };

typedef char file_path[MR_RUNNER_PATH_BYTES + 32];

static void path_of(const mr_runner *runner, int file, file_path path)
{
    snprintf(path, sizeof(file_path), "%s/%s", runner->folder, files[file]);
}

static void remove_files(const mr_runner *runner)
{
    file_path path;
    for (int i = 0; i < FILES; i++) {
        path_of(runner, i, path);
        unlink(path);
    }
}

mr_status mr_runner_open(mr_runner *runner, const char *symbol_folder, mr_error *error)
{
    const char *place = getenv("TMPDIR");
    return mr_runner_open_in(runner, place && place[0] == '/' ? place : "/tmp", symbol_folder,
                             error);
}

mr_status mr_runner_open_in(mr_runner *runner, const char *place, const char *symbol_folder,
                            mr_error *error)
{
    *runner = (mr_runner){.symbol_folder = symbol_folder, .max_log_bytes = (uint64_t)1 << 30};
    snprintf(runner->folder, sizeof runner->folder, "%.2900s/maxrace-hunt-XXXXXX", place);
    if (mkdtemp(runner->folder))
        return MR_OK;
    mr_error_set(error, MR_ERR_IO, runner->folder, 0, "cannot make this folder: %s",
                 strerror(errno));
    runner->folder[0] = '\0';
    return error->status;
}

mr_status mr_runner_use_sandbox(mr_runner *runner, const char *works_in, mr_error *error)
{
    mr_status status = mr_sandbox_open(&runner->sandbox, NULL, runner->folder, works_in, error);
    runner->has_sandbox = !status;
    if (status)
        mr_sandbox_close(&runner->sandbox);
    return status;
}

void mr_runner_close(mr_runner *runner)
{
    if (runner->has_sandbox)
        mr_sandbox_close(&runner->sandbox);
    runner->has_sandbox = false;
    if (!runner->folder[0])
        return;
    remove_files(runner);
    rmdir(runner->folder);
    runner->folder[0] = '\0';
}

void mr_ran_free(mr_ran *ran)
{
    mr_run_end_free(&ran->end);
    mr_trace_free(ran->trace);
    mr_positions_free(&ran->positions);
    mr_run_info_free(&ran->info);
    mr_replay_result_free(&ran->replay);
    mr_operands_free(&ran->operands);
    *ran = (mr_ran){.trace = NULL};
}

/* What a file has, at most OUTPUT_MOST bytes. NULL: there is none, or no memory. */
static char *contents(const char *path)
{
    struct stat info;
    FILE *file = stat(path, &info) == 0 ? fopen(path, "r") : NULL;
    size_t most = file && info.st_size < OUTPUT_MOST ? (size_t)info.st_size : OUTPUT_MOST;
    char *text = file ? mr_malloc(most + 1, 0) : NULL;
    if (text)
        text[fread(text, 1, most, file)] = '\0';
    if (file)
        fclose(file);
    return text;
}

/* Where there are no descriptors of processes (Linux before 5.3, valgrind): looks each millisecond. */
static bool ends_while_looking(pid_t process, double until)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    siginfo_t info;
    for (;;) {
        info.si_pid = 0;
        if (waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid)
            return true;
        if (mr_seconds() >= until)
            return false;
        nanosleep(&pause, NULL);
    }
}

/* False: the time is over. The process is not reaped. */
static bool ends_in_time(pid_t process, unsigned timeout_ms)
{
    int descriptor = (int)syscall(SYS_pidfd_open, process, 0);
    struct pollfd look = {.fd = descriptor, .events = POLLIN};
    double until = mr_seconds() + timeout_ms / 1000.0, left = timeout_ms;
    int got = 0;
    if (descriptor < 0)
        return ends_while_looking(process, until);
    while (left > 0 && (got = poll(&look, 1, (int)left + 1)) < 0 && errno == EINTR)
        left = (until - mr_seconds()) * 1000;
    close(descriptor);
    return got > 0;
}

/* Waits until the process has ended, or kills it and all of its group after the time. */
static mr_status wait_for(pid_t process, unsigned timeout_ms, mr_run_end *end, mr_error *error)
{
    int status;
    end->timed_out = timeout_ms && !ends_in_time(process, timeout_ms);
    if (end->timed_out) {
        kill(-process, SIGKILL);
        kill(process, SIGKILL);
    }
    while (waitpid(process, &status, 0) < 0)
        if (errno != EINTR)
            return mr_error_set(error, MR_ERR_IO, NULL, 0, "cannot wait for the program: %s",
                                strerror(errno));
    kill(-process, SIGKILL); /* what it has started and left */
    end->is_there = true;
    end->process = process;
    end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end->exit_status = end->signal ? 128 + end->signal : WEXITSTATUS(status);
    return MR_OK;
}

static mr_status launch(mr_runner *runner, const mr_run_request *request, mr_ran *ran,
                        mr_error *error)
{
    file_path log, result, output, errors, operands;
    pid_t process;
    path_of(runner, LOG, log);
    path_of(runner, RESULT, result);
    path_of(runner, OUTPUT, output);
    path_of(runner, ERRORS, errors);
    path_of(runner, OPERANDS, operands);
    const mr_launch launch = {.arguments = request->arguments,
                              .environment = request->environment,
                              .folder = request->directory,
                              .schedule = request->strategy ? request->strategy : "random",
                              .seed = request->seed,
                              .max_log_bytes = runner->max_log_bytes,
                              .max_input_bytes = runner->max_log_bytes,
                              .records_inputs = request->keeps_inputs,
                              .ends_deadlocks_soon = true,
                              .explores = request->explores,
                              .tells_states = request->tells_states,
                              .descriptors = runner->descriptors,
                              .descriptors_again = true,
                              .replay = request->schedule,
                              .result = request->schedule ? result : NULL,
                              .inputs = request->feed,
                              .operands = request->compares ? operands : NULL,
                              .input = request->input ? request->input : "/dev/null",
                              .output = output,
                              .errors = errors,
                              .sandbox = runner->has_sandbox ? &runner->sandbox : NULL,
                              .apart = true};
    mr_status status =
        runner->has_sandbox ? mr_sandbox_begin(&runner->sandbox, "run", error) : MR_OK;
    double start = mr_seconds();
    if (!status)
        status = mr_spawn(&launch, log, &process, error);
    if (!status)
        status = wait_for(process, request->timeout_ms, &ran->end, error);
    ran->seconds = mr_seconds() - start;
    if (!status && runner->has_sandbox)
        status = mr_sandbox_end(&runner->sandbox, NULL, error);
    if (status)
        return status;
    ran->end.output = contents(output);
    ran->end.errors = contents(errors);
    return request->schedule ? mr_replay_result_read(result, &ran->replay, error) : MR_OK;
}

/* The log as a trace file. */
static mr_status convert(const mr_runner *runner, const mr_run_request *request, const char *log,
                         const char *path, mr_ran *ran, mr_error *error)
{
    file_path inputs;
    mr_bytes lines = {.items = NULL};
    mr_record_summary summary = {0};
    const mr_run_end *end = &ran->end;
    path_of(runner, INPUTS, inputs);
    mr_run_info_of_command(&lines, request->arguments, request->environment, request->directory,
                           runner->descriptors);
    mr_bytes_raw(&lines, "", 1);
    const mr_record_options options = {.end = {.is_known = true,
                                               .timed_out = end->timed_out,
                                               .exit_status = end->exit_status,
                                               .signal = end->signal,
                                               .process = end->process},
                                       .run = (const char *)lines.items,
                                       .inputs = request->keeps_inputs ? inputs : NULL,
                                       .symbol_folder = runner->symbol_folder};
    FILE *file = lines.failed ? NULL : fopen(path, "w");
    if (!file) {
        mr_status status = lines.failed ? mr_error_memory(error, "describing the run")
                                        : mr_error_set(error, MR_ERR_IO, path, 0,
                                                       "cannot write: %s", strerror(errno));
        mr_bytes_free(&lines);
        return status;
    }
    mr_status status = mr_record_convert(log, "hunt", file, &options, &summary, error);
    mr_bytes_free(&lines);
    if (fclose(file) != 0 && !status)
        status = mr_error_set(error, MR_ERR_IO, path, 0, "cannot write: %s", strerror(errno));
    ran->is_cut = summary.state == MR_LOG_EXECED || summary.state == MR_LOG_LIMIT ||
                  summary.state == MR_LOG_FULL || summary.state == MR_LOG_LONG ||
                  summary.state == MR_LOG_CLONED || summary.damaged;
    ran->is_full = summary.state == MR_LOG_LONG;
    return status;
}

/* Reads the trace back, as everybody else would. */
static mr_status take_trace(const char *path, mr_ran *ran, mr_error *error)
{
    mr_status status = mr_trace_read(path, NULL, &ran->trace, error);
    if (!status)
        status = mr_positions_read(path, ran->trace, &ran->positions, error);
    return status ? status : mr_run_info_read(&ran->info, ran->positions.run, error);
}

mr_status mr_runner_run(mr_runner *runner, const mr_run_request *request, mr_ran *ran,
                        mr_error *error)
{
    file_path log, path, operands;
    mr_log_header header;
    *ran = (mr_ran){.trace = NULL};
    remove_files(runner);
    path_of(runner, LOG, log);
    path_of(runner, TRACE, path);
    path_of(runner, OPERANDS, operands);
    runner->runs++;
    mr_status status = launch(runner, request, ran, error);
    bool has_log = !status && mr_log_header_read(log, &header);
    ran->end.deadlocked = has_log && header.state == MR_LOG_DEADLOCK;
    if (has_log) /* without an end, what is in the window is left out */
        ran->log_bytes = (header.end ? header.end : header.window_start) - header.header_bytes;
    if (!status && !has_log)
        status = mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                              "%.256s recorded nothing: it was not built with 'maxrace cc' or "
                              "'maxrace c++' (it ended with status %d)",
                              request->arguments[0], ran->end.exit_status);
    if (!status && request->read_log)
        status = request->read_log(request->context, log, &ran->end, error);
    if (!status && request->compares)
        status = mr_operands_read(operands, MR_INPUTS_COMPARISONS, &ran->operands, error);
    if (!status && !request->needs_no_trace) {
        const char *to = request->trace_path ? request->trace_path : path;
        status = convert(runner, request, log, to, ran, error);
        if (!status)
            status = take_trace(to, ran, error);
    }
    remove_files(runner);
    return status;
}

mr_status mr_prefix_write(const mr_prefix *prefix, const char *path, mr_error *error)
{
    const mr_witness witness = {.kind = MR_WITNESS_SEES,
                                .model = MR_MODEL_VALUE,
                                .window_end = prefix->trace->event_count,
                                .events = (uint32_t *)prefix->events,
                                .event_count = prefix->event_count};
    mr_run_info info = *prefix->info; /* its texts stay the earlier run's */
    if (prefix->strategy) {
        info.schedule = (char *)prefix->strategy;
        info.seed = prefix->seed;
    }
    mr_plan plan = {.trace = prefix->trace,
                    .positions = prefix->positions,
                    .run = &info,
                    .witness = &witness,
                    .event_count = UINT32_MAX,
                    .is_loose = true,
                    .go_on = prefix->go_on};
    for (uint32_t i = 0; i < prefix->stop_count; i++) {
        uint32_t event = prefix->stops[(prefix->first + i) % prefix->stop_count];
        plan.stops[plan.stop_count++] =
            (mr_plan_stop){.event = event, .position = prefix->positions->position[event]};
    }
    FILE *file = fopen(path, "w");
    if (!file)
        return mr_error_set(error, MR_ERR_IO, path, 0, "cannot write: %s", strerror(errno));
    mr_status status = mr_plan_write(&plan, MR_PLAN_FIRST, file, error);
    if (fclose(file) != 0 && !status)
        status = mr_error_set(error, MR_ERR_IO, path, 0, "cannot write: %s", strerror(errno));
    return status;
}
