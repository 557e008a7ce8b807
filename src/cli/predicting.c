#include "predicting.h"

#include "base/seconds.h"
#include "engine/identity.h"
#include "engine/part.h"
#include "engine/predict.h"
#include "formats/read.h"
#include "interrupt.h"
#include "listing/listing.h"
#include "output.h"
#include "report/formats.h"
#include "report/predict_report.h"
#include "witness_dir.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- the report ---- */

typedef struct report {
    const mr_trace *trace;
    const mr_config *config;
    const mr_result *result;
} report;

static mr_status print_report(FILE *stream, const void *context, mr_error *error)
{
    const report *self = context;
    return mr_format_chosen(self->config)
        ->predict(stream, self->trace, self->config, self->result, error);
}

static mr_status write_report(const mr_trace *trace, const mr_config *config,
                              const mr_result *result, mr_error *error)
{
    report self = {trace, config, result};
    return mr_output_write(mr_config_text(config, "output"), print_report, &self, error);
}

/* Report and witness files; a failure of one does not keep the other from being written. */
static mr_status write_all(const mr_trace *trace, const mr_config *config, const mr_result *result,
                           mr_error *error)
{
    const char *dir = mr_config_text(config, "witness.dir");
    mr_error dir_error;
    mr_status status = write_report(trace, config, result, error);
    if (dir[0] == '\0')
        return status;
    mr_status dir_status = mr_witness_dir_write(dir, trace, result, &dir_error);
    if (dir_status != MR_OK && status != MR_OK)
        mr_cli_complain(&dir_error);
    if (dir_status == MR_OK || status != MR_OK)
        return status;
    *error = dir_error;
    return dir_status;
}

mr_status mr_predicting_exit(const mr_trace *trace, const mr_config *config,
                             const mr_result *result, int *exit_status, mr_error *error)
{
    mr_listing findings;
    mr_fail_on fail_on = (mr_fail_on)mr_config_choice(config, "fail_on");
    mr_status status = mr_listing_count(&findings, trace, config, result, error);
    bool unknown =
        fail_on == MR_FAIL_ON_UNKNOWN && result->unknown_count + result->finding_unknown_count > 0;
    bool answered = fail_on != MR_FAIL_ON_NONE && result->stats.findings[MR_WITNESS_SEES].found > 0;
    bool bad_end = mr_ending_is_bad(&trace->ending) && findings.count == 0;
    *exit_status = 0;
    if (result->stats.incomplete)
        *exit_status = MR_EXIT_INCOMPLETE;
    else if (answered || mr_listing_fail(&findings, config))
        *exit_status = MR_EXIT_RACES;
    else if (bad_end && fail_on != MR_FAIL_ON_NONE)
        *exit_status = MR_EXIT_BAD_END;
    else if (unknown)
        *exit_status = MR_EXIT_UNKNOWN;
    mr_listing_free(&findings);
    return status;
}

/* ---- start and end ---- */

mr_status mr_predicting_start(mr_predicting *self, mr_error *error)
{
    mr_config *config = self->cli->config;
    const char *checkpoint = mr_config_text(config, "checkpoint");
    self->start_seconds = mr_seconds();
    mr_cli_progress_start(&self->progress, config);
    mr_status status = mr_ranks_start(&self->ranks, self->cli, self->mpi, error);
    if (status != MR_OK || !self->ranks.leads)
        return status;
    if (checkpoint[0] == '\0' && mr_config_bool(config, "resume"))
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "--resume needs --checkpoint FILE, the file to go on from");
    status = mr_cli_probe(config, error);
    if (status == MR_OK)
        status = mr_listing_check(config, error);
    if (status == MR_OK && checkpoint[0] != '\0' && !mr_config_bool(config, "resume"))
        status = mr_checkpoint_probe(checkpoint, error);
    return status;
}

static void print_note(void *context, const char *line)
{
    (void)context;
    fprintf(stderr, "%s\n", line);
}

/* Outcomes may be of parts that other ranks have read. */
static bool ranks_read_parts(const mr_predicting *self)
{
    mr_predict_shard share;
    return self->ranks.active &&
           mr_predict_part_of_rank(&share, self->cli->config, 1, self->ranks.cluster.size);
}

/* What this process has read of the trace; NULL: it cannot. */
static const mr_trace *trace_of(const mr_predicting *self)
{
    return self->part ? mr_mrt_part_trace(self->part) : self->trace;
}

