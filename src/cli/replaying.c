/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _XOPEN_SOURCE 700 /* mkdtemp */

#include "replaying.h"

#include "formats/read.h"
#include "launch.h"
#include "leftovers.h"
#include "record/child_logs.h"
#include "record/convert.h"
#include "recording.h"
#include "runtime/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ATTEMPTS = 3, OUTPUT_MOST = 1 << 20, DEFAULT_TIMEOUT = 60 };

/* The files of a replay, in the folder. */
static const char *const files[] = {"schedule", "inputs", "result",
                                    "output",   "errors", "trace.mrt"};
enum { SCHEDULE, INPUTS, RESULT, OUTPUT, ERRORS, TRACE, FILES };

static void path_of(const mr_replaying *self, int file, char *path)
{
    snprintf(path, MR_REPLAY_PATH_BYTES + 32, "%s/%s", self->folder, files[file]);
}

typedef char file_path[MR_REPLAY_PATH_BYTES + 32];

static void remove_files(const mr_replaying *self, int first)
{
    file_path path;
    for (int i = first; i < FILES; i++) {
        path_of(self, i, path);
        unlink(path);
    }
}

static mr_status make_folder(mr_replaying *self, mr_error *error)
{
    const char *place = getenv("TMPDIR");
    snprintf(self->folder, sizeof self->folder, "%.4000s/maxrace-replay-XXXXXX",
             place && place[0] == '/' ? place : "/tmp");
    if (!mkdtemp(self->folder)) {
        mr_error_set(error, MR_ERR_IO, self->folder, 0, "cannot make this folder: %s",
                     strerror(errno));
        self->folder[0] = '\0';
        return error->status;
    }
    self->leftover = mr_leftover_add(self->folder, MR_LEFTOVER_REMOVE_FOLDER);
    return MR_OK;
}

/* What the recorded program got from outside. */
static mr_status take_inputs(mr_replaying *self, const char *trace, const char *path,
                             mr_error *error)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return mr_error_set(error, MR_ERR_IO, path, 0, "cannot write: %s", strerror(errno));
    mr_status status = mr_mrt_inputs(trace, file, &self->has_inputs, error);
    if (fclose(file) != 0 && !status)
        status = mr_error_set(error, MR_ERR_IO, path, 0, "cannot write: %s", strerror(errno));
    return status;
}

mr_status mr_replaying_open(mr_replaying *self, const mr_cli *cli, const char *path,
                            const mr_trace *trace, mr_error *error)
{
    *self = (mr_replaying){.cli = cli,
                           .trace = trace,
                           .leftover = -1,
                           .sandbox_leftover = -1,
                           .timeout_seconds = DEFAULT_TIMEOUT};
    mr_status status = mr_positions_read(path, trace, &self->positions, error);
    if (!status && !self->positions.position)
        return mr_error_set(error, MR_ERR_TRACE, path, 0,
                            "the trace lacks the positions of its events, which a replay needs: it "
                            "is no .mrt file of 'maxrace record', or an older one, or was changed "
                            "since (convert, exclude); record it again");
    if (!status)
        status = mr_run_info_read(&self->run, self->positions.run, error);
    if (!status && !self->run.arguments.count)
        return mr_error_set(error, MR_ERR_TRACE, path, 0,
                            "the trace lacks the command that was recorded, which a replay needs: "
                            "it was made from a log (record --convert); record it again");
    if (!status)
        status = make_folder(self, error);
    if (!status)
        mr_launch_tell_missing(&self->run.descriptors, &cli->descriptors);
    file_path inputs;
    path_of(self, INPUTS, inputs);
    self->path = path;
    return status ? status : take_inputs(self, path, inputs, error);
}

mr_status mr_replaying_use_sandbox(mr_replaying *self, const char *kept, mr_error *error)
{
    mr_status status = mr_sandbox_open(&self->sandbox, kept, self->folder, self->run.folder, error);
    self->has_sandbox = !status;
    if (!status && !kept)
        self->sandbox_leftover = mr_leftover_add(self->sandbox.folder, MR_LEFTOVER_TELL_FOLDER);
    return status;
}

