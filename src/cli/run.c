/* run: records a program and predicts, once or with several seeds. With --quick it looks at the
 * recorded order alone. */
/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _XOPEN_SOURCE 700 /* mkdtemp */

#include "base/seconds.h"
#include "child_traces.h"
#include "cli.h"
#include "confirm.h"
#include "engine/predict.h"
#include "leftovers.h"
#include "listing/listing.h"
#include "output.h"
#include "predicting.h"
#include "recording.h"
#include "sweep/sweep.h"
#include "trace/observed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4300 };

typedef struct runs {
    mr_cli *cli;
    mr_recording recording;
    uint64_t count;
    char folder[4096]; /* of the traces */
    bool temporary;
    bool quick;
    bool several; /* there may be several recordings: of seeds, or of children */
    const char
        *child;     /* the recording is that of this child (child_traces.h); NULL: the program's */
    bool confirms;  /* each race is replayed … */
    bool sandbox;   /* … in a sandbox */
    bool stopped;   /* a signal has ended the replays, or there are runs that it ruled out */
    bool cut;       /* memory.limit_mb has ended an analysis */
    mr_names known; /* the static races so far */
    size_t race_count;  /* new races of all runs */
    size_t known_count; /* races of the last recording that an earlier one had */
    mr_runs_report report;
    int program_status;
    bool ended_badly; /* did the program in any run? */
    bool fails;       /* races or errors in a run, by fail_on */
    bool any_unknown;
} runs;

/* Adds a pair of places to the known ones; `*is_new` says that it was not there. False: no memory.
 */
static bool note_places(runs *self, const mr_trace *trace, uint32_t first, uint32_t second,
                        bool *is_new)
{
    const char *one = trace->locations.items[first].text;
    const char *two = trace->locations.items[second].text;
    const char *low = strcmp(one, two) < 0 ? one : two, *high = low == one ? two : one;
    uint32_t count = self->known.count, number;
    size_t size = strlen(low) + strlen(high) + 2;
    char *key = mr_malloc(size, 0);
    if (!key)
        return false;
    snprintf(key, size, "%s\n%s", low, high);
    bool added = mr_names_add(&self->known, key, (uint32_t)(size - 1), &number);
    *is_new = added && number == count;
    free(key);
    return added;
}

static bool note_race(runs *self, const mr_trace *trace, const mr_race *race, bool *is_new)
{
    return note_places(self, trace, trace->location[race->witness.first],
                       trace->location[race->witness.second], is_new);
}

/* Drops the races that an earlier run has reported. */
static mr_status keep_new(runs *self, const mr_trace *trace, mr_result *result, mr_error *error)
{
    size_t kept = 0;
    mr_status status = MR_OK;
    for (size_t i = 0; i < result->race_count; i++) {
        /* With candidates.report: event a run has many races of one pair. */
        bool is_new = true;
        if (self->several && !note_race(self, trace, &result->races[i], &is_new))
            status = mr_error_memory(error, "comparing the races");
        if (is_new)
            result->races[kept++] = result->races[i];
        else
            mr_witness_free(&result->races[i].witness);
    }
    self->known_count = result->race_count - kept;
    result->race_count = kept;
    self->race_count += kept;
    return status;
}

/* The same for the races of an order. */
static mr_status keep_new_of_order(runs *self, const mr_trace *trace, mr_order_result *result,
                                   mr_error *error)
{
    mr_race_list *list = &result->list;
    size_t kept = 0;
    mr_status status = MR_OK;
    for (size_t i = 0; i < list->race_count; i++) {
        const mr_race_example *pair = &list->examples[list->races[i].first_example];
        bool is_new = true;
        if (self->several && !note_places(self, trace, trace->location[pair->first.event],
                                          trace->location[pair->second.event], &is_new))
            status = mr_error_memory(error, "comparing the races");
        if (is_new) {
            list->races[kept] = list->races[i];
            result->races[kept++] = result->races[i];
        } else {
            result->counts[result->races[i].standing]--;
            mr_witness_free(&result->races[i].witness);
        }
    }
    self->known_count = list->race_count - kept;
    list->race_count = kept;
    self->race_count += kept;
    return status;
}

/* A replay predicts from the trace once more: is the file kept, and has a race the same number then? */
static bool can_replay(const runs *self, const mr_trace *trace)
{
    return trace->replayable && !self->temporary && self->known_count == 0;
}

static mr_status print(runs *self, const mr_trace *trace, const mr_result *result, mr_error *error)
{
    const mr_one_run run = {self->recording.seed, self->child, self->program_status,
                            self->known_count};
    return mr_runs_report_write(&self->report, &run, trace, result, error);
}

