#include "comparison.h"

#include "escape.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* A row of the table: one quantity of all finders. */
typedef enum quantity {
    RACY_EVENTS,
    RACY_LOCATIONS,
    RACY_VARIABLES,
    STATIC_RACES,
    ONLY,
    UNKNOWN,
    SECONDS,
    QUANTITY_COUNT
} quantity;

static const char *const quantity_names[QUANTITY_COUNT] = {
    "racy events",           "racy locations",       "racy variables", "static races",
    "found by no other one", "unknown static races", "seconds",
};

enum { CELL_BYTES = 32, LABEL_WIDTH = 22, COLUMN_WIDTH = 9 };

/* The quantity of a finder as text; "-" where it has none. */
static const char *cell_text(const mr_finding *finding, int finder, quantity which,
                             char buffer[CELL_BYTES])
{
    uint64_t number = 0;
    bool there = finding->done;
    switch (which) {
    case RACY_EVENTS:
        number = finding->racy_events;
        there = there && finding->counts_events;
        break;
    case RACY_LOCATIONS:
        number = finding->racy_locations;
        there = there && finding->counts_events;
        break;
    case RACY_VARIABLES:
        number = finding->racy_variables;
        there = there && finding->counts_events;
        break;
    case STATIC_RACES:
        number = finding->static_races;
        break;
    case ONLY:
        number = finding->only;
        break;
    case UNKNOWN:
        number = finding->unknown;
        there = there && finder >= MR_RELATION_COUNT;
        break;
    case SECONDS:
    case QUANTITY_COUNT:
        snprintf(buffer, CELL_BYTES, there ? "%.3f" : "-", finding->seconds);
        return buffer;
    }
    snprintf(buffer, CELL_BYTES, there ? "%" PRIu64 : "-", number);
    return buffer;
}