void mr_replaying_name(mr_replaying *self, bool is_race, size_t number)
{
    snprintf(self->finding, sizeof self->finding, "%s-%zu", is_race ? "race" : "finding", number);
}

void mr_replaying_close(mr_replaying *self)
{
    mr_positions_free(&self->positions);
    mr_run_info_free(&self->run);
    mr_run_end_free(&self->recorded);
    mr_sandbox_close(&self->sandbox);
    mr_leftover_forget(self->sandbox_leftover);
    if (self->folder[0]) {
        remove_files(self, 0);
        rmdir(self->folder);
        mr_leftover_forget(self->leftover);
    }
}

void mr_replayed_free(mr_replayed *replayed)
{
    mr_replay_result_free(&replayed->goal);
    mr_replay_result_free(&replayed->other);
    mr_run_end_free(&replayed->first);
    mr_run_end_free(&replayed->second);
}

mr_status mr_replaying_schedule(const mr_replaying *self, const mr_plan *plan, mr_plan_then then,
                                const char *path, mr_error *error)
{
    file_path own;
    if (!path) {
        path_of(self, SCHEDULE, own);
        path = own;
    }
    FILE *file = fopen(path, "w");
    if (!file)
        return mr_error_set(error, MR_ERR_IO, path, 0, "cannot write: %s", strerror(errno));
    mr_status status = mr_plan_write(plan, then, file, error);
    if (fclose(file) != 0 && !status)
        status = mr_error_set(error, MR_ERR_IO, path, 0, "cannot write: %s", strerror(errno));
    return status;
}

mr_status mr_replaying_inputs(const mr_replaying *self, const char *path, mr_error *error)
{
    mr_replaying copy = *self;
    return take_inputs(&copy, self->path, path, error);
}

/* What a file has, at most OUTPUT_MOST bytes. NULL: there is none, or no memory. */
static char *contents(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = file ? mr_malloc(OUTPUT_MOST + 1, 0) : NULL;
    if (text)
        text[fread(text, 1, OUTPUT_MOST, file)] = '\0';
    if (file)
        fclose(file);
    return text;
}

/* The last values of variables, from the log of the run. A log that cannot be read has none. */
static mr_status take_log(const mr_replaying *self, const char *log, mr_run_end *end,
                          mr_error *error)
{
    file_path path;
    mr_trace *trace = NULL;
    mr_record_summary summary;
    char symbols[MR_REPLAY_PATH_BYTES];
    const mr_record_options options = {.symbol_folder = mr_symbol_folder(symbols, sizeof symbols)};
    mr_error unused;
    path_of(self, TRACE, path);
    FILE *file = fopen(path, "w");
    if (!file)
        return MR_OK;
    mr_status status = mr_record_convert(log, "replay", file, &options, &summary, &unused);
    if (fclose(file) == 0 && !status)
        status = mr_trace_read(path, NULL, &trace, &unused);
    bool ok = status || !trace || mr_run_end_take(end, trace);
    mr_trace_free(trace);
    return ok ? MR_OK : mr_error_memory(error, "reading the log of the replay");
}

/* How to run the program, by the schedule in the folder, or by the seed alone. The paths are the
 * caller's. */
static mr_launch launch_of(const mr_replaying *self, bool by_schedule, const char *schedule,
                           const char *told)
{
    const mr_run_info *run = &self->run;
    return (mr_launch){.arguments = run->arguments.items,
                       .environment = run->environment.items,
                       .folder = run->folder,
                       .descriptors = &run->descriptors,
                       .descriptors_again = true,
                       .schedule = run->schedule ? run->schedule : "random",
                       .seed = run->seed,
                       .max_log_bytes = (uint64_t)4 << 30,
                       .waits_in_deadlock = run->waits_in_deadlock,
                       .replay = by_schedule ? schedule : NULL,
                       .result = by_schedule ? told : NULL};
}

