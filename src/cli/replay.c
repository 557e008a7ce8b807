/* replay: predicts, and then runs the recorded program by each witness. */
#include "base/seconds.h"
#include "cli.h"
#include "engine/predict.h"
#include "hunt_replay.h"
#include "interrupt.h"
#include "output.h"
#include "recording.h"
#include "replay_gdb.h"
#include "replay_report.h"
#include "replay_results.h"
#include "replaying.h"
#include "witness/pack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { RACE, FINDING, STOP_AT, TIMEOUT, SCRIPT, GDB, SANDBOX, KEEP_SANDBOX };

typedef struct replay {
    mr_cli *cli;
    const char *path;
    uint64_t events;        /* that the trace must have; 0: nobody says */
    uint64_t race, finding; /* both 0: all */
    uint64_t stop_at, timeout_seconds;
    mr_trace *trace;
    mr_result result;
    mr_halt halt;
    mr_replaying replaying;
    mr_replay_report report;
    bool any_reached;
} replay;

static mr_status replay_one(replay *self, const mr_witness *packed, bool is_race, size_t index,
                            mr_error *error)
{
    mr_witness room = {.events = NULL};
    mr_replayed replayed = {.attempts = 0};
    const mr_witness *witness = mr_witness_open(self->trace, packed, &room);
    if (!witness)
        return mr_error_memory(error, "reading a witness");
    uint32_t stop_at = self->stop_at < UINT32_MAX ? (uint32_t)self->stop_at : UINT32_MAX;
    mr_replaying_name(&self->replaying, is_race, index + 1);
    mr_status status = mr_replaying_race(&self->replaying, witness, stop_at, &replayed, error);
    bool is_whole = !status && !self->replaying.stopped;
    if (is_whole)
        status = mr_replay_report_add(&self->report, index + 1, &replayed, error);
    self->any_reached = self->any_reached || (is_whole && replayed.goal.outcome == MR_REPLAY_GOAL);
    mr_replayed_free(&replayed);
    mr_witness_free(&room);
    return status;
}

/* --script, --gdb: of the race or finding that was asked for. */
static mr_status hand_out(replay *self, mr_error *error)
{
    self->replaying.halt = NULL; /* signals are for the program and its debugger */
    mr_witness room = {.events = NULL};
    const mr_witness *packed = self->race ? &self->result.races[self->race - 1].witness
                                          : &self->result.findings[self->finding - 1].witness;
    const mr_witness *witness = mr_witness_open(self->trace, packed, &room);
    if (!witness)
        return mr_error_memory(error, "reading a witness");
    uint32_t stop_at = self->stop_at < UINT32_MAX ? (uint32_t)self->stop_at : UINT32_MAX;
    mr_status status = MR_OK;
    if (self->cli->own[SCRIPT])
        status = mr_replay_script(&self->replaying, witness, stop_at,
                                  (size_t)(self->race ? self->race : self->finding),
                                  self->cli->own[SCRIPT], error);
    if (!status && self->cli->own[GDB])
        status = mr_replay_gdb(&self->replaying, witness, stop_at, error);
    self->any_reached = !status;
    mr_witness_free(&room);
    return status;
}

/* A signal has asked for the end. */
static bool is_stopped(const replay *self)
{
    return mr_halt_asked(&self->halt) != MR_HALT_NONE;
}

static mr_status replay_all(FILE *stream, const void *context, mr_error *error)
{
    replay *self = (replay *)context;
    mr_status status =
        mr_replay_report_begin(&self->report, stream, self->cli->config, &self->replaying,
                               self->result.race_count, self->result.finding_count, error);
    for (size_t i = 0; i < self->result.race_count && !status && !is_stopped(self); i++)
        if (!self->finding && (!self->race || self->race == i + 1))
            status = replay_one(self, &self->result.races[i].witness, true, i, error);
    for (size_t i = 0; i < self->result.finding_count && !status && !is_stopped(self); i++)
        if (!self->race && (!self->finding || self->finding == i + 1))
            status = replay_one(self, &self->result.findings[i].witness, false, i, error);
    mr_status ended = mr_replay_report_end(&self->report, is_stopped(self), error);
    return status ? status : ended;
}

/* Is there the race or finding of that number? */
static mr_status check_number(const char *flag, const char *noun, uint64_t number, size_t count,
                              mr_error *error)
{
    if (number <= count)
        return MR_OK;
    return mr_error_set(error, MR_ERR_USAGE, NULL, 0, "%s %" PRIu64 ": there %s %zu %s%s", flag,
                        number, count == 1 ? "is" : "are", count, noun, count == 1 ? "" : "s");
}