/* Time is the last quantity. */
static int rows_of(const mr_comparison_report *report)
{
    return report->run ? QUANTITY_COUNT : SECONDS;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* ---- text ---- */

static void text_race(FILE *stream, const mr_comparison *comparison, const mr_compared_race *race)
{
    const mr_trace *trace = comparison->trace;
    fputs("  ", stream);
    for (int finder = 0; finder < MR_FINDER_COUNT; finder++)
        if (race->found_by >> finder & 1)
            fprintf(stream, "%s only: ", mr_finder_name(finder));
    mr_escape_print(stream, mr_names_display(&trace->locations, race->low));
    fputs(" - ", stream);
    mr_escape_print(stream, mr_names_display(&trace->locations, race->high));
    fputs(" on ", stream);
    mr_escape_print(stream, mr_names_display(&trace->variables, trace->operand[race->second]));
    fprintf(stream, " (lines %" PRIu64 " and %" PRIu64 ")\n", mr_trace_line(trace, race->first),
            mr_trace_line(trace, race->second));
}

static void text_table(const mr_comparison_report *report, const mr_comparison *comparison)
{
    FILE *stream = report->stream;
    fprintf(stream, "%-*s", LABEL_WIDTH, "");
    for (int finder = 0; finder < MR_FINDER_COUNT; finder++)
        if (report->finders >> finder & 1)
            fprintf(stream, "%*s", COLUMN_WIDTH, mr_finder_name(finder));
    fputs("\n", stream);
    for (int row = 0; row < rows_of(report); row++) {
        fprintf(stream, "%-*s", LABEL_WIDTH, quantity_names[row]);
        for (int finder = 0; finder < MR_FINDER_COUNT; finder++) {
            char buffer[CELL_BYTES];
            if (report->finders >> finder & 1)
                fprintf(stream, "%*s", COLUMN_WIDTH,
                        cell_text(&comparison->findings[finder], finder, (quantity)row, buffer));
        }
        fputs("\n", stream);
    }
}

static void text_write(const mr_comparison_report *report, const mr_comparison *comparison)
{
    const mr_trace *trace = comparison->trace;
    FILE *stream = report->stream;
    if (report->count > 0)
        fputs("\n", stream);
    mr_escape_print(stream, trace->path);
    fprintf(stream,
            ": %" PRIu32 " events, %" PRIu32 " threads, %" PRIu32 " locks, %" PRIu32 " variables",
            trace->event_count, trace->threads.count, trace->locks.count, trace->variables.count);
    if (report->run)
        fprintf(stream, "; read in %.3f s", comparison->read_seconds);
    fputs("\n\n", stream);
    text_table(report, comparison);
    bool first = true;
    for (size_t i = 0; i < comparison->race_count; i++) {
        const mr_compared_race *race = &comparison->races[i];
        if (race->found_by & (race->found_by - 1))
            continue; /* found by two or more */
        if (first)
            fputs("\nFound by one alone:\n", stream);
        first = false;
        text_race(stream, comparison, race);
    }
}

/* ---- Markdown ---- */

/* Text of a cell: a bar would end it. */
static void markdown_text(FILE *stream, const char *text)
{
    char out[MR_ESCAPE_BYTES];
    while (mr_escape_next(&text, true, out) > 0)
        fprintf(stream, "%s%s", out[0] == '|' ? "\\" : "", out);
}

static void markdown_head(const mr_comparison_report *report)
{
    FILE *stream = report->stream;
    fputs("| trace | events | |", stream);
    for (int finder = 0; finder < MR_FINDER_COUNT; finder++)
        if (report->finders >> finder & 1)
            fprintf(stream, " %s |", mr_finder_name(finder));
    fputs("\n|---|--:|---|", stream);
    for (int finder = 0; finder < MR_FINDER_COUNT; finder++)
        if (report->finders >> finder & 1)
            fputs("--:|", stream);
    fputs("\n", stream);
}

static void markdown_write(const mr_comparison_report *report, const mr_comparison *comparison)
{
    FILE *stream = report->stream;
    for (int row = 0; row < rows_of(report); row++) {
        fputs("| ", stream);
        if (row == 0) {
            markdown_text(stream, base_name(comparison->trace->path));
            fprintf(stream, " | %" PRIu32, comparison->trace->event_count);
        } else {
            fputs("|", stream);
        }
        fprintf(stream, " | %s |", quantity_names[row]);
        for (int finder = 0; finder < MR_FINDER_COUNT; finder++) {
            char buffer[CELL_BYTES];
            if (report->finders >> finder & 1)
                fprintf(stream, " %s |",
                        cell_text(&comparison->findings[finder], finder, (quantity)row, buffer));
        }
        fputs("\n", stream);
    }
}

/* ---- CSV (RFC 4180) ---- */

static void csv_text(FILE *stream, const char *text)
{
    char out[MR_ESCAPE_BYTES];
    fputc('"', stream);
    while (mr_escape_next(&text, true, out) > 0)
        fprintf(stream, "%s%s", out[0] == '"' ? "\"" : "", out);
    fputc('"', stream);
}

static void csv_write(const mr_comparison_report *report, const mr_comparison *comparison)
{
    FILE *stream = report->stream;
    for (int finder = 0; finder < MR_FINDER_COUNT; finder++) {
        if (!(report->finders >> finder & 1))
            continue;
        csv_text(stream, comparison->trace->path);
        fprintf(stream, ",%" PRIu32 ",%s", comparison->trace->event_count, mr_finder_name(finder));
        for (int column = 0; column < rows_of(report); column++) {
            char buffer[CELL_BYTES];
            const char *text =
                cell_text(&comparison->findings[finder], finder, (quantity)column, buffer);
            fprintf(stream, ",%s", strcmp(text, "-") == 0 ? "" : text);
        }
        fputs("\n", stream);
    }
}

void mr_comparison_begin(mr_comparison_report *report, FILE *stream, mr_format format,
                         unsigned finders, bool run)
{
    *report =
        (mr_comparison_report){.stream = stream, .format = format, .finders = finders, .run = run};
    switch (format) {
    case MR_FORMAT_TEXT:
        break;
    case MR_FORMAT_JSON:
        fputs("{\"tool\":{\"name\":\"maxrace\",\"version\":\"" MR_VERSION "\"},\n\"traces\":[",
              stream);
        break;
    case MR_FORMAT_CSV:
        fputs("trace,events,relation,racy_events,racy_locations,racy_variables,static_races,only,"
              "unknown",
              stream);
        fputs(run ? ",seconds\n" : "\n", stream);
        break;
    case MR_FORMAT_MARKDOWN:
        markdown_head(report);
        break;
    }
}

mr_status mr_comparison_write(mr_comparison_report *report, const mr_comparison *comparison,
                              mr_error *error)
{
    mr_status status = MR_OK;
    switch (report->format) {
    case MR_FORMAT_TEXT:
        text_write(report, comparison);
        break;
    case MR_FORMAT_JSON:
        fputs(report->count > 0 ? ",\n" : "\n", report->stream);
        status = mr_comparison_json(report->stream, comparison, report->run, error);
        break;
    case MR_FORMAT_CSV:
        csv_write(report, comparison);
        break;
    case MR_FORMAT_MARKDOWN:
        markdown_write(report, comparison);
        break;
    }
    report->count++;
    fflush(report->stream);
    if (status == MR_OK && ferror(report->stream))
        return mr_error_set(error, MR_ERR_IO, NULL, 0, "cannot write the report: %s",
                            strerror(errno != 0 ? errno : EIO));
    return status;
}

void mr_comparison_end(mr_comparison_report *report)
{
    if (report->format == MR_FORMAT_JSON)
        fputs("]}\n", report->stream);
}