/* Begins a run in the sandbox, if there is one. `then` names it: "first" … */
static mr_status begin_run(mr_replaying *self, const char *then, mr_launch *launch, mr_error *error)
{
    char name[64];
    if (!self->has_sandbox)
        return MR_OK;
    snprintf(name, sizeof name, "%s%s%s", self->finding, self->finding[0] ? "-" : "", then);
    launch->sandbox = &self->sandbox;
    return mr_sandbox_begin(&self->sandbox, name, error);
}

/* How the runs are called in the sandbox. */
typedef enum run_name { FIRST, SECOND, RECORDED, AGAIN } run_name;
static const char *const run_names[] = {"first", "second", "recorded", "again"};

/* Runs the program once, by the schedule in the folder unless it is to run as recorded. */
static mr_status run_once(mr_replaying *self, run_name name, bool takes_log, mr_run_end *end,
                          mr_replay_result *result, mr_error *error)
{
    bool by_schedule = name == FIRST || name == SECOND;
    file_path schedule, told, output, errors, inputs;
    mr_launched launched;
    self->stopped = mr_halt_asked(self->halt) != MR_HALT_NONE;
    if (self->stopped)
        return MR_OK;
    remove_files(self, RESULT);
    path_of(self, RESULT, told);
    path_of(self, SCHEDULE, schedule);
    path_of(self, OUTPUT, output);
    path_of(self, ERRORS, errors);
    mr_launch launch = launch_of(self, by_schedule, schedule, told);
    launch.timeout_seconds = self->timeout_seconds;
    launch.halt = self->halt;
    path_of(self, INPUTS, inputs);
    launch.inputs = self->has_inputs ? inputs : NULL;
    launch.output = output;
    launch.errors = errors;
    mr_status status = begin_run(self, run_names[name], &launch, error);
    if (!status)
        status = mr_launch_run(&launch, told, &launched, error);
    if (status)
        return status;
    self->stopped = launched.stopped;
    mr_log_header header;
    *end = (mr_run_end){.is_there = true,
                        .exit_status = launched.exit_status,
                        .signal = launched.signal,
                        .timed_out = launched.timed_out,
                        .output = contents(output),
                        .errors = contents(errors)};
    end->refused = mr_run_end_is_refused(end->errors);
    bool has_header = mr_log_header_read(launched.log, &header);
    end->deadlocked = has_header && header.state == MR_LOG_DEADLOCK;
    end->starved = has_header && header.state == MR_LOG_STARVED;
    if (self->has_sandbox)
        status = mr_sandbox_end(&self->sandbox, &end->changes, error);
    if (!status && by_schedule)
        status = mr_replay_result_read(told, result, error);
    /* The log of a run that had to be ended says no more than that, and may have gigabytes. */
    if (!status && takes_log && !self->stopped && !launched.timed_out)
        status = take_log(self, launched.log, end, error);
    mr_launch_clean(&launched);
    return status;
}

mr_status mr_replaying_start(mr_replaying *self, mr_error *error)
{
    file_path schedule, told, inputs;
    mr_launched launched;
    mr_changes unused = {.items = NULL};
    path_of(self, RESULT, told);
    path_of(self, SCHEDULE, schedule);
    path_of(self, INPUTS, inputs);
    mr_launch launch = launch_of(self, true, schedule, told);
    launch.inputs = self->has_inputs ? inputs : NULL;
    mr_status status = begin_run(self, "debugger", &launch, error);
    if (!status)
        status = mr_launch_run(&launch, told, &launched, error);
    if (!status && self->has_sandbox)
        status = mr_sandbox_end(&self->sandbox, &unused, error);
    mr_changes_free(&unused);
    if (!status)
        mr_launch_clean(&launched);
    return status;
}

