/* comparison_text: a comparison as a table for people. */
#include "comparison_cell.h"
#include "escape.h"
#include "phrases.h"

#include <inttypes.h>

enum { LABEL_WIDTH = 22, COLUMN_WIDTH = 9 };

static void print_race(FILE *stream, const mr_comparison *comparison, const mr_compared_race *race)
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
    mr_escape_print(stream, mr_names_display(&trace->variables,
                                             mr_pair_variable(trace, race->first, race->second)));
    fprintf(stream, " (lines %" PRIu64 " and %" PRIu64 ")\n", mr_trace_line(trace, race->first),
            mr_trace_line(trace, race->second));
}

static void print_table(const mr_comparison_report *report, const mr_comparison *comparison)
{
    FILE *stream = report->stream;
    fprintf(stream, "%-*s", LABEL_WIDTH, "");
    for (int finder = 0; finder < MR_FINDER_COUNT; finder++)
        if (report->finders >> finder & 1)
            fprintf(stream, "%*s", COLUMN_WIDTH, mr_finder_name(finder));
    fputs("\n", stream);
    for (int row = 0; row < mr_quantity_shown(report); row++) {
        if (!mr_quantity_has_row(comparison, (mr_quantity)row))
            continue;
        fprintf(stream, "%-*s", LABEL_WIDTH, mr_quantity_name((mr_quantity)row));
        for (int finder = 0; finder < MR_FINDER_COUNT; finder++) {
            char buffer[MR_CELL_BYTES];
            if (report->finders >> finder & 1)
                fprintf(
                    stream, "%*s", COLUMN_WIDTH,
                    mr_cell_text(&comparison->findings[finder], finder, (mr_quantity)row, buffer));
        }
        fputs("\n", stream);
    }
}

static mr_status write_trace(const mr_comparison_report *report, const mr_comparison *comparison,
                             mr_error *error)
{
    (void)error;
    const mr_trace *trace = comparison->trace;
    FILE *stream = report->stream;
    if (report->count > 0)
        fputs("\n", stream);
    mr_escape_print(stream, trace->path);
    fputs(": ", stream);
    mr_phrase_count(stream, trace->event_count, "event", ", ");
    mr_phrase_count(stream, trace->threads.count, "thread", ", ");
    mr_phrase_count(stream, trace->locks.count, "lock", ", ");
    mr_phrase_count(stream, trace->variables.count, "variable", "");
    if (report->run)
        fprintf(stream, "; read in %.3f s", comparison->read_seconds);
    fputs("\n", stream);
    mr_phrase_ending(stream, &trace->ending);
    fputs("\n", stream);
    print_table(report, comparison);
    bool first = true;
    for (size_t i = 0; i < comparison->race_count; i++) {
        const mr_compared_race *race = &comparison->races[i];
        if (race->found_by & (race->found_by - 1))
            continue; /* found by two or more */
        if (first)
            fputs("\nFound by one alone:\n", stream);
        first = false;
        print_race(stream, comparison, race);
    }
    return MR_OK;
}

const mr_comparison_writer mr_comparison_text = {.write = write_trace};