static mr_status predict(replay *self, mr_error *error)
{
    mr_cli_progress progress;
    const mr_predict_run run = {
        .progress = &progress.progress, .debug = &self->cli->debug, .halt = &self->halt};
    mr_config_resolve(self->cli->config);
    mr_cli_progress_start(&progress, self->cli->config);
    mr_status status =
        mr_cli_read_trace(self->path, self->cli->config, &progress, &self->trace, error);
    if (!status)
        status = mr_cli_check_trace(self->trace, error);
    if (!status && self->events && self->events != self->trace->event_count)
        status = mr_error_set(error, MR_ERR_TRACE, self->path, 0,
                              "this is not the trace of the report: it has %" PRIu64
                              " events, and that had %" PRIu64,
                              self->trace->event_count, self->events);
    if (!status)
        status = mr_replaying_open(&self->replaying, self->cli, self->path, self->trace, error);
    if (!status && (self->cli->own[SANDBOX] || self->cli->own[KEEP_SANDBOX]))
        status = mr_replaying_use_sandbox(&self->replaying, self->cli->own[KEEP_SANDBOX], error);
    mr_interrupt_start(&self->halt);
    if (!status)
        status = mr_predict(self->trace, self->cli->config, &run, &self->result, error);
    mr_cli_progress_end(&progress);
    self->replaying.halt = &self->halt;
    if (status || is_stopped(self)) /* perhaps not all has been found */
        return status;
    status = check_number("--race", "race", self->race, self->result.race_count, error);
    if (!status)
        status =
            check_number("--finding", "finding", self->finding, self->result.finding_count, error);
    return status;
}

static mr_status check_format(const mr_config *config, mr_error *error)
{
    mr_format format = (mr_format)mr_config_choice(config, "format");
    uint64_t line;
    const char *file = mr_config_place(config, "format", &line);
    if (format == MR_FORMAT_TEXT || format == MR_FORMAT_JSON)
        return MR_OK;
    return mr_error_set(error, MR_ERR_CONFIG, file, line,
                        "format: 'replay' reports as text or json");
}

/* Not everything that runs the program can do it in a sandbox. */
static mr_status check_sandbox(const mr_cli *cli, bool is_folder, mr_error *error)
{
    const char *flag = cli->own[KEEP_SANDBOX] ? "--keep-sandbox" : "--sandbox";
    if (!cli->own[SANDBOX] && !cli->own[KEEP_SANDBOX])
        return MR_OK;
    if (is_folder && cli->own[KEEP_SANDBOX])
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "%s is not for the finding of a hunt; replay its trace.mrt", flag);
    return cli->own[SCRIPT]
               ? mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                              "%s is not for --script: the script runs without maxrace", flag)
               : MR_OK;
}

mr_status mr_cli_replay(mr_cli *cli, int *exit_status, mr_error *error)
{
    replay self = {.cli = cli, .path = cli->operands[0], .replaying = {.leftover = -1}};
    char trace[MR_REPLAY_TRACE_BYTES];
    mr_status status = mr_cli_number(cli, RACE, 0, 1, &self.race, error);
    if (!status && mr_replay_is_results(self.path)) {
        status = mr_replay_results(cli, self.path, trace, &self.events, error);
        self.path = status ? self.path : trace;
    }
    if (!status)
        status = check_format(cli->config, error);
    if (!status)
        status = mr_cli_number(cli, FINDING, 0, 1, &self.finding, error);
    if (!status)
        status = mr_cli_number(cli, STOP_AT, UINT32_MAX, 0, &self.stop_at, error);
    if (!status)
        status = mr_cli_number(cli, TIMEOUT, 60, 1, &self.timeout_seconds, error);
    struct stat info;
    bool is_folder = !status && stat(self.path, &info) == 0 && S_ISDIR(info.st_mode);
    if (!status)
        status = check_sandbox(cli, is_folder, error);
    if (!status && is_folder)
        return mr_hunt_replay(cli, self.path, (unsigned)self.timeout_seconds * 1000,
                              cli->own[SANDBOX] != NULL, exit_status, error);
    bool hands_out = cli->own[SCRIPT] || cli->own[GDB];
    if (!status && (hands_out || cli->own[STOP_AT]) && !cli->own[RACE] && !cli->own[FINDING])
        status = mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                              "--stop-at, --script and --gdb need --race N or --finding N");
    if (!status && cli->own[RACE] && cli->own[FINDING])
        status = mr_error_set(error, MR_ERR_USAGE, NULL, 0, "--finding is not for --race");
    if (!status)
        status = mr_output_probe(mr_config_text(cli->config, "output"), error);
    if (!status)
        status = predict(&self, error);
    self.replaying.timeout_seconds = (unsigned)self.timeout_seconds;
    if (!status && !hands_out)
        status = mr_output_write(mr_config_text(cli->config, "output"), replay_all, &self, error);
    mr_interrupt_end();
    if (!status && hands_out && !is_stopped(&self))
        status = hand_out(&self, error);
    *exit_status = is_stopped(&self) ? MR_EXIT_INCOMPLETE : self.any_reached ? MR_EXIT_RACES : 0;
    mr_replaying_close(&self.replaying);
    mr_result_free(&self.result);
    mr_trace_free(self.trace);
    return status;
}
