#include "recording.h"

#include "child_traces.h"
#include "formats/mrt/mrt_write.h"
#include "formats/read.h"
#include "launch.h"
#include "leftovers.h"
#include "record/child_logs.h"
#include "record/convert.h"
#include "record/early.h"
#include "record/leave_out.h"
#include "replay/run_info.h"
#include "runtime/inputs_format.h"
#include "runtime/log.h"
#include "trace_output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_MAX_LOG_BYTES   ((uint64_t)4 << 30)
#define DEFAULT_MAX_INPUT_BYTES ((uint64_t)1 << 30)

mr_status mr_cli_number(const mr_cli *cli, int flag, uint64_t fallback, uint64_t least,
                        uint64_t *number, mr_error *error)
{
    const char *text = cli->own[flag];
    char *end = NULL;
    *number = fallback;
    if (!text)
        return MR_OK;
    errno = 0;
    *number = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && !errno && *number >= least)
        return MR_OK;
    return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                        "--%s: '%.64s' is not a number from %" PRIu64 " on",
                        cli->command->own[flag].name, text, least);
}

/* A size: a number, and K, M or G for 2^10, 2^20 or 2^30 bytes. */
static mr_status bytes_of(const mr_cli *cli, int flag, uint64_t fallback, uint64_t *bytes,
                          mr_error *error)
{
    static const char units[] = "KMG";
    const char *text = cli->own[flag], *unit;
    char *end = NULL;
    *bytes = fallback;
    if (!text)
        return MR_OK;
    errno = 0;
    *bytes = strtoull(text, &end, 10);
    bool good = *text >= '0' && *text <= '9' && !errno;
    if (good && *end && (unit = strchr(units, *end)) != NULL) {
        unsigned shift = 10 * (unsigned)(unit - units + 1);
        good = *bytes <= UINT64_MAX >> shift;
        *bytes <<= shift;
        end++;
    }
    if (good && !*end)
        return MR_OK;
    return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                        "--%s: '%.64s' is not a size such as 500M or 4G",
                        cli->command->own[flag].name, text);
}

mr_status mr_recording_flags(const mr_cli *cli, mr_recording *recording, mr_error *error)
{
    static const char *const schedules[] = {"random", "pct", "os"};
    const char *given = cli->own[MR_FLAG_SCHEDULE], *schedule = given ? given : schedules[0];
    *recording = (mr_recording){.schedule = NULL};
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++)
        if (strcmp(schedule, schedules[i]) == 0)
            recording->schedule = schedules[i];
    if (!recording->schedule)
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "--schedule: '%.64s' is not random, pct or os", schedule);
    const char *on_deadlock = cli->own[MR_FLAG_ON_DEADLOCK];
    recording->waits_in_deadlock = on_deadlock && strcmp(on_deadlock, "wait") == 0;
    if (on_deadlock && !recording->waits_in_deadlock && strcmp(on_deadlock, "stop") != 0)
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "--on-deadlock: '%.64s' is not stop or wait", on_deadlock);
    const char *inputs = cli->own[MR_FLAG_RECORD_INPUTS];
    recording->no_inputs = inputs && strcmp(inputs, "no") == 0;
    if (inputs && !recording->no_inputs && strcmp(inputs, "yes") != 0)
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "--record-inputs: '%.64s' is not yes or no", inputs);
    mr_status status = mr_cli_number(cli, MR_FLAG_SEED, 1, 0, &recording->seed, error);
    if (!status)
        status = mr_cli_number(cli, MR_FLAG_MAX_EVENTS, 0, 0, &recording->max_events, error);
    if (!status)
        status =
            bytes_of(cli, MR_FLAG_MAX_LOG, DEFAULT_MAX_LOG_BYTES, &recording->max_log_bytes, error);
    if (!status)
        status = bytes_of(cli, MR_FLAG_MAX_INPUTS, DEFAULT_MAX_INPUT_BYTES,
                          &recording->max_input_bytes, error);
    if (!status)
        status = mr_cli_number(cli, MR_FLAG_TIMEOUT, 0, 0, &recording->timeout_seconds, error);
    if (recording->timeout_seconds > INT32_MAX)
        recording->timeout_seconds = INT32_MAX;
    return status;
}

