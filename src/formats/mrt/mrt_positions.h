/*
 * mrt_positions: what a replay needs of an .mrt file: where each event stands in the recorded
 * program, and the run. Other readers pass over these chunks.
 *
 * Position. The instrumented operations of a thread are numbered 0, 1, … as the recorder counts them
 * (mr_log_counts in runtime/log.h), those that were left out of the trace included. The position of
 * an event is the number of its operation; an operation may have several events, or none.
 *
 * Code. The place of the operation in the program: module, offset, and kind of the log record.
 *
 * In a POSITIONS chunk the numbers of an event are the position less that of the event before it of
 * the same thread (0 for the first), and the number of its code, 0, 1, … in the order of the file.
 */
#ifndef MR_FORMATS_MRT_POSITIONS_H
#define MR_FORMATS_MRT_POSITIONS_H

#include "base/bytes.h"
#include "trace/trace.h"

#include <stdio.h>

/* A code: bits 0..39 offset from the module's start, 40..51 number of the module plus 1 (0: none),
 * 52..57 kind of record, 58: the event is all of the operation, so their values are the same. */
enum { MR_CODE_MODULE_SHIFT = 40, MR_CODE_KIND_SHIFT = 52, MR_CODE_WHOLE_SHIFT = 58 };
enum { MR_CODE_MODULES_MAX = 4094 };

static inline uint64_t mr_code_offset(uint64_t code)
{
    return code & (((uint64_t)1 << MR_CODE_MODULE_SHIFT) - 1);
}

/* Plus 1; 0: none. */
static inline unsigned mr_code_module(uint64_t code)
{
    return (unsigned)(code >> MR_CODE_MODULE_SHIFT & 0xfff);
}

static inline unsigned mr_code_kind(uint64_t code)
{
    return (unsigned)(code >> MR_CODE_KIND_SHIFT & 0x3f);
}

static inline bool mr_code_is_whole(uint64_t code)
{
    return (code >> MR_CODE_WHOLE_SHIFT & 1) != 0;
}

/* Zero-initialise; free with mr_positions_free. */
typedef struct mr_positions {
    uint64_t *position; /* by event */
    uint32_t *code;     /* by event: number in `codes` */
    uint32_t event_count;
    uint64_t *codes;
    uint32_t code_count;
    char *
        run; /* lines KEY VALUE, with "\\n" for a newline and "\\\\" for a backslash in values; NULL: none */
} mr_positions;

/* Adds a line "KEY VALUE" of a run: in the value a newline becomes "\\n", a backslash "\\\\". */
void mr_run_line(mr_bytes *lines, const char *key, const char *value);

/* Reads them of the file of this trace. What the file lacks is NULL. MR_ERR_TRACE: the chunks are
 * damaged; MR_ERR_IO, MR_ERR_MEMORY. */
mr_status mr_positions_read(const char *path, const mr_trace *trace, mr_positions *positions,
                            mr_error *error);
/* Writes what the recorded program got from outside to `to`; false in `found`: the file has none.
 * Errors as above, and MR_ERR_IO for `to`. */
mr_status mr_mrt_inputs(const char *path, FILE *to, bool *found, mr_error *error);

void mr_positions_free(mr_positions *positions);

#endif
