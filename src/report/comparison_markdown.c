/* comparison_markdown: a comparison as a table in Markdown. */
#include "comparison_cell.h"
#include "escape.h"

#include <inttypes.h>
#include <string.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* A bar would end the cell. */
static void print_cell(FILE *stream, const char *text)
{
    char out[MR_ESCAPE_BYTES];
    while (mr_escape_next(&text, true, out) > 0)
        fprintf(stream, "%s%s", out[0] == '|' ? "\\" : "", out);
}

static void print_head(const mr_comparison_report *report)
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

static mr_status write_trace(const mr_comparison_report *report, const mr_comparison *comparison,
                             mr_error *error)
{
    (void)error;
    FILE *stream = report->stream;
    for (int row = 0; row < mr_quantity_shown(report); row++) {
        if (!mr_quantity_has_row(comparison, (mr_quantity)row))
            continue;
        fputs("| ", stream);
        if (row == 0) {
            print_cell(stream, base_name(comparison->trace->path));
            fprintf(stream, " | %" PRIu64, comparison->trace->event_count);
        } else {
            fputs("|", stream);
        }
        fprintf(stream, " | %s |", mr_quantity_name((mr_quantity)row));
        for (int finder = 0; finder < MR_FINDER_COUNT; finder++) {
            char buffer[MR_CELL_BYTES];
            if (report->finders >> finder & 1)
                fprintf(
                    stream, " %s |",
                    mr_cell_text(&comparison->findings[finder], finder, (mr_quantity)row, buffer));
        }
        fputs("\n", stream);
    }
    return MR_OK;
}

const mr_comparison_writer mr_comparison_markdown = {.begin = print_head, .write = write_trace};