static void tell_end(const mr_record_summary *summary, const mr_launched *launched)
{
    if (!launched)
        fputs("\n", stderr);
    else if (launched->timed_out)
        fputs("; the program was killed after --timeout\n", stderr);
    else if (launched->signal)
        fprintf(stderr, "; the program was ended by signal %d (%s)\n", launched->signal,
                strsignal(launched->signal));
    else
        fprintf(stderr, "; the program ended with status %d\n", launched->exit_status);
    if (summary->state == MR_LOG_LIMIT)
        fputs("maxrace: recording ended at --max-events; the program went on\n", stderr);
    if (summary->state == MR_LOG_LONG)
        fputs("maxrace: recording ended at --max-log; the program went on\n", stderr);
    if (summary->state == MR_LOG_CLONED)
        fputs("maxrace: recording ended where clone made a thread that shares memory; the program "
              "went on\n",
              stderr);
    if (summary->state == MR_LOG_FULL)
        fprintf(stderr, "maxrace: recording ended because the log could not grow: %s\n",
                strerror(summary->log_error));
    if (summary->inputs_state == MR_INPUTS_LONG)
        fputs(
            "maxrace: inputs ended at --max-inputs; a replay gives the program only those before\n",
            stderr);
    if (summary->inputs_state == MR_INPUTS_FULL)
        fputs("maxrace: inputs ended because their file could not grow; a replay gives the program "
              "only those before\n",
              stderr);
    if (summary->state == MR_LOG_DEADLOCK)
        fputs("maxrace: nobody could run for 2 s, so the program was ended; the threads that wait "
              "are in the report\n",
              stderr);
    if (summary->state == MR_LOG_EXECED)
        fputs("maxrace: the program replaced itself by another one, which is not recorded\n",
              stderr);
    if (summary->taken)
        fprintf(stderr,
                "maxrace: %" PRIu64 " time%s a thread blocked in a call that is not known; another "
                "run with this seed may differ\n",
                summary->taken, summary->taken == 1 ? "" : "s");
}

/* `launched` is NULL when nothing is known but the log. */
static void tell(const char *path, const mr_record_summary *summary, const mr_launched *launched)
{
    const char *plural = summary->events == 1 ? "" : "s";
    fprintf(stderr, "maxrace: %s: %" PRIu64 " event%s of %" PRIu32 " thread%s", path,
            summary->events, plural, summary->threads, summary->threads == 1 ? "" : "s");
    if (summary->left_out)
        fprintf(stderr, " (%" PRIu64 " accesses that %s left out)", summary->left_out,
                summary->left_ordered ? "are in order with all that they conflict with"
                                      : "no other thread can conflict with");
    tell_end(summary, launched);
    if (summary->strange_reads)
        fprintf(stderr,
                "maxrace: %" PRIu64
                " read%s saw what no recorded write wrote, first %s at %s: code "
                "that 'maxrace cc' did not build; such variables are treated by their sources\n",
                summary->strange_reads, summary->strange_reads == 1 ? "" : "s",
                summary->strange_variable, summary->strange_location);
    if (summary->dropped)
        fprintf(stderr,
                "maxrace: %" PRIu64 " event%s left out that no trace can have; the first %s\n",
                summary->dropped, summary->dropped == 1 ? "" : "s", summary->first_dropped);
    if (summary->children)
        fprintf(stderr,
                "maxrace: %" PRIu32 " child process%s with %" PRIu32 " thread%s %s not recorded; "
                "--follow-forks does it\n",
                summary->children, summary->children == 1 ? "" : "es", summary->child_threads,
                summary->child_threads == 1 ? "" : "s", summary->children == 1 ? "was" : "were");
    else if (launched && launched->child)
        fprintf(stderr,
                "maxrace: a child process (%d) goes on and is not recorded; --follow-forks does "
                "it\n",
                launched->child);
    if (summary->damaged)
        fputs("maxrace: the log makes no sense from some point on; the trace ends there\n", stderr);
}

/* The trace without the events of `record.exclude`. */
static mr_status write_rest(const char *whole, const char *patterns, FILE *stream, mr_error *error)
{
    mr_trace *trace = NULL, *rest = NULL;
    mr_status status = mr_trace_read(whole, NULL, &trace, error);
    if (!status)
        status = mr_record_leave_out(trace, patterns, mr_cli_tell_unmatched, "record.exclude",
                                     &rest, error);
    if (!status)
        status = mr_mrt_write(stream, rest, NULL, error);
    mr_trace_free(trace);
    mr_trace_free(rest);
    return status;
}

/* Converts the log to a temporary trace beside it, removes the excluded events, and writes the rest
 * to the stream. */
