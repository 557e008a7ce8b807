#include "comparison.h"

#include "base/assert.h"
#include "formats.h"
#include "phrases.h"

#include <errno.h>

static const mr_comparison_writer *writer_of(const mr_comparison_report *report)
{
    return mr_formats[report->format].compare;
}

void mr_comparison_begin(mr_comparison_report *report, FILE *stream, mr_format format,
                         unsigned finders, bool run)
{
    *report =
        (mr_comparison_report){.stream = stream, .format = format, .finders = finders, .run = run};
    MR_REQUIRE(mr_format_has(format, MR_SUBJECT_COMPARE));
    if (writer_of(report)->begin != NULL)
        writer_of(report)->begin(report);
}

mr_status mr_comparison_write(mr_comparison_report *report, const mr_comparison *comparison,
                              mr_error *error)
{
    mr_status status = writer_of(report)->write(report, comparison, error);
    report->count++;
    fflush(report->stream);
    if (status == MR_OK && ferror(report->stream))
        return mr_report_write_failed(NULL, error);
    return status;
}

void mr_comparison_end(mr_comparison_report *report)
{
    if (writer_of(report)->end != NULL)
        writer_of(report)->end(report);
}
