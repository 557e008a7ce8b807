/*
 * emitter: writes the events of a recorded program to an .mrt file. The file is always a valid
 * trace: the emitter drops and counts an event that would break a rule (validity.h), and keeps the
 * reason of the first.
 *
 *   mr_emitter_init → mr_emitter_add* → mr_emitter_finish → mr_emitter_free
 */
#ifndef MR_RECORD_EMITTER_H
#define MR_RECORD_EMITTER_H

#include "base/bytes.h"
#include "formats/mrt/mrt_write.h"
#include "pairs.h"
#include "trace/builder.h"
#include "trace/validity.h"

typedef struct mr_emitter_block mr_emitter_block;

typedef struct mr_emitter {
    mr_builder builder; /* names, values; its trace is `trace` */
    mr_trace *trace;    /* the caller adds the names of threads, variables and locks */
    mr_mrt_writer *writer;
    mr_emitter_block *block;
    mr_rows rows;
    mr_validity validity;
    const mr_pairs *codes; /* on loan, of positions.h; NULL: there are no positions */
    uint32_t codes_written;
    uint64_t *last_position; /* by thread */
    size_t last_count, last_capacity;
    mr_bytes positions; /* of the block */
    uint64_t dropped_count;
    mr_error first_dropped; /* status MR_OK: none */
} mr_emitter;

/* An event. Fields that its operation does not have are ignored. */
typedef struct mr_emitted {
    mr_op op;
    mr_memory_order memory_order;
    uint32_t thread, operand, location, stack;
    bool has_value;
    int64_t value, written_value;
    const char *reach; /* mbegin: "x1,x2,…" */
    uint64_t position; /* see positions.h */
    uint32_t code;
    bool is_whole; /* the event is all of its operation */
} mr_emitted;

/* Writes to `file`, which the caller closes. `path` is the name of the trace. The caller calls
 * mr_emitter_free in every case. */
mr_status mr_emitter_init(mr_emitter *emitter, FILE *file, const char *path, mr_error *error);
void mr_emitter_free(mr_emitter *emitter);

/* The variable belongs to the object from now on; both are numbers of names. An object that has been
 * put into another one stays there. MR_ERR_MEMORY. */
mr_status mr_emitter_member(mr_emitter *emitter, uint32_t variable, uint32_t object,
                            mr_error *error);

mr_status mr_emitter_add(mr_emitter *emitter, const mr_emitted *event, mr_error *error);
/* Writes the last block and the end of the file. */
mr_status mr_emitter_finish(mr_emitter *emitter, mr_error *error);

#endif