static mr_status convert_part(const char *log, const char *path, const char *patterns, FILE *stream,
                              const mr_record_options *options, mr_record_summary *summary,
                              mr_error *error)
{
    char whole[4200];
    snprintf(whole, sizeof whole, "%.4096s.mrt", log);
    FILE *file = fopen(whole, "w");
    int leftover = mr_leftover_add(whole, MR_LEFTOVER_REMOVE);
    if (!file)
        return mr_error_set(error, MR_ERR_IO, whole, 0, "cannot write: %s", strerror(errno));
    mr_status status = mr_record_convert(log, path, file, options, summary, error);
    if (fclose(file) != 0 && !status)
        status = mr_error_set(error, MR_ERR_IO, whole, 0, "cannot write: %s", strerror(errno));
    if (!status)
        status = write_rest(whole, patterns, stream, error);
    unlink(whole);
    mr_leftover_forget(leftover);
    return status;
}

/* Is there a log? */
static mr_status check_log(const mr_launched *launched, const char *program, mr_error *error)
{
    struct stat info;
    bool is_there = stat(launched->log, &info) == 0;
    if (is_there && info.st_size > 0)
        return MR_OK;
    if (is_there) /* the runtime library leaves the log empty when it cannot start */
        return mr_error_set(error, MR_ERR_IO, launched->log, 0,
                            "nothing was recorded: there is no room for the log");
    return mr_error_set(
        error, MR_ERR_TRACE, NULL, 0,
        "%.256s recorded nothing: it was not built with 'maxrace cc' or 'maxrace c++' "
        "(it ended with status %d)",
        program, launched->exit_status);
}

const char *mr_symbol_folder(char *path, size_t path_bytes)
{
    const char *given = getenv("MAXRACE_SYMBOL_CACHE"), *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    if (given)
        snprintf(path, path_bytes, "%s", given);
    else if (cache && cache[0] == '/')
        snprintf(path, path_bytes, "%s/maxrace/symbols", cache);
    else if (home && home[0] == '/')
        snprintf(path, path_bytes, "%s/.cache/maxrace/symbols", home);
    else
        path[0] = '\0';
    return path[0] ? path : NULL;
}

/* Does the trace leave out what happens-before orders? What record.exclude leaves out may have ordered it. */
static bool leaves_ordered(const mr_cli *cli, const mr_recording *recording)
{
    return recording->leaves_ordered && !mr_config_text(cli->config, "record.exclude")[0];
}

/* Converts a log as the configuration asks; `run` are lines about the run, or NULL. */
static mr_status convert(const mr_cli *cli, const char *log, bool leave_ordered,
                         const mr_record_end *end, mr_early *early, const char *run,
                         const char *path, FILE *stream, mr_record_summary *summary,
                         mr_error *error)
{
    mr_cli_progress progress;
    char symbols[4000], inputs[4352];
    mr_launch_inputs_path(log, inputs);
    const char *patterns = mr_config_text(cli->config, "record.exclude");
    mr_record_options options = {.keep_local = mr_config_bool(cli->config, "record.local"),
                                 .leave_ordered = leave_ordered,
                                 .end = *end,
                                 .early = early,
                                 .run = run,
                                 .strip_prefix = mr_config_text(cli->config, "record.strip_prefix"),
                                 .inputs = inputs,
                                 .symbol_folder = mr_symbol_folder(symbols, sizeof symbols),
                                 .progress = &progress.progress,
                                 .debug = &cli->debug};
    mr_cli_progress_start(&progress, cli->config);
    mr_status status = patterns[0]
                           ? convert_part(log, path, patterns, stream, &options, summary, error)
                           : mr_record_convert(log, path, stream, &options, summary, error);
    mr_cli_progress_end(&progress);
    return status;
}

static void tell_log(const char *log)
{
    fprintf(stderr, "maxrace: the log stays: maxrace record --convert %s\n", log);
}

/* The trace could not be written: with more room, or a limit less, it may. */
static void leave_log(mr_launched *launched)
{
    mr_child_logs_visit(launched->log, tell_log);
    mr_launch_keep(launched);
}

/* Of record: the trace of a child is bank.1.mrt beside bank.mrt. */
typedef struct beside {
    const mr_cli *cli;
    const char *path;
} beside;

static mr_status convert_child(void *context, const char *log, const char *number, mr_error *error)
{
    const beside *self = context;
    char path[MR_CHILD_LOG_BYTES];
    mr_output output;
    mr_trace_format format;
    int stem = (int)(strlen(self->path) - strlen(".mrt"));
    snprintf(path, sizeof path, "%.*s.%s.mrt", stem, self->path, number);
    mr_status status = mr_trace_output_open(&output, path, &format, error);
    if (status)
        return status;
    status = mr_recording_convert(self->cli, log, path, path, output.stream, error);
    return mr_trace_output_close(&output, path, status, error);
}

