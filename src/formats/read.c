#include "read.h"

#include "base/ceiling.h"
#include "mrt/mrt_read.h"
#include "pack/unpack.h"
#include "text/text_read.h"
#include "text/text_source.h"
#include "text/text_stream.h"

/* The input failed before its first event. With `keep_partial` the result is a trace without
 * events. Returns the status of `error`. */
static mr_status keep_nothing(const char *path, const mr_read_options *options, mr_trace **result,
                              mr_error *error)
{
    mr_builder builder;
    mr_error late = {0};
    if (error->status != MR_ERR_TRACE || !options->keep_partial)
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

static mr_status read_whole(const char *path, const mr_read_options *options, mr_trace **trace,
                            mr_error *error)
{
    const char *place = mr_text_source_place(path);
    mr_input *input;
    mr_status status = mr_input_open(path, &input, error);
    if (!status)
        mr_input_obey(input, options->halt);
    if (!status && mr_mrt_is(path, input)) {
        status = mr_mrt_read(path, input, options, trace, error);
        return status && !*trace ? keep_nothing(path, options, trace, error) : status;
    }
    if (!status)
        return mr_text_read(input, path, place, options, trace, error);
    if (status == MR_ERR_MEMORY)
        return status;
    mr_text_source_set_place(error, place, 0);
    return keep_nothing(path, options, trace, error);
}

mr_status mr_trace_read(const char *path, const mr_read_options *options, mr_trace **trace,
                        mr_error *error)
{
    mr_error unused = {0};
    mr_read_options all = options ? *options : (mr_read_options){0};
    mr_halt halt = {.deadline_seconds = all.deadline_seconds};
    mr_ceiling *ceiling = all.halt ? NULL : mr_ceiling_start(all.memory_bytes, &halt);
    error = error ? error : &unused;
    *trace = NULL;
    all.halt = all.halt ? all.halt : &halt;
    mr_status status = read_whole(path, &all, trace, error);
    mr_ceiling_stop(ceiling);
    return status;
}

mr_status mr_trace_read_text(const char *name, const char *text, size_t length_bytes,
                             const mr_read_options *options, mr_trace **trace, mr_error *error)
{
    mr_error unused = {0};
    error = error ? error : &unused;
    *trace = NULL;
    mr_input *input;
    mr_status status = mr_input_open_memory(text, length_bytes, &input, error);
    return status ? status : mr_text_read(input, name, name, options, trace, error);
}

bool mr_trace_is_plain_text(const char *path)
{
    mr_input *input;
    mr_error unused = {0};
    const char *name;
    size_t count;
    if (mr_input_open(path, &input, &unused) != MR_OK)
        return false;
    const unsigned char *first = mr_input_first(input, &count);
    bool plain =
        !mr_mrt_is(path, input) && mr_packing_detect(first, count, &name) == MR_PACKING_NONE;
    mr_input_close(input);
    return plain;
}

mr_status mr_stream_open(const char *path, const mr_read_options *options, mr_stream **stream,
                         mr_error *error)
{
    mr_error unused = {0};
    error = error ? error : &unused;
    *stream = NULL;
    mr_input *input;
    mr_status status = mr_input_open(path, &input, error);
    if (!status && options)
        mr_input_obey(input, options->halt);
    /* A file without the mark of another format is text. */
    if (!status && mr_mrt_is(path, input))
        return mr_mrt_stream_open(path, input, options, stream, error);
    if (!status)
        return mr_text_stream_open(input, path, options, NULL, stream, error);
    if (status != MR_ERR_MEMORY)
        mr_text_source_set_place(error, mr_text_source_place(path), 0);
    return status;
}
