/* html_compare: comparisons as a page: the object of the JSON report of each trace. */
#include "comparison_cell.h"
#include "html_embed.h"
#include "html_report.h"

static void begin(const mr_comparison_report *report)
{
    mr_page_begin(report->stream);
    fputs("{\"compare\":[\n", report->stream);
}

static mr_json finder_object(const mr_comparison *comparison, int finder,
                             const mr_comparison_report *report)
{
    const mr_finder_figures *found = &comparison->findings[finder];
    mr_json self = mr_json_new();
    mr_json_put_text(&self, "name", mr_finder_name(finder));
    for (int row = 0; row < mr_quantity_shown(report); row++) {
        char buffer[MR_CELL_BYTES];
        if (!mr_quantity_has_row(comparison, (mr_quantity)row))
            continue;
        mr_json_put_text(&self, mr_quantity_name((mr_quantity)row),
                         mr_cell_text(found, finder, (mr_quantity)row, buffer));
    }
    return self;
}

static mr_json race_object(const mr_comparison *comparison, const mr_compared_race *race)
{
    const mr_trace *trace = comparison->trace;
    mr_json self = mr_json_new();
    mr_json_put_text(&self, "low", mr_names_display(&trace->locations, race->low));
    mr_json_put_text(&self, "high", mr_names_display(&trace->locations, race->high));
    mr_json_put_number(&self, "found", race->found_by);
    mr_json_put_number(&self, "unknown", race->unknown_by);
    return self;
}

static mr_status write_trace(const mr_comparison_report *report, const mr_comparison *comparison,
                             mr_error *error)
{
    mr_json self = mr_json_new();
    json_t *finders = json_array(), *races = json_array();
    mr_json_put_text(&self, "file", comparison->trace->path);
    mr_json_put_number(&self, "events", comparison->trace->event_count);
    for (int finder = 0; finder < MR_FINDER_COUNT; finder++)
        if (report->finders >> finder & 1) {
            mr_json one = finder_object(comparison, finder, report);
            mr_json_put_number(&one, "bit", (uint64_t)finder);
            mr_json_append(&self, finders, one);
        }
    for (size_t i = 0; i < comparison->race_count && self.ok; i++)
        mr_json_append(&self, races, race_object(comparison, &comparison->races[i]));
    mr_json_put(&self, "finders", finders);
    mr_json_put(&self, "races", races);
    if (report->count > 0)
        fputs(",\n", report->stream);
    return mr_page_json(report->stream, self, error);
}

static void end(const mr_comparison_report *report)
{
    fputs("]}\n", report->stream);
    mr_page_end(report->stream);
}

const mr_comparison_writer mr_comparison_html = {begin, write_trace, end};
