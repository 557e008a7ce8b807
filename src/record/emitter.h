/*
 * emitter: the events of a recorded program → an .mrt file. Only valid sequences of events are
 * written: what would break a rule (validity.h) is left out and counted, with the first reason.
 *
 *   mr_emitter_init → mr_emitter_add* → mr_emitter_finish → mr_emitter_free
 */
#ifndef MR_RECORD_EMITTER_H
#define MR_RECORD_EMITTER_H

#include "formats/mrt/mrt_write.h"
#include "trace/builder.h"
#include "trace/validity.h"

typedef struct mr_emitter_block mr_emitter_block;

typedef struct mr_emitter {
    mr_builder builder; /* names, values; its trace is `trace` */
    mr_trace *trace;    /* the names of threads, variables, locks are the caller's to add */
    mr_mrt_writer *writer;
    mr_emitter_block *block;
    mr_rows rows;
    mr_validity validity;
    uint64_t dropped_count;
    mr_error first_dropped; /* status MR_OK: none */
} mr_emitter;

/* An event; what the operation does not have is left out. */
typedef struct mr_emitted {
    mr_op op;
    uint32_t thread, operand, location, stack;
    bool has_value;
    int64_t value, written_value;
    const char *reach; /* mbegin: "x1,x2,…" */
} mr_emitted;

/* Writes to `file`, which stays the caller's. `path` is the name of the trace. Free in every case.
 */
mr_status mr_emitter_init(mr_emitter *emitter, FILE *file, const char *path, mr_error *error);
void mr_emitter_free(mr_emitter *emitter);

mr_status mr_emitter_add(mr_emitter *emitter, const mr_emitted *event, mr_error *error);
/* The last block and the end of the file. */
mr_status mr_emitter_finish(mr_emitter *emitter, mr_error *error);

#endif
