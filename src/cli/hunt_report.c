#include "hunt_report.h"

#include "hunt/program/outcome.h"
#include "output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What the journal says, as it is read. */
typedef struct journal {
    const mr_cli *cli;
    mr_hunt_figures figures;
    double *points[4]; /* ended, at, behaviours, findings; owned */
    size_t capacity;
    mr_finding_line *lines; /* owned */
    mr_hunted *hunted;      /* owned; the same for the report */
    size_t line_capacity;
    double behaviours;
    bool finds; /* something other than another output (MR_RUN_OUTPUT) */
    const mr_hunt_state *state;
} journal;

static bool read_run(void *context, const mr_hunt_line *run)
{
    journal *self = context;
    static const char *const fails[] = {"exit",      "oracle",    "livelock", "deadlock",
                                        "sanitizer", "assertion", "abort",    "crash"};
    mr_hunt_figures *figures = &self->figures;
    size_t at = figures->point_count;
    figures->runs++;
    figures->seconds = run->at;
    self->behaviours += run->behaviour != UINT32_MAX;
    for (size_t i = 0; i < sizeof fails / sizeof *fails && !figures->first_failure; i++)
        if (strcmp(run->outcome, fails[i]) == 0)
            figures->first_failure = run->number;
    const double values[] = {(double)(at + 1), run->at, self->behaviours,
                             (double)figures->hunted_count};
    size_t capacity = self->capacity;
    for (size_t i = 0; i < 4; i++) {
        void *points = self->points[i];
        capacity = self->capacity;
        if (!mr_grow(&points, &capacity, at + 1, sizeof *self->points[i]))
            return false;
        self->points[i] = points;
        self->points[i][at] = values[i];
    }
    self->capacity = capacity;
    figures->point_count = at + 1;
    return true;
}

/* A finding belongs to the run whose line comes before it. */
static bool read_finding(void *context, const mr_finding_line *finding)
{
    journal *self = context;
    mr_hunt_figures *figures = &self->figures;
    void *lines = self->lines;
    if (!mr_grow(&lines, &self->line_capacity, figures->hunted_count + 1, sizeof *self->lines))
        return false;
    self->lines = lines;
    self->lines[figures->hunted_count++] = *finding;
    self->finds = self->finds || strcmp(finding->kind, mr_run_kind_name(MR_RUN_OUTPUT)) != 0;
    if (figures->point_count)
        self->points[3][figures->point_count - 1] = (double)figures->hunted_count;
    return true;
}

static bool read_setting(void *context, const char *key, const char *value)
{
    journal *self = context;
    (void)value;
    self->figures.cut_runs += strcmp(key, "cut") == 0;
    return true;
}

static mr_status finish(journal *self, mr_error *error)
{
    mr_hunt_figures *figures = &self->figures;
    self->hunted = mr_calloc(figures->hunted_count + 1, sizeof *self->hunted);
    if (!self->hunted)
        return mr_error_memory(error, "reading the journal of a hunt");
    for (size_t i = 0; i < figures->hunted_count; i++)
        self->hunted[i] = (mr_hunted){.number = self->lines[i].number,
                                      .run = self->lines[i].run,
                                      .kind = self->lines[i].kind,
                                      .text = self->lines[i].text};
    figures->hunted = self->hunted;
    figures->ended = self->points[0];
    figures->at = self->points[1];
    figures->behaviours = self->points[2];
    figures->findings = self->points[3];
    if (self->state) {
        figures->inputs_tried = self->state->inputs_tried;
        figures->inputs_kept = self->state->inputs_kept;
    }
    return MR_OK;
}

static void print_end(FILE *stream, const mr_hunt_state *state)
{
    static const char *const ends[] = {
        [MR_HUNT_RUNS] = "The budget of runs is used up",
        [MR_HUNT_TIME] = "The time is used up",
        [MR_HUNT_ASKED] = "The hunt was interrupted",
        [MR_HUNT_FAILURE] = "The hunt ended where --until says",
        [MR_HUNT_QUIET] =
            "Nothing is left to try that the traces suggest, and many free runs were nothing new"};
    fputs(ends[state->end], stream);
    if (state->end != MR_HUNT_QUIET)
        fprintf(stream, "; %zu question%s left", state->left, state->left == 1 ? " is" : "s are");
    if (state->dropped)
        fprintf(stream, ", %zu more were not kept", state->dropped);
    fputs(". What was not run may still fail.\n", stream);
}

static mr_status write_report(FILE *stream, const void *context, mr_error *error)
{
    const journal *self = context;
    mr_status status = mr_format_chosen(self->cli->config)->hunt(stream, &self->figures, error);
    if (!status && self->state && mr_config_choice(self->cli->config, "format") == MR_FORMAT_TEXT)
        print_end(stream, self->state);
    return status;
}

mr_status mr_hunt_report(const mr_cli *cli, const char *folder, const mr_hunt_state *state,
                         int *exit_status, mr_error *error)
{
    mr_store_folder store;
    journal self = {.cli = cli, .figures = {.folder = folder}, .state = state};
    const mr_store_reader reader = {
        .context = &self, .setting = read_setting, .run = read_run, .finding = read_finding};
    mr_status status = mr_store_reopen(&store, folder, error);
    mr_store_unlock(&store);
    if (!status)
        status = mr_store_read(&store, &reader, error);
    if (!status)
        status = finish(&self, error);
    if (!status)
        status = mr_output_write(mr_config_text(cli->config, "output"), write_report, &self, error);
    *exit_status = self.finds ? MR_EXIT_RACES : 0;
    mr_store_close(&store);
    for (size_t i = 0; i < 4; i++)
        free(self.points[i]);
    free(self.lines);
    free(self.hunted);
    return status;
}
