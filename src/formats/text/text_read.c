#include "text_read.h"

#include "base/halt.h"
#include "base/ticker.h"
#include "text_source.h"

/* Rows between two looks at the clock and the memory: less than a mebibyte, names included. */
enum { MR_READ_ROWS = 1 << 13 };

static mr_status read_rows(mr_text_source *source, const mr_read_options *options, mr_error *error)
{
    mr_ticker ticker = {.progress = options ? options->progress : NULL, .stage = "reading"};
    const mr_halt *halt = options ? options->halt : NULL;
    mr_status status = MR_OK;
    while (!status && !source->ended) {
        mr_rows rows;
        status = mr_builder_rows(&source->builder, MR_READ_ROWS, &rows, error);
        if (status)
            return status;
        status = mr_text_source_fill(source, &rows, error);
        if (!status && mr_halt_asked(halt))
            status = mr_halt_fail(halt, source->place, "reading the trace", error);
        mr_spill_look(&source->builder.trace->spill);
        mr_ticker_tell(&ticker, mr_text_source_done_bytes(source),
                       mr_input_total_bytes(source->input));
    }
    return status;
}

mr_status mr_text_read(mr_input *input, const char *path, const char *place,
                       const mr_read_options *options, mr_trace **result, mr_error *error)
{
    mr_text_source source;
    mr_status status = mr_text_source_init(&source, input, path, place, options, error);
    if (!status && options)
        source.builder.trace->lacks_values = options->without_values;
    source.builder.with_outlook = options && options->with_outlook && !options->one_thread;
    if (!status)
        status = read_rows(&source, options, error);
    if (!status || (status == MR_ERR_TRACE && options && options->keep_partial)) {
        mr_error late = {0};
        if (mr_builder_finish(&source.builder, result, &late)) {
            status = late.status;
            *error = late;
        }
    }
    mr_text_source_free(&source);
    return status;
}
