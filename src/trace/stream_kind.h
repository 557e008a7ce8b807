/*
 * stream_kind: what a kind of file provides to be read as a stream (stream.h): the
 * calls, and the part of the stream that all kinds have. formats/read.c chooses the kind by the first
 * bytes of the file; stream.c repeats an error by itself.
 */
#ifndef MR_TRACE_STREAM_KIND_H
#define MR_TRACE_STREAM_KIND_H

#include "stream.h"

typedef struct mr_stream_kind {
    /* As mr_stream_next; not called again after an error. */
    mr_status (*next)(mr_stream *stream, mr_events *events, mr_error *error);
    const mr_outlook *(*outlook)(const mr_stream *stream);
    const mr_trace *(*dictionary)(const mr_stream *stream);
    void (*stop)(mr_stream *stream);   /* ends the reading, as mr_stream_stop */
    bool (*rewind)(mr_stream *stream); /* as mr_stream_rewind; NULL: it cannot */
    /* As mr_stream_follow and mr_stream_changed; NULL: it cannot. */
    bool (*follow)(mr_stream *stream, size_t number, mr_events *events);
    bool (*changed)(const mr_stream *stream);
    /* As mr_stream_place; NULL: it cannot. */
    bool (*place)(const mr_stream *stream, const void *from, size_t bytes, void *to);
    void (*close)(mr_stream *stream); /* frees the stream itself, too */
} mr_stream_kind;

/* The first member of every kind's own struct. */
struct mr_stream {
    const mr_stream_kind *kind;
    mr_error failure; /* what the stream gave up with; status MR_OK: it goes on */
    uint64_t end;     /* of the events that were given */
};

#endif