/* Went the replay past a stop that lies inside a call? Then it is to stop before the call. */
static bool retry(mr_plan *plan, const mr_replay_result *result)
{
    if (result->outcome != MR_REPLAY_DIVERGED || !result->passed)
        return false;
    for (unsigned i = 0; i < plan->stop_count; i++) {
        mr_plan_stop *stop = &plan->stops[i];
        uint32_t thread = mr_plan_thread(plan->trace, plan->trace->thread[stop->event]);
        if ((int64_t)thread != result->whose ||
            (stop->any_place && stop->position == result->before))
            continue;
        stop->any_place = true;
        stop->position = result->before;
        return true;
    }
    return false;
}

/* Runs until the goal is reached, or something else than a stop inside a call is in the way. */
static mr_status reach(mr_replaying *self, mr_plan *plan, mr_plan_then then, unsigned *attempts,
                       mr_run_end *end, mr_replay_result *result, mr_error *error)
{
    mr_status status;
    unsigned count = 0;
    do {
        mr_run_end_free(end);
        mr_replay_result_free(result);
        status = mr_replaying_schedule(self, plan, then, NULL, error);
        if (!status)
            status = run_once(self, then == MR_PLAN_SECOND ? SECOND : FIRST, then != MR_PLAN_END,
                              end, result, error);
    } while (!status && !self->stopped && ++count < ATTEMPTS && retry(plan, result));
    *attempts += count;
    return status;
}

/* The run as it was recorded, for all races. Two runs say whether what it writes is always the same. */
static mr_status run_recorded(mr_replaying *self, mr_error *error)
{
    mr_replay_result unused = {.whose = -1};
    mr_run_end again = {.is_there = false};
    if (self->recorded.is_there)
        return MR_OK;
    self->finding[0] = '\0';
    mr_status status = run_once(self, RECORDED, true, &self->recorded, &unused, error);
    if (!status && !self->stopped)
        status = run_once(self, AGAIN, false, &again, &unused, error);
    if (self->stopped) /* half of it would be wrong */
        mr_run_end_free(&self->recorded);
    if (!status && !mr_changes_note_varying(&self->recorded.changes, &again.changes))
        status = mr_error_memory(error, "comparing files");
    self->recorded.output_varies = !status && !mr_run_end_writes_same(&self->recorded, &again);
    mr_run_end_free(&again);
    return status;
}

mr_status mr_replaying_find(mr_replaying *self, const mr_witness *witness, uint32_t stop_at,
                            mr_replayed *replayed, mr_error *error)
{
    mr_plan *plan = &replayed->plan;
    *plan = (mr_plan){
        .trace = self->trace, .positions = &self->positions, .run = &self->run, .witness = witness};
    replayed->effect = MR_EFFECT_UNKNOWN;
    mr_status status = mr_plan_init(plan, stop_at, error);
    mr_plan_then then = stop_at == UINT32_MAX ? MR_PLAN_FIRST : MR_PLAN_END;
    return status ? status
                  : reach(self, plan, then, &replayed->attempts, &replayed->first, &replayed->goal,
                          error);
}

mr_status mr_replaying_race(mr_replaying *self, const mr_witness *witness, uint32_t stop_at,
                            mr_replayed *replayed, mr_error *error)
{
    unsigned ignored = 0;
    mr_plan *plan = &replayed->plan;
    mr_status status = mr_replaying_find(self, witness, stop_at, replayed, error);
    if (status || self->stopped || replayed->goal.outcome != MR_REPLAY_GOAL ||
        stop_at != UINT32_MAX)
        return status;
    bool has_orders = plan->stop_count > 1;
    if (has_orders)
        status =
            reach(self, plan, MR_PLAN_SECOND, &ignored, &replayed->second, &replayed->other, error);
    if (!status && !self->stopped)
        status = run_recorded(self, error);
    if (!status && !self->stopped && (!has_orders || replayed->other.outcome == MR_REPLAY_GOAL))
        replayed->effect =
            mr_judge(&self->recorded, &replayed->first,
                     has_orders ? &replayed->second : &replayed->first, replayed->evidence);
    return status;
}
