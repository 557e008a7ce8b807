/* Reading: all rows of a text source into one trace. */
#include "mrt_read.h"
#include "text_source.h"
#include "ticker.h"
#include "trace.h"

/* Rows between two looks at the clock. */
enum { MR_READ_ROWS = 1 << 16 };

static mr_status read_rows(mr_text_source *source, const mr_progress *progress, mr_error *error)
{
    mr_ticker ticker = {.progress = progress, .stage = "reading"};
    mr_status status = MR_OK;
    while (!status && !source->ended) {
        mr_rows rows;
        status = mr_builder_rows(&source->builder, MR_READ_ROWS, &rows, error);
        if (status)
            return status;
        status = mr_text_source_fill(source, &rows, error);
        mr_spill_look(&source->builder.trace->spill);
        mr_ticker_tell(&ticker, mr_input_done_bytes(source->input),
                       mr_input_total_bytes(source->input));
    }
    return status;
}

/* Takes the input over. */
static mr_status read_input(mr_input *input, const char *path, const char *place,
                            const mr_read_options *options, mr_trace **result, mr_error *error)
{
    mr_text_source source;
    mr_status status = mr_text_source_init(&source, input, path, place, options, error);
    if (!status)
        status = read_rows(&source, options ? options->progress : NULL, error);
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

/* What is not read at all has no events before the place of its error. Returns the status of
 * `error`. */
static mr_status keep_nothing(const char *path, const mr_read_options *options, mr_trace **result,
                              mr_error *error)
{
    mr_builder builder;
    mr_error late = {0};
    if (error->status != MR_ERR_TRACE || !options || !options->keep_partial)
        return error->status;
    if (!mr_builder_init(&builder, path))
        mr_error_memory(&late, "reading the trace");
    else
        mr_builder_finish(&builder, result, &late);
    mr_builder_free(&builder);
    if (late.status)
        *error = late;
    return error->status;
}

mr_status mr_trace_read(const char *path, const mr_read_options *options, mr_trace **trace,
                        mr_error *error)
{
    mr_error unused = {0};
    error = error ? error : &unused;
    *trace = NULL;
    const char *place = mr_text_source_place(path);
    mr_input *input;
    mr_status status = mr_input_open(path, &input, error);
    if (!status && mr_mrt_is(path, input)) {
        status = mr_mrt_read(path, input, options, trace, error);
        return status && !*trace ? keep_nothing(path, options, trace, error) : status;
    }
    if (!status)
        return read_input(input, path, place, options, trace, error);
    if (status == MR_ERR_MEMORY)
        return status;
    mr_text_source_set_place(error, place, 0);
    return keep_nothing(path, options, trace, error);
}

mr_status mr_trace_read_text(const char *name, const char *text, size_t length_bytes,
                             const mr_read_options *options, mr_trace **trace, mr_error *error)
{
    mr_error unused = {0};
    error = error ? error : &unused;
    *trace = NULL;
    mr_input *input;
    mr_status status = mr_input_open_memory(text, length_bytes, &input, error);
    return status ? status : read_input(input, name, name, options, trace, error);
}
