/* comparison_csv: a comparison as CSV (RFC 4180), one row a finder. */
#include "comparison_cell.h"
#include "escape.h"

#include <inttypes.h>
#include <string.h>

static void print_field(FILE *stream, const char *text)
{
    char out[MR_ESCAPE_BYTES];
    fputc('"', stream);
    while (mr_escape_next(&text, true, out) > 0)
        fprintf(stream, "%s%s", out[0] == '"' ? "\"" : "", out);
    fputc('"', stream);
}

static mr_status write_trace(const mr_comparison_report *report, const mr_comparison *comparison,
                             mr_error *error)
{
    (void)error;
    FILE *stream = report->stream;
    for (int finder = 0; finder < MR_FINDER_COUNT; finder++) {
        if (!(report->finders >> finder & 1))
            continue;
        print_field(stream, comparison->trace->path);
        fprintf(stream, ",%" PRIu64 ",%s", comparison->trace->event_count, mr_finder_name(finder));
        for (int column = 0; column < mr_quantity_shown(report); column++) {
            char buffer[MR_CELL_BYTES];
            const char *text =
                mr_cell_text(&comparison->findings[finder], finder, (mr_quantity)column, buffer);
            fprintf(stream, ",%s", strcmp(text, "-") == 0 ? "" : text);
        }
        fputs("\n", stream);
    }
    return MR_OK;
}

static void print_head(const mr_comparison_report *report)
{
    fputs("trace,events,relation,racy_events,racy_locations,racy_variables,static_races,only,"
          "unknown,uses_after_free,deadlocks,null_pointers,dangling_pointers,double_frees,"
          "unknown_beside_races",
          report->stream);
    fputs(report->run ? ",seconds\n" : "\n", report->stream);
}

const mr_comparison_writer mr_comparison_csv = {.begin = print_head, .write = write_trace};
