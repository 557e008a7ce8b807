/* What all kinds of streams share. */
#include "stream_kind.h"

#include "base/assert.h"

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
    if (!status) {
        MR_ASSERT(!events->count || events->first == stream->end);
        stream->end += events->count;
        return MR_OK;
    }
    *events = (mr_events){0};
    if (error)
        *error = stream->failure;
    return status;
}

void mr_stream_stop(mr_stream *stream)
{
    if (!stream->failure.status)
        stream->kind->stop(stream);
    if (!stream->failure.status)
        mr_error_set(&stream->failure, MR_ERR_HALTED, NULL, 0, "the stream was stopped");
}

bool mr_stream_rewind(mr_stream *stream)
{
    if (!stream->kind->rewind || !stream->kind->rewind(stream))
        return false;
    stream->failure = (mr_error){0}; /* it was stopped, at most: all events were right */
    stream->end = 0;
    return true;
}

bool mr_stream_follow(mr_stream *stream, size_t number, mr_events *events)
{
    *events = (mr_events){0};
    return stream->kind->follow && stream->kind->follow(stream, number, events);
}

bool mr_stream_changed(const mr_stream *stream)
{
    return stream->kind->changed && stream->kind->changed(stream);
}

bool mr_stream_place(const mr_stream *stream, const void *from, size_t bytes, void *to)
{
    return stream->kind->place && stream->kind->place(stream, from, bytes, to);
}

const mr_outlook *mr_stream_outlook(const mr_stream *stream)
{
    return stream->kind->outlook(stream);
}

const mr_trace *mr_stream_dictionary(const mr_stream *stream)
{
    return stream->kind->dictionary(stream);
}
