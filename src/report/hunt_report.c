#include "hunt_report.h"

#include "json_object.h"
#include "plots.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 512 };

static uint64_t behaviours_of(const mr_hunt_figures *figures)
{
    return figures->point_count ? (uint64_t)figures->behaviours[figures->point_count - 1] : 0;
}

static size_t races_of(const mr_hunt_figures *figures)
{
    size_t races = 0;
    for (size_t i = 0; i < figures->hunted_count; i++)
        races += strcmp(figures->hunted[i].kind, "race") == 0;
    return races;
}

/* The head of the report, in one line. */
static void put_head(const mr_hunt_figures *figures, char line[LINE_BYTES])
{
    uint64_t behaviours = behaviours_of(figures);
    size_t races = races_of(figures), others = figures->hunted_count - races;
    snprintf(line, LINE_BYTES,
             "%.300s: %" PRIu64 " run%s, %" PRIu64 " behaviour%s, %zu race%s confirmed, %zu other "
             "finding%s, %.1f s",
             figures->folder, figures->runs, mr_phrase_s(figures->runs), behaviours,
             mr_phrase_s(behaviours), races, mr_phrase_s(races), others, mr_phrase_s(others),
             figures->seconds);
}

static void put_failure(const mr_hunt_figures *figures, char line[LINE_BYTES])
{
    if (figures->first_failure)
        snprintf(line, LINE_BYTES, "The first failure was run %" PRIu64 ".",
                 figures->first_failure);
    else
        snprintf(line, LINE_BYTES, "No run failed.");
}

static void put_cut(const mr_hunt_figures *figures, char line[LINE_BYTES])
{
    snprintf(line, LINE_BYTES,
             "Of %" PRIu64 " run%s only what filled the log was recorded; what came after it is "
             "not known, but for the end.",
             figures->cut_runs, mr_phrase_s(figures->cut_runs));
}

static void put_finding(const mr_hunted *found, char line[LINE_BYTES])
{
    snprintf(line, LINE_BYTES, "%" PRIu32 " %s (run %" PRIu64 "): %.400s", found->number,
             found->kind, found->run, found->text);
}

mr_status mr_hunt_report_text(FILE *stream, const mr_hunt_figures *figures, mr_error *error)
{
    char line[LINE_BYTES];
    put_head(figures, line);
    fprintf(stream, "%s\n", line);
    if (figures->inputs_tried)
        fprintf(stream, "%" PRIu32 " input%s tried, %" PRIu32 " of them covered something new.\n",
                figures->inputs_tried, mr_phrase_s(figures->inputs_tried), figures->inputs_kept);
    for (size_t i = 0; i < figures->hunted_count; i++) {
        const mr_hunted *found = &figures->hunted[i];
        put_finding(found, line);
        fprintf(stream, "  %s\n      maxrace replay %s/findings/%" PRIu32 "-%s\n", line,
                figures->folder, found->number, found->kind);
    }
    put_failure(figures, line);
    fprintf(stream, "%s\n", line);
    if (figures->cut_runs) {
        put_cut(figures, line);
        fprintf(stream, "%s\n", line);
    }
    return ferror(stream) ? mr_report_write_failed(NULL, error) : MR_OK;
}

mr_status mr_hunt_report_json(FILE *stream, const mr_hunt_figures *figures, mr_error *error)
{
    mr_json self = mr_json_new();
    json_t *findings = json_array(), *curve = json_array();
    mr_json_put_object(&self, "tool", mr_json_tool());
    mr_json_put_text(&self, "hunt", figures->folder);
    mr_json_put_number(&self, "runs", figures->runs);
    mr_json_put_number(&self, "behaviours", behaviours_of(figures));
    mr_json_put_seconds(&self, "seconds", figures->seconds);
    if (figures->first_failure)
        mr_json_put_number(&self, "first_failure", figures->first_failure);
    if (figures->cut_runs)
        mr_json_put_number(&self, "cut_runs", figures->cut_runs);
    if (figures->inputs_tried) {
        mr_json_put_number(&self, "inputs_tried", figures->inputs_tried);
        mr_json_put_number(&self, "inputs_kept", figures->inputs_kept);
    }
    for (size_t i = 0; i < figures->hunted_count && self.ok; i++) {
        const mr_hunted *found = &figures->hunted[i];
        mr_json one = mr_json_new();
        mr_json_put_number(&one, "number", found->number);
        mr_json_put_text(&one, "kind", found->kind);
        mr_json_put_number(&one, "run", found->run);
        mr_json_put_text(&one, "text", found->text);
        mr_json_append(&self, findings, one);
    }
    for (size_t i = 0; i < figures->point_count && self.ok; i++) {
        mr_json one = mr_json_new();
        mr_json_put_number(&one, "runs", (uint64_t)figures->ended[i]);
        mr_json_put_seconds(&one, "at", figures->at[i]);
        mr_json_put_number(&one, "behaviours", (uint64_t)figures->behaviours[i]);
        mr_json_put_number(&one, "findings", (uint64_t)figures->findings[i]);
        mr_json_append(&self, curve, one);
    }
    mr_json_put(&self, "findings", findings);
    mr_json_put(&self, "curve", curve);
    return mr_json_dump(stream, self, error);
}

static mr_status write_page(FILE *stream, const mr_hunt_figures *figures, const char **lines,
                            char *texts, mr_error *error)
{
    size_t count = figures->point_count;
    const mr_curve by_run[] = {{"behaviours", figures->ended, figures->behaviours, count}};
    const mr_curve by_time[] = {{"behaviours", figures->at, figures->behaviours, count}};
    const mr_curve found[] = {{"findings", figures->ended, figures->findings, count}};
    const mr_plot plots[] = {{.title = "behaviours by run",
                              .x_name = "runs",
                              .y_name = "behaviours",
                              .steps = true,
                              .curves = by_run,
                              .count = 1},
                             {.title = "behaviours by time",
                              .x_name = "seconds",
                              .y_name = "behaviours",
                              .steps = true,
                              .curves = by_time,
                              .count = 1},
                             {.title = "findings by run",
                              .x_name = "runs",
                              .y_name = "findings",
                              .steps = true,
                              .curves = found,
                              .count = 1}};
    char head[LINE_BYTES];
    size_t line_count = figures->hunted_count;
    put_head(figures, head);
    for (size_t i = 0; i < figures->hunted_count; i++) {
        put_finding(&figures->hunted[i], texts + i * LINE_BYTES);
        lines[i] = texts + i * LINE_BYTES;
    }
    lines[line_count] = texts + line_count * LINE_BYTES;
    put_failure(figures, texts + line_count++ * LINE_BYTES);
    if (figures->cut_runs) {
        lines[line_count] = texts + line_count * LINE_BYTES;
        put_cut(figures, texts + line_count++ * LINE_BYTES);
    }
    const mr_plot_page page = {.title = head,
                               .lines = lines,
                               .line_count = line_count,
                               .plots = plots,
                               .plot_count = sizeof plots / sizeof *plots};
    return mr_plots_write(stream, &page, error);
}

mr_status mr_hunt_report_html(FILE *stream, const mr_hunt_figures *figures, mr_error *error)
{
    const char **lines = mr_calloc(figures->hunted_count + 2, sizeof *lines);
    char *texts = mr_calloc(figures->hunted_count + 2, LINE_BYTES);
    mr_status status = lines && texts ? write_page(stream, figures, lines, texts, error)
                                      : mr_error_memory(error, "writing the report");
    free(lines);
    free(texts);
    return status;
}