/* The log of a program that we have run: how is known. */
static mr_status convert_run(const mr_cli *cli, const mr_recording *recording,
                             const mr_launched *launched, const mr_record_end *end, mr_early *early,
                             const char *path, FILE *stream, mr_record_summary *summary,
                             mr_error *error)
{
    mr_bytes lines = {.items = NULL};
    if (recording->run)
        mr_run_info_again(&lines, recording->run);
    else
        mr_run_info_lines(&lines, cli->operands, recording->waits_in_deadlock, &cli->descriptors);
    mr_bytes_raw(&lines, "", 1);
    mr_status status = lines.failed
                           ? mr_error_memory(error, "describing the run")
                           : convert(cli, launched->log, leaves_ordered(cli, recording), end, early,
                                     (const char *)lines.items, path, stream, summary, error);
    mr_bytes_free(&lines);
    return status;
}

/* The first pass over the log, while the program runs. */
typedef struct beside_run {
    const mr_cli *cli;
    bool leave_ordered;
    mr_early *early;
} beside_run;

static void begin_early(void *context, const char *log)
{
    beside_run *self = context;
    const mr_record_options options = {.keep_local =
                                           mr_config_bool(self->cli->config, "record.local"),
                                       .leave_ordered = self->leave_ordered};
    self->early = mr_early_start(log, &options);
}

mr_status mr_recording_run(const mr_cli *cli, const mr_recording *recording, const char *path,
                           const char *name, bool output_to_errors, FILE *stream, int *exit_status,
                           mr_error *error)
{
    mr_launched launched;
    mr_record_summary summary = {0};
    const mr_run_info *run = recording->run;
    beside_run first = {cli, leaves_ordered(cli, recording), NULL};
    bool again = run && run->descriptors.count;
    const mr_launch launch = {.begun = begin_early,
                              .context = &first,
                              .arguments = run ? run->arguments.items : cli->operands,
                              .environment = run ? run->environment.items : NULL,
                              .folder = run ? run->folder : NULL,
                              .descriptors = again ? &run->descriptors : &cli->descriptors,
                              .descriptors_again = again,
                              .replay = recording->replay,
                              .inputs = recording->inputs,
                              .schedule = recording->schedule,
                              .seed = recording->seed,
                              .max_events = recording->max_events,
                              .max_log_bytes = recording->max_log_bytes,
                              .max_input_bytes = recording->max_input_bytes,
                              /* A trace for the order alone is not replayed. */
                              .records_inputs = !recording->no_inputs && !recording->leaves_ordered,
                              .timeout_seconds = (unsigned)recording->timeout_seconds,
                              .waits_in_deadlock = recording->waits_in_deadlock,
                              .follows_forks = recording->follows_forks,
                              .tells_log = recording->keeps_log,
                              .output_to_errors = output_to_errors};
    mr_status status = mr_launch_run(&launch, path, &launched, error);
    if (status) {
        mr_early_free(first.early);
        return status;
    }
    *exit_status = launched.exit_status;
    status = check_log(&launched, launch.arguments[0], error);
    if (!status) {
        const mr_record_end end = {.is_known = true,
                                   .timed_out = launched.timed_out,
                                   .exit_status = launched.exit_status,
                                   .signal = launched.signal,
                                   .process = launched.process};
        status = convert_run(cli, recording, &launched, &end, first.early, path, stream, &summary,
                             error);

        if (!status && fflush(stream) != 0)
            status = mr_error_set(error, MR_ERR_IO, NULL, 0, "cannot write: %s", strerror(errno));
        if ((status == MR_ERR_IO || status == MR_ERR_MEMORY) && recording->keeps_log)
            leave_log(&launched);
    }
    mr_early_free(first.early);
    if (!status && !mr_config_bool(cli->config, "quiet"))
        tell(name, &summary, &launched);
    if (!status && recording->logs) {
        *recording->logs = launched;
        return MR_OK;
    }
    if (!status && recording->follows_forks) {
        beside children = {cli, path};
        status = mr_child_traces_visit(launched.log, convert_child, &children, error);
        if (status && recording->keeps_log)
            leave_log(&launched);
    }
    mr_launch_clean(&launched);
    return status;
}

mr_status mr_recording_convert(const mr_cli *cli, const char *log, const char *path,
                               const char *name, FILE *stream, mr_error *error)
{
    mr_record_summary summary = {0};
    const mr_record_end unknown = {.is_known = false};
    mr_status status =
        convert(cli, log, false, &unknown, NULL, NULL, path, stream, &summary, error);
    if (!status && !mr_config_bool(cli->config, "quiet"))
        tell(name, &summary, NULL);
    return status;
}
