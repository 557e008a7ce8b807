#include "recording.h"

#include "formats/mrt/mrt_write.h"
#include "formats/read.h"
#include "launch.h"
#include "record/convert.h"
#include "record/leave_out.h"
#include "runtime/log.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

mr_status mr_recording_flags(const mr_cli *cli, mr_recording *recording, mr_error *error)
{
    static const char *const schedules[] = {"random", "pct", "os"};
    enum { SCHEDULE, SEED, MAX_EVENTS };
    const char *schedule = cli->own[SCHEDULE] ? cli->own[SCHEDULE] : schedules[0];
    *recording = (mr_recording){.schedule = NULL};
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++)
        if (strcmp(schedule, schedules[i]) == 0)
            recording->schedule = schedules[i];
    if (!recording->schedule)
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "--schedule: '%.64s' is not random, pct or os", schedule);
    mr_status status = mr_cli_number(cli, SEED, 1, 0, &recording->seed, error);
    return status ? status : mr_cli_number(cli, MAX_EVENTS, 0, 0, &recording->max_events, error);
}

static void tell_end(const mr_record_summary *summary, const mr_launched *launched)
{
    if (launched->signal)
        fprintf(stderr, "; the program was ended by signal %d (%s)\n", launched->signal,
                strsignal(launched->signal));
    else
        fprintf(stderr, "; the program ended with status %d\n", launched->exit_status);
    if (summary->state == MR_LOG_LIMIT)
        fputs("maxrace: recording ended at --max-events; the program went on\n", stderr);
    if (summary->state == MR_LOG_FULL)
        fputs("maxrace: recording ended because the log could not grow (is the disk full?)\n",
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

static void tell(const char *path, const mr_record_summary *summary, const mr_launched *launched)
{
    const char *plural = summary->events == 1 ? "" : "s";
    fprintf(stderr, "maxrace: %s: %" PRIu64 " event%s of %" PRIu32 " thread%s", path,
            summary->events, plural, summary->threads, summary->threads == 1 ? "" : "s");
    if (summary->left_out)
        fprintf(stderr, " (%" PRIu64 " accesses that no other thread can conflict with left out)",
                summary->left_out);
    tell_end(summary, launched);
    if (summary->strange_kept)
        fprintf(stderr,
                "maxrace: %" PRIu64
                " read%s saw what no recorded write wrote, first %s at %s: code "
                "that 'maxrace cc' did not build; such variables are treated by their sources\n",
                summary->strange_kept, summary->strange_kept == 1 ? "" : "s",
                summary->strange_variable, summary->strange_location);
    if (summary->dropped)
        fprintf(stderr,
                "maxrace: %" PRIu64 " event%s left out that no trace can have; the first %s\n",
                summary->dropped, summary->dropped == 1 ? "" : "s", summary->first_dropped);
    if (summary->damaged)
        fputs("maxrace: the log makes no sense from some point on; the trace ends there\n", stderr);
}

/* The trace without the events of `record.exclude`. */
static mr_status write_rest(const char *whole, const char *patterns, FILE *stream, mr_error *error)
{
    mr_trace *trace = NULL, *rest = NULL;
    mr_status status = mr_trace_read(whole, NULL, &trace, error);
    if (!status)
        status = mr_record_leave_out(trace, patterns, &rest, error);
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
    if (!file)
        return mr_error_set(error, MR_ERR_IO, whole, 0, "cannot write: %s", strerror(errno));
    mr_status status = mr_record_convert(log, path, file, options, summary, error);
    if (fclose(file) != 0 && !status)
        status = mr_error_set(error, MR_ERR_IO, whole, 0, "cannot write: %s", strerror(errno));
    if (!status)
        status = write_rest(whole, patterns, stream, error);
    unlink(whole);
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

mr_status mr_recording_run(const mr_cli *cli, const mr_recording *recording, const char *path,
                           const char *name, bool output_to_errors, FILE *stream, int *exit_status,
                           mr_error *error)
{
    mr_cli_progress progress;
    mr_launched launched;
    mr_record_summary summary = {0};
    const char *patterns = mr_config_text(cli->config, "record.exclude");
    mr_record_options options = {.keep_local = mr_config_bool(cli->config, "record.local"),
                                 .progress = &progress.progress,
                                 .debug = &cli->debug};
    const mr_launch launch = {.arguments = cli->operands,
                              .schedule = recording->schedule,
                              .seed = recording->seed,
                              .max_events = recording->max_events,
                              .output_to_errors = output_to_errors};
    mr_status status = mr_launch_run(&launch, path, &launched, error);
    if (status)
        return status;
    *exit_status = launched.exit_status;
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit of file sizes then fails like any other */
    status = check_log(&launched, cli->operands[0], error);
    mr_cli_progress_start(&progress, cli->config);
    if (!status && patterns[0])
        status = convert_part(launched.log, path, patterns, stream, &options, &summary, error);
    else if (!status)
        status = mr_record_convert(launched.log, path, stream, &options, &summary, error);
    mr_cli_progress_end(&progress);
    mr_launch_clean(&launched);
    if (!status && !mr_config_bool(cli->config, "quiet"))
        tell(name, &summary, &launched);
    return status;
}
