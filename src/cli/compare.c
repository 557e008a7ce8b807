/* compare: all relations and models on one trace after the other. */
#include "base/seconds.h"
#include "cli.h"
#include "compare/containment.h"
#include "interrupt.h"
#include "output.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct comparer {
    const mr_config *config;
    mr_comparison_report report;
    mr_halt halt;
    bool any_race;
    bool cut;           /* was any trace cut off? */
    bool ended_badly;   /* did the program of any trace? */
    bool output_failed; /* end the command */
    mr_status worst;    /* of the traces so far: the status with the greatest exit status */
    mr_error worst_error;
} comparer;

/* Keeps the worst error for the end and prints the others now. */
static void note_failure(comparer *self, const mr_error *error)
{
    if (self->worst == MR_OK) {
        self->worst = error->status;
        self->worst_error = *error;
        return;
    }
    bool worse = mr_status_exit(error->status) > mr_status_exit(self->worst);
    mr_cli_complain(worse ? &self->worst_error : error);
    if (worse) {
        self->worst = error->status;
        self->worst_error = *error;
    }
}

static void note_breaches(comparer *self, const mr_comparison *comparison)
{
    for (size_t i = 0; i < comparison->breach_count; i++) {
        char line[512];
        mr_error error;
        mr_breach_line(comparison, &comparison->breaches[i], line, sizeof line);
        mr_error_set(&error, MR_ERR_INTERNAL, comparison->trace->path, 0,
                     "%s; this is a bug of maxrace, please report it with the trace", line);
        note_failure(self, &error);
    }
}

/* Has any finder come to its end? */
static bool has_finding(const mr_comparison *comparison)
{
    for (int finder = 0; finder < MR_FINDER_COUNT; finder++)
        if (comparison->findings[finder].done)
            return true;
    return false;
}

/* The formats without a place for how the recording ended: a line on standard error tells it. */
static void tell_ending(const comparer *self, const mr_trace *trace)
{
    mr_format format = (mr_format)mr_config_choice(self->config, "format");
    char text[320];
    mr_error error;
    mr_ending_sentence(&trace->ending, text, sizeof text);
    if ((format != MR_FORMAT_CSV && format != MR_FORMAT_MARKDOWN) || text[0] == '\0')
        return;
    mr_error_set(&error, MR_OK, trace->path, 0, "%s", text);
    mr_cli_complain(&error);
}

/* One line on what was not done, in all formats. */
static void tell_cut(comparer *self, const mr_comparison *comparison, unsigned finders)
{
    char text[512];
    size_t used = 0;
    mr_halt_reason reason = mr_halt_asked(&self->halt);
    for (int finder = 0; finder < MR_FINDER_COUNT; finder++) {
        const mr_finder_figures *figures = &comparison->findings[finder];
        bool missing = (finders >> finder & 1) && !figures->done;
        if (figures->ended_by != MR_HALT_NONE)
            reason = figures->ended_by;
        if (!missing && figures->ended_by == MR_HALT_NONE)
            continue;
        int length = snprintf(text + used, sizeof text - used, "%s%s%s", used > 0 ? ", " : "",
                              mr_finder_name(finder), missing ? " (not run)" : "");
        used += length > 0 ? (size_t)length : 0;
    }
    if (used == 0 || reason == MR_HALT_NONE)
        return;
    mr_error error;
    self->cut = true;
    mr_error_set(&error, MR_OK, comparison->trace->path, 0,
                 "not complete, ended by %s; the figures are too small for %s",
                 mr_halt_reason_name(reason), text);
    mr_cli_complain(&error);
}

static void compare_trace(comparer *self, const char *path, unsigned finders)
{
    mr_trace *trace = NULL;
    mr_error error;
    mr_cli_progress progress;
    double begin = mr_seconds();
    mr_cli_progress_start(&progress, self->config);
    mr_status status = mr_cli_read_trace(path, self->config, &progress, &trace, &error);
    if (status == MR_OK)
        status = mr_cli_check_trace(trace, &error);
    if (status != MR_OK) {
        mr_cli_progress_end(&progress);
        note_failure(self, &error);
        mr_trace_free(trace);
        return;
    }
    tell_ending(self, trace);
    mr_comparison comparison;
    double read_seconds = mr_seconds() - begin;
    mr_interrupt_start(&self->halt);
    status = mr_compare(trace, self->config, finders, &progress.progress, &self->halt, &comparison,
                        &error);
    mr_interrupt_end();
    mr_cli_progress_end(&progress);
    comparison.read_seconds = read_seconds;
    if (status != MR_OK)
        note_failure(self, &error);
    if (has_finding(&comparison) &&
        mr_comparison_write(&self->report, &comparison, &error) != MR_OK) {
        note_failure(self, &error);
        self->output_failed = true;
    }
    note_breaches(self, &comparison);
    tell_cut(self, &comparison, finders);
    if (mr_halt_asked(&self->halt) == MR_HALT_MEMORY) /* the next trace may be smaller */
        self->halt.reason = MR_HALT_NONE;
    self->any_race = self->any_race || comparison.race_count > 0 || comparison.beside_count > 0;
    self->ended_badly = self->ended_badly || mr_ending_is_bad(&trace->ending);
    mr_comparison_free(&comparison);
    mr_trace_free(trace);
}

mr_status mr_cli_compare(mr_cli *cli, int *exit_status, mr_error *error)
{
    comparer self = {.config = cli->config};
    mr_output output;
    unsigned finders;
    mr_status status = mr_finder_parse(mr_config_text(cli->config, "relations"), &finders, error);
    mr_config_resolve(cli->config);
    if (status == MR_OK)
        status = mr_output_open(&output, mr_config_text(cli->config, "output"), error);
    if (status != MR_OK)
        return status;
    mr_comparison_begin(&self.report, output.stream,
                        (mr_format)mr_config_choice(cli->config, "format"), finders,
                        mr_config_bool(cli->config, "report.run"));
    int64_t limit = mr_config_int(cli->config, "time_limit");
    self.halt.deadline_seconds = limit ? mr_seconds() + (double)limit : 0;
    bool halted = false; /* the traces after that one are not looked at */
    for (size_t i = 0; i < cli->operand_count && !self.output_failed && !halted; i++) {
        compare_trace(&self, cli->operands[i], finders);
        halted = mr_halt_asked(&self.halt) != MR_HALT_NONE;
        self.cut = self.cut || (halted && i + 1 < cli->operand_count);
    }
    mr_comparison_end(&self.report);
    mr_error close_error;
    if (mr_output_close(&output, !self.output_failed, &close_error) != MR_OK && !self.output_failed)
        note_failure(&self, &close_error);
    *exit_status = self.cut           ? MR_EXIT_INCOMPLETE
                   : self.any_race    ? MR_EXIT_RACES
                   : self.ended_badly ? MR_EXIT_BAD_END
                                      : 0;
    if (self.worst != MR_OK)
        *error = self.worst_error;
    return self.worst;
}
