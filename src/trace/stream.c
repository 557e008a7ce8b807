/* What all streams have; the kinds of files. */
#include "mrt_read.h"
#include "stream_kind.h"
#include "text_source.h"
#include "text_stream.h"

mr_status mr_stream_open(const char *path, const mr_read_options *options, mr_stream **stream,
                         mr_error *error)
{
    mr_error unused = {0};
    error = error ? error : &unused;
    *stream = NULL;
    mr_input *input;
    mr_status status = mr_input_open(path, &input, error);
    /* Text is what nothing else is. */
    if (!status && mr_mrt_is(path, input))
        return mr_mrt_stream_open(path, input, options, stream, error);
    if (!status)
        return mr_text_stream_open(input, path, options, NULL, stream, error);
    if (status != MR_ERR_MEMORY)
        mr_text_source_set_place(error, mr_text_source_place(path), 0);
    return status;
}

void mr_stream_close(mr_stream *stream)
{
    if (stream)
        stream->kind->close(stream);
}

mr_status mr_stream_next(mr_stream *stream, mr_events *events, mr_error *error)
{
    mr_status status = stream->failure.status;
    if (!status)
        status = stream->kind->next(stream, events, &stream->failure);
    if (!status)
        return MR_OK;
    *events = (mr_events){0};
    if (error)
        *error = stream->failure;
    return status;
}

const mr_outlook *mr_stream_outlook(const mr_stream *stream)
{
    return stream->kind->outlook(stream);
}

const mr_trace *mr_stream_dictionary(const mr_stream *stream)
{
    return stream->kind->dictionary(stream);
}