/* A temporary trace gets the name of the program, for reports. */
static mr_status name_trace(const runs *self, mr_trace *trace, mr_error *error)
{
    char name[512];
    if (!self->temporary)
        return MR_OK;
    snprintf(name, sizeof name, "%.400s (seed %" PRIu64 "%s%.80s)", self->cli->operands[0],
             self->recording.seed, self->child ? ", child " : "", self->child ? self->child : "");
    char *copy = mr_strndup(name, strlen(name));
    if (!copy)
        return mr_error_memory(error, "naming the trace");
    free(trace->path);
    trace->path = copy;
    return MR_OK;
}

/* How the child ended, as in a shell: its trace says it. */
static int status_of(const mr_trace *trace)
{
    const mr_ending *ending = &trace->ending;
    return ending->program == MR_PROGRAM_SIGNALLED ? 128 + ending->number : ending->number;
}

/* Reads the trace and sees how it ended. */
static mr_status read_trace(runs *self, const char *path, mr_trace **trace, double *read_seconds,
                            mr_error *error)
{
    mr_cli_progress progress;
    double start_seconds = mr_seconds();
    mr_cli_progress_start(&progress, self->cli->config);
    mr_status status = mr_cli_read_trace(path, self->cli->config, &progress, trace, error);
    if (status)
        return status;
    *read_seconds = mr_seconds() - start_seconds;
    status = name_trace(self, *trace, error);
    if (!status && !self->child)
        status = mr_cli_check_trace(*trace, error);
    self->ended_badly = self->ended_badly || mr_ending_is_bad(&(*trace)->ending);
    if (self->child)
        self->program_status = status_of(*trace);
    return status;
}

static mr_status predict(runs *self, const char *path, mr_error *error)
{
    mr_trace *trace = NULL;
    mr_result result = {0};
    mr_error print_error;
    mr_cli_progress progress;
    const mr_predict_run run = {.progress = &progress.progress, .debug = &self->cli->debug};
    double read_seconds = 0;
    mr_status status = read_trace(self, path, &trace, &read_seconds, error);
    if (!trace || (!status && !trace->event_count)) {
        mr_trace_free(trace);
        return status;
    }
    mr_cli_progress_start(&progress, self->cli->config);
    if (!status)
        status = mr_predict(trace, self->cli->config, &run, &result, error);
    mr_cli_progress_end(&progress);
    if (!status && self->confirms && !self->child) /* nobody can run the child alone */
        status = mr_confirm(self->cli, path, trace, &result, self->sandbox, &self->stopped, error);
    if (self->stopped)
        fputs("maxrace: stopped by a signal before all was replayed\n", stderr);
    result.run.read_seconds = read_seconds;
    result.run.total_seconds += read_seconds;
    if (!status)
        status = keep_new(self, trace, &result, error);
    trace->replayable = can_replay(self, trace);
    int exit_status = 0;
    if (!status)
        status = mr_predicting_exit(trace, self->cli->config, &result, &exit_status, error);
    self->fails = self->fails || exit_status == MR_EXIT_RACES;
    self->any_unknown = self->any_unknown || exit_status == MR_EXIT_UNKNOWN;
    self->cut = self->cut || exit_status == MR_EXIT_INCOMPLETE;
    mr_status printed = print(self, trace, &result, status ? &print_error : error);
    if (status && printed)
        mr_cli_complain(&print_error);
    mr_result_free(&result);
    mr_trace_free(trace);
    return status ? status : printed;
}

/* Drops the findings that are suppressed, and says whether the others make the command fail. */
static mr_status keep_unsuppressed(runs *self, const mr_trace *trace, mr_order_result *result,
                                   mr_error *error)
{
    mr_race_list *list = &result->list;
    mr_listing listing;
    mr_result pairs = {.race_count = list->race_count,
                       .races = mr_calloc(list->race_count + 1, sizeof *pairs.races)};
    if (!pairs.races)
        return mr_error_memory(error, "listing the findings");
    for (size_t i = 0; i < list->race_count; i++) {
        const mr_race_example *pair = &list->examples[list->races[i].first_example];
        pairs.races[i].witness.first = pair->first.event;
        pairs.races[i].witness.second = pair->second.event;
    }
    mr_status status = mr_listing_make(&listing, trace, self->cli->config, &pairs, error);
    size_t kept = 0;
    for (size_t i = 0; i < list->race_count && status == MR_OK; i++) {
        if (listing.of_race[i]) {
            list->races[kept] = list->races[i];
            result->races[kept++] = result->races[i];
        } else {
            result->counts[result->races[i].standing]--;
            mr_witness_free(&result->races[i].witness);
        }
    }
    size_t kept_observed = 0;
    for (size_t i = 0; i < result->observed.count && status == MR_OK; i++)
        if (listing.of_observed[i])
            result->observed.items[kept_observed++] = result->observed.items[i];
    if (status == MR_OK) {
        list->race_count = kept;
        result->observed.count = kept_observed;
        self->fails = self->fails || mr_listing_fail(&listing, self->cli->config);
        if (listing.suppressed_count > 0)
            fprintf(stderr, "maxrace: %zu suppressed\n", listing.suppressed_count);
    }
    mr_listing_free(&listing);
    free(pairs.races);
    return status;
}

