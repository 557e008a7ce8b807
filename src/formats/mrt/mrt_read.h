/*
 * mrt_read: traces in the binary format .mrt (mrt_format.h), block by block as stream.h, or whole.
 *
 *   mr_mrt_open → mr_mrt_next* → mr_mrt_close
 *
 * A regular file is mapped, and the columns of a block are used where they are: nothing is parsed,
 * copied or looked up by name. What is checked on the way: the checksums of what is used (values
 * are not), every number, the rules of validity.h, and the outlook (mrt_check.h); when it is read
 * whole, values and names that come twice, too. About 2 ns an event.
 *
 * Damage is an error that says where in the file; every event before it has been given. With repair
 * the trace ends there, and the rest counts as one dropped line.
 */
#ifndef MR_FORMATS_MRT_READ_H
#define MR_FORMATS_MRT_READ_H

#include "formats/pack/input.h"
#include "mrt_format.h"
#include "trace/events.h"
#include "trace/outlook.h"
#include "trace/stream.h"

typedef struct mr_mrt mr_mrt;

/* Is the file at `path`, of which `input` is at the first byte, an .mrt file? An empty one is when
 * it is called so: no text is known by its name, but this one lost what it had. */
bool mr_mrt_is(const char *path, const mr_input *input);

/*
 * `input` is the same file at its first byte; it is read when the file cannot be mapped (standard
 * input). It is taken over, also on failure. `options` may be NULL. Errors as mr_trace_read, with
 * their place.
 */
mr_status mr_mrt_open(const char *path, mr_input *input, const mr_read_options *options,
                      mr_mrt **mrt, mr_error *error);
void mr_mrt_close(mr_mrt *mrt); /* NULL is fine */

/* These are mr_stream_next, mr_stream_outlook and mr_stream_dictionary. The names of the dictionary
 * cannot be looked up (mr_names_find). An outlook is known when the file is mapped and its end is
 * there. */
mr_status mr_mrt_next(mr_mrt *mrt, mr_events *events, mr_error *error);
const mr_outlook *mr_mrt_outlook(const mr_mrt *mrt);
const mr_trace *mr_mrt_dictionary(const mr_mrt *mrt);

/* The same as a stream. */
mr_status mr_mrt_stream_open(const char *path, mr_input *input, const mr_read_options *options,
                             mr_stream **stream, mr_error *error);

/* The whole trace, as mr_trace_read. Takes the input over. */
mr_status mr_mrt_read(const char *path, mr_input *input, const mr_read_options *options,
                      mr_trace **trace, mr_error *error);

#endif
