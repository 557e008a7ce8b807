/*
 * mrt_names: the NAMES, TEXTS, TYPES, LINES and MEMBERS chunks of an .mrt file → the tables of a trace. Names are
 * checked against the grammar of the text format (parse.h), so that every trace has a text.
 */
#ifndef MR_FORMATS_MRT_NAMES_H
#define MR_FORMATS_MRT_NAMES_H

#include "mrt_format.h"
#include "trace/validity.h"

/* How names are kept. */
typedef enum mr_mrt_keep {
    MR_MRT_KEEP_COPY, /* copied and indexed (mr_names_take); a name that comes twice is an error */
    MR_MRT_KEEP_LOAN, /* the payload stays: only pointers to it; such names cannot be looked up */
} mr_mrt_keep;

/* Each takes one chunk. MR_ERR_TRACE (a text without place), MR_ERR_MEMORY; of a refused chunk
 * nothing is kept, or the names before the wrong one. */
mr_status mr_mrt_names_read(mr_trace *trace, const mr_mrt_chunk *chunk,
                            const unsigned char *payload, mr_mrt_keep keep, mr_error *error);
mr_status mr_mrt_texts_read(mr_trace *trace, const mr_mrt_chunk *chunk,
                            const unsigned char *payload, mr_mrt_keep keep, mr_error *error);
/* Types are copied. */
mr_status mr_mrt_types_read(mr_trace *trace, const mr_mrt_chunk *chunk,
                            const unsigned char *payload, mr_error *error);
/* `first` is the number of the next event. Also MR_ERR_IO (spill.h). */
mr_status mr_mrt_lines_read(mr_trace *trace, const mr_mrt_chunk *chunk,
                            const unsigned char *payload, uint64_t first, mr_error *error);
/* Which variable belongs to which object. Whether a variable that earlier events may use was
 * accessed before its object was allocated, is not asked here (mrt_load.c). */
mr_status mr_mrt_members_read(mr_trace *trace, mr_validity *validity, const mr_mrt_chunk *chunk,
                              const unsigned char *payload, mr_error *error);

#endif