mr_status mr_predicting_open(mr_predicting *self, const char *path, mr_error *error)
{
    const mr_config *config = self->cli->config;
    const char *checkpoint = mr_config_text(config, "checkpoint");
    int64_t limit = mr_config_int(config, "time_limit");
    mr_checkpoint_request request = {.file = checkpoint[0] != '\0' ? checkpoint : NULL,
                                     .resume = self->has_begun || mr_config_bool(config, "resume"),
                                     .shard = self->shard,
                                     .shards = self->shards,
                                     .parts = self->parts,
                                     .part_count = self->part_count,
                                     .note = print_note};
    mr_config_resolve(self->cli->config);
    if (!self->ranks.leads)
        return mr_predicting_read_on_rank(self, path, error);
    mr_read_options options = mr_cli_read_options(config, &self->progress);
    if (limit) /* a part may have been read before */
        options.deadline_seconds = self->start_seconds + (double)limit;
    options.check_states = request.part_count > 0 || request.resume || ranks_read_parts(self);
    mr_status status =
        mr_cli_read_trace_as(path, config, &options, &self->progress, &self->trace, error);
    self->read_seconds = mr_seconds() - self->start_seconds;
    if (status == MR_OK)
        status = mr_cli_check_trace(self->trace, error);
    if (status == MR_OK && (request.file || request.part_count))
        status =
            mr_predict_open_checkpoint(&request, self->trace, config, &self->checkpoint, error);
    return status;
}

void mr_predicting_print_shard(const mr_predicting *self, const mr_result *result)
{
    const mr_run_figures *run = &result->run;
    uint64_t earlier =
        run->units_saved > self->units_of_part ? run->units_saved - self->units_of_part : 0;
    uint64_t saved = run->units_saved + run->units_decided;
    printf("shard %" PRIu32 "/%" PRIu32 ": %" PRIu64 " of %" PRIu64 " units are in %s", self->shard,
           self->shards, saved, saved + result->stats.windows_missing,
           mr_config_text(self->cli->config, "checkpoint"));
    if (earlier > 0)
        printf(", %" PRIu64 " of them by earlier runs", earlier);
    fputs(result->stats.incomplete ? "; go on with --resume\n" : "\n", stdout);
}

static mr_status report_result(mr_predicting *self, mr_result *result, mr_status so_far,
                               mr_error *error)
{
    result->run.read_seconds = self->read_seconds;
    result->run.total_seconds += self->read_seconds;
    if (!self->shards)
        return write_all(self->trace, self->cli->config, result, error);
    if (so_far == MR_OK)
        mr_predicting_print_shard(self, result);
    return MR_OK;
}

/* Keeps the first error and prints the second one. */
static mr_status both(mr_status first, mr_error *error, mr_status second,
                      const mr_error *second_error)
{
    if (second == MR_OK)
        return first;
    if (first != MR_OK) {
        mr_cli_complain(second_error);
        return first;
    }
    *error = *second_error;
    return second;
}

/* Each race that is shown with a long witness takes O(events of the trace). */
enum { SHOWN_FEW = 64 };

/* Does what is written have the witnesses of a few races only? */
static bool shows_few(const mr_config *config)
{
    int64_t shown = mr_config_int(config, "report.shown"); /* 0: all */
    return mr_format_chosen(config)->predict == mr_predict_report_text && shown > 0 &&
           shown <= SHOWN_FEW && mr_config_text(config, "witness.dir")[0] == '\0';
}

static mr_status predict(mr_predicting *self, int *exit_status, mr_error *error)
{
    int64_t limit = mr_config_int(self->cli->config, "time_limit");
    mr_ranks *ranks = &self->ranks;
    mr_halt *halt = &ranks->halt;
    const mr_predict_run run = {.progress = ranks->leads ? &self->progress.progress : NULL,
                                .debug = &self->cli->debug,
                                .halt = halt,
                                .team = ranks->active ? &ranks->team : NULL,
                                .checkpoint = self->checkpoint,
                                .shard = self->shard,
                                .shards = self->shards,
                                .shows_few = shows_few(self->cli->config)};
    mr_result result = {0};
    mr_error next_error;
    if (limit && ranks->leads)
        halt->deadline_seconds = self->start_seconds + (double)limit;
    if (!ranks->active)
        mr_interrupt_start(halt);
    mr_status status = mr_predict(trace_of(self), self->cli->config, &run, &result, error);
    if (!ranks->active)
        mr_interrupt_end();
    mr_ranks_part(ranks, status, error, &result.run);
    mr_cli_progress_end(&self->progress);
    mr_status closed = mr_checkpoint_close(self->checkpoint, &next_error);
    self->checkpoint = NULL;
    status = both(status, error, closed, &next_error);
    /* After MR_ERR_CONFIG nothing was asked, and there is nothing to report. */
    if (status != MR_ERR_CONFIG && ranks->leads) {
        mr_status written = report_result(self, &result, status, &next_error);
        status = both(status, error, written, &next_error);
        written =
            mr_predicting_exit(self->trace, self->cli->config, &result, exit_status, &next_error);
        status = both(status, error, written, &next_error);
    }
    mr_result_free(&result);
    return status;
}

mr_status mr_predicting_finish(mr_predicting *self, mr_status so_far, int *exit_status,
                               mr_error *error)
{
    mr_error ignored;
    bool over;
    mr_status status =
        mr_ranks_meet(&self->ranks, trace_of(self), self->cli->config, so_far, &over, error);
    if (!over)
        status = predict(self, exit_status, error);
    mr_cli_progress_end(&self->progress);
    mr_checkpoint_close(self->checkpoint, &ignored);
    mr_trace_free(self->trace);
    mr_mrt_part_close(self->part);
    return mr_ranks_end(&self->ranks, status, exit_status, error);
}
