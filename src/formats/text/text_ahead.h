/*
 * text_ahead: a thread that reads the text ahead of the one that takes its lines, and looks at them
 * (text_look.h). So two processors work on a text. It knows nothing of names, numbers of lines or
 * errors of lines: these are found by the taker, in the order of the file, so that they do not depend
 * on when the thread runs.
 *
 *   mr_text_ahead_start → (mr_lines_next | mr_text_ahead_lines)* → mr_text_ahead_stop
 *
 * From the start on, the lines get their bytes from the thread, in the chunks of a ring. A chunk
 * begins with what the one before it had of its last, incomplete line.
 */
#ifndef MR_FORMATS_TEXT_AHEAD_H
#define MR_FORMATS_TEXT_AHEAD_H

#include "formats/pack/lines.h"
#include "text_look.h"

typedef struct mr_text_ahead mr_text_ahead;

/* `chunk_bytes`: what is read at a time, at most MR_LINES_FILL_BYTES; 0: that. NULL: no memory, no
 * thread, or a wait for the input could not be ended; the lines then go on by themselves. `lines`
 * and `ops` must outlive it. */
mr_text_ahead *mr_text_ahead_start(mr_lines *lines, const mr_text_ops *ops, bool keep_values,
                                   size_t chunk_bytes);

/* Ends the thread, also while it waits for a pipe. The lines give no more afterwards. NULL is fine.
 */
void mr_text_ahead_stop(mr_text_ahead *ahead);

/* The lines from the next one of `lines` on that the thread has looked at, 0: none. Offsets are from
 * the start of the buffer. Valid until the next call of mr_lines_next. */
const mr_looked *mr_text_ahead_lines(mr_text_ahead *ahead, uint32_t *count);

/* Bytes of the file that the chunks so far came from. */
uint64_t mr_text_ahead_done_bytes(const mr_text_ahead *ahead);

#endif
