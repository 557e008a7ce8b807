/*
 * text_ahead: threads that read the text ahead of the one that takes its lines, look at them (text_look.h), and find the
 * numbers of locations that the trace has already. So all processors work on a text. They know nothing of numbers of lines or
 * errors of lines, and add no name: that is done by the taker, in the order of the file, so that it does not depend on
 * when the threads run.
 *
 * Of all names it is locations that nearly always are there already, and that no refused event takes back. To look for variables, too,
 * was tried: their slots, which the taker fills all the time, then go from processor to processor.
 *
 *   mr_text_ahead_start → (mr_lines_next | mr_text_ahead_lines)* → mr_text_ahead_stop
 *
 * From the start on, the lines get their bytes from the threads, in the chunks of a ring. A chunk
 * begins with what the one before it had of its last, incomplete line. One thread reads at a time.
 */
#ifndef MR_FORMATS_TEXT_AHEAD_H
#define MR_FORMATS_TEXT_AHEAD_H

#include "formats/pack/lines.h"
#include "text_look.h"
#include "trace/names.h"

typedef struct mr_text_ahead mr_text_ahead;

/* `chunk_bytes`: what is read at a time, at most MR_LINES_FILL_BYTES; 0: that. NULL: no memory, no
 * thread, or a wait for the input could not be ended; the lines then go on by themselves. `lines`,
 * `ops` and `locations`, which the taker adds to, must outlive it. */
mr_text_ahead *mr_text_ahead_start(mr_lines *lines, const mr_text_ops *ops, mr_names *locations,
                                   bool keep_values, size_t chunk_bytes);

/* Ends the threads, also while one waits for a pipe. The lines give no more afterwards. NULL is fine.
 */
void mr_text_ahead_stop(mr_text_ahead *ahead);

/* The lines from the next one of `lines` on that the threads have looked at, 0: none. Offsets are from
 * the start of the buffer. Valid until the next call of mr_lines_next. */
const mr_looked *mr_text_ahead_lines(mr_text_ahead *ahead, uint32_t *count);

/* Bytes of the file that the chunks so far came from. */
uint64_t mr_text_ahead_done_bytes(const mr_text_ahead *ahead);

#endif