/* The races of the recorded order: those of shb, each with a witness. This is the place for other
 * detectors that look at the recorded order alone. */
static mr_status detect(runs *self, const char *path, mr_error *error)
{
    mr_trace *trace = NULL;
    mr_sweep sweep = {0};
    mr_cli_progress progress;
    double read_seconds = 0;
    mr_status status = read_trace(self, path, &trace, &read_seconds, error);
    if (!status && !trace->event_count) {
        mr_trace_free(trace);
        return status;
    }
    if (!status)
        status = mr_config_set(self->cli->config, "relation", mr_relation_name(MR_RELATION_SHB),
                               NULL, 0, error);
    if (!status) {
        mr_cli_progress_start(&progress, self->cli->config);
        status =
            mr_sweep_run_trace(&sweep, trace, self->cli->config, &progress.progress, NULL, error);
        mr_cli_progress_end(&progress);
    }
    sweep.result.recorded_only = true;
    self->cut = self->cut || sweep.result.halted != MR_HALT_NONE;
    sweep.result.stats.read_seconds += read_seconds;
    sweep.result.stats.total_seconds += read_seconds;
    if (!status)
        status = keep_unsuppressed(self, trace, &sweep.result, error);
    if (!status)
        status = keep_new_of_order(self, trace, &sweep.result, error);
    if (!status) {
        const mr_one_run run = {self->recording.seed, self->child, self->program_status,
                                self->known_count};
        status = mr_runs_report_write_order(&self->report, &run, trace, &sweep.result, error);
    }
    mr_sweep_free(&sweep);
    mr_trace_free(trace);
    return status;
}

/* "seed-1.mrt", of a child "seed-1.2.mrt". */
static void path_of(const runs *self, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s/seed-%" PRIu64 "%s%.100s.mrt", self->folder,
             self->recording.seed, self->child ? "." : "", self->child ? self->child : "");
}

static mr_status record(runs *self, const char *path, mr_error *error)
{
    mr_output output;
    const char *report = mr_config_text(self->cli->config, "output");
    bool to_errors = report[0] == '\0' || strcmp(report, "-") == 0;
    char name[64];
    mr_status status = mr_output_open(&output, path, error), closed;
    if (status)
        return status;
    snprintf(name, sizeof name, "seed %" PRIu64, self->recording.seed);
    status = mr_recording_run(self->cli, &self->recording, path, name, to_errors, output.stream,
                              &self->program_status, error);
    closed = mr_output_close(&output, status == MR_OK, status ? NULL : error);
    return status ? status : closed;
}

/* Looks for errors in the trace of one recording. */
static mr_status look(runs *self, const char *path, mr_error *error)
{
    int leftover = self->temporary ? mr_leftover_add(path, MR_LEFTOVER_REMOVE) : -1;
    mr_status status = self->quick ? detect(self, path, error) : predict(self, path, error);
    if (self->temporary)
        unlink(path);
    mr_leftover_forget(leftover);
    return status;
}

/* The recording of a child is one more recording. */
static mr_status take_child(void *context, const char *log, const char *number, mr_error *error)
{
    runs *self = context;
    mr_output output;
    char path[PATH_BYTES], name[128];
    self->child = number;
    path_of(self, path);
    snprintf(name, sizeof name, "seed %" PRIu64 ", child %.80s", self->recording.seed, number);
    mr_status status = mr_output_open(&output, path, error), closed;
    if (!status) {
        status = mr_recording_convert(self->cli, log, path, name, output.stream, error);
        closed = mr_output_close(&output, status == MR_OK, status ? NULL : error);
        status = status ? status : closed;
    }
    if (!status)
        status = look(self, path, error);
    self->child = NULL;
    return status;
}

