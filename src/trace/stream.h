/*
 * stream: the events of a trace file, block by block, with bounded memory: for analyses that need
 * each event once. formats/read.h opens a stream; each format is a kind of stream (stream_kind.h).
 *
 *   mr_stream_open → mr_stream_next* → [mr_stream_stop] → mr_stream_close
 *
 * What is given is valid (validity.h) and has gone through repair when that was asked for. A text
 * is parsed by a thread of the stream's own, some blocks ahead of the caller. Values are checked
 * and not kept. Memory: the names and a few blocks.
 */
#ifndef MR_TRACE_STREAM_H
#define MR_TRACE_STREAM_H

#include "events.h"
#include "outlook.h"

typedef struct mr_stream mr_stream;

/* What is said of a file that was written to between two passes. */
#define MR_STREAM_HAS_CHANGED "the file has changed since it was first read; run the command again"

void mr_stream_close(mr_stream *stream); /* NULL is fine */

/*
 * The next events, valid until the next call; `events->count` is 0 at the end. On an error all
 * events before the place of the error have been given by earlier calls (the errors of
 * mr_trace_read, with their place); it is given again by every later call.
 */
mr_status mr_stream_next(mr_stream *stream, mr_events *events, mr_error *error);

/* No more events are wanted: ends the reading, after which there is a dictionary, of the events so
 * far and perhaps some more. */
void mr_stream_stop(mr_stream *stream);

/* After the end: the stream gives all events once more, for less, as they are not checked again. False: it cannot; an
 * .mrt file that is mapped and right can. What its dictionary holds stays. */
bool mr_stream_rewind(mr_stream *stream);

/* A second pass beside the first, for another thread of the caller's: block `number`, from 0, as mr_stream_next gives or will
 * give it; waits until it was read. It is valid until the stream is closed. `events->count` is 0 when there is none, the reading has ended
 * before it, or the file was written to. False: the stream cannot; a mapped .mrt file that a thread reads can. */
bool mr_stream_follow(mr_stream *stream, size_t number, mr_events *events);

/* After a rewind or a second pass: was the file written to since it was opened? What was given may be wrong then. */
bool mr_stream_changed(const mr_stream *stream);

/* Puts a column, or a part of it, of events that mr_stream_follow or mr_stream_next has given at `to`, in a mapping of the caller's
 * (base/huge.h), without reading it: pages of the file are mapped there. They stay when the stream is closed. What was there may be
 * gone when the stream cannot. */
bool mr_stream_place(const mr_stream *stream, const void *from, size_t bytes, void *to);

/* What the rest of the file holds, or NULL when that is not known (text; a damaged .mrt). */
const mr_outlook *mr_stream_outlook(const mr_stream *stream);

/* Names, lines (mr_trace_line), path, op_counts and what repair dropped, as a trace without columns
 * (event_count is right, the column pointers, values and derived indexes are NULL). Only after
 * mr_stream_next has given the end or an error, or mr_stream_stop. No name can be
 * looked up in it (mr_names_find). On loan. */
const mr_trace *mr_stream_dictionary(const mr_stream *stream);

#endif