static mr_status run_once(runs *self, mr_error *error)
{
    char path[PATH_BYTES];
    mr_launched logs = {.leftover = -1};
    path_of(self, path);
    self->recording.logs = self->recording.follows_forks ? &logs : NULL;
    mr_status status = record(self, path, error);
    if (!status)
        status = look(self, path, error);
    if (!status && self->recording.follows_forks)
        status = mr_child_traces_visit(logs.log, take_child, self, error);
    mr_launch_clean(&logs);
    return status;
}

static mr_status run_all(FILE *stream, const void *context, mr_error *error)
{
    runs *self = (runs *)context;
    mr_status status = MR_OK;
    mr_runs_report_begin(&self->report, stream, self->cli->config, self->count,
                         self->recording.follows_forks);
    bool halts = mr_config_bool(self->cli->config, "halt_on_finding");
    for (uint64_t number = 1;
         number <= self->count && !status && !self->stopped && !(halts && self->fails); number++) {
        status = run_once(self, error);
        self->recording.seed++;
        self->stopped = self->stopped || (mr_launch_told_to_end() && number < self->count);
    }
    if (!status)
        mr_runs_report_end(&self->report, self->race_count);
    return status;
}

/* Makes the folder of the traces: that of --traces, or a temporary one. */
static mr_status make_folder(runs *self, const char *asked, mr_error *error)
{
    const char *temporary = getenv("TMPDIR");
    if (!asked) {
        self->temporary = true;
        snprintf(self->folder, sizeof self->folder, "%.4000s/maxrace-run-XXXXXX",
                 temporary && *temporary ? temporary : "/tmp");
        if (mkdtemp(self->folder))
            return MR_OK;
    } else {
        snprintf(self->folder, sizeof self->folder, "%.4000s", asked);
        struct stat info;
        if (mkdir(self->folder, 0777) == 0 ||
            (errno == EEXIST && stat(self->folder, &info) == 0 && S_ISDIR(info.st_mode)))
            return MR_OK;
    }
    return mr_error_set(error, MR_ERR_IO, self->folder, 0, "cannot make the folder: %s",
                        strerror(errno));
}

mr_status mr_cli_run(mr_cli *cli, int *exit_status, mr_error *error)
{
    enum { RUNS = MR_FLAG_COMMON_COUNT, TRACES, CONFIRM, FOLLOW_FORKS, SANDBOX };
    runs self = {.cli = cli, .quick = cli->switch_on};
    const char *path = mr_config_text(cli->config, "output");
    if (self.quick &&
        !mr_format_has((mr_format)mr_config_choice(cli->config, "format"), MR_SUBJECT_ORDER))
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "--quick reports as 'order' does: text or json");
    mr_status status = mr_recording_flags(cli, &self.recording, error);
    self.confirms = cli->own[CONFIRM] != NULL;
    self.sandbox = cli->own[SANDBOX] != NULL;
    self.recording.follows_forks = cli->own[FOLLOW_FORKS] != NULL;
    if (!status && self.confirms && self.quick)
        status = mr_error_set(error, MR_ERR_USAGE, NULL, 0, "--confirm is not for --quick");
    if (!status && self.sandbox && !self.confirms)
        status = mr_error_set(
            error, MR_ERR_USAGE, NULL, 0,
            "--sandbox is for the replays of --confirm; the recorded run writes its files");
    if (!status)
        status = mr_cli_number(cli, RUNS, 1, 1, &self.count, error);
    self.several = self.count > 1 || self.recording.follows_forks;
    if (!status)
        status = mr_output_probe(path, error);
    if (!status)
        status = mr_listing_check(cli->config, error);
    if (!status)
        status = make_folder(&self, cli->own[TRACES], error);
    self.recording.leaves_ordered = self.quick && self.temporary;
    if (status)
        return status;
    int leftover = self.temporary ? mr_leftover_add(self.folder, MR_LEFTOVER_REMOVE_FOLDER) : -1;
    mr_config_resolve(cli->config);
    mr_names_init(&self.known);
    status = mr_output_write(path, run_all, &self, error);
    bool none = (mr_fail_on)mr_config_choice(cli->config, "fail_on") == MR_FAIL_ON_NONE;
    *exit_status = self.stopped       ? MR_EXIT_INCOMPLETE
                   : none             ? 0
                   : self.fails       ? cli->finding_status
                   : self.cut         ? MR_EXIT_INCOMPLETE
                   : self.ended_badly ? MR_EXIT_BAD_END
                   : self.any_unknown ? MR_EXIT_UNKNOWN
                                      : 0;
    mr_names_free(&self.known);
    if (self.temporary)
        rmdir(self.folder);
    mr_leftover_forget(leftover);
    return status;
}
