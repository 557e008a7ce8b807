/*
 * checkpoint: the outcomes of earlier runs, and the file to which this run appends its own.
 *
 * A run takes outcomes from one file to which it also appends (its checkpoint), and from any number
 * of files that it only reads (the parts of a job array). All files must have the identity of the
 * run (identity.h), since the outcome of a unit is a function of trace, settings and unit: it does
 * not matter which run has decided the unit, and when. A damaged record is left out, and its unit
 * decided again. Outcomes are bytes here; whoever gets them decides whether to believe them.
 *
 *   mr_checkpoint_open → mr_checkpoint_has | _get | _refuse | _put → mr_checkpoint_close
 *
 * Whoever shares out units uses the same functions as a store (mr_checkpoint_store). For one
 * thread.
 */
#ifndef MR_CHECKPOINT_CHECKPOINT_H
#define MR_CHECKPOINT_CHECKPOINT_H

#include "base/store.h"
#include "identity.h"

typedef struct mr_checkpoint mr_checkpoint;

typedef struct mr_checkpoint_request {
    const char *file; /* to append to, and with `resume` to take from; NULL: none */
    bool resume;
    uint32_t shard, shards;   /* of a new `file`; 0: it is of a whole run */
    const char *const *parts; /* files only to take from */
    size_t part_count;
    /* Is told of each damage, in one line without a line end; NULL: nobody is. */
    void (*note)(void *context, const char *line);
    void *context;
} mr_checkpoint_request;

/*
 * `own`: the identity of this run, used during the call only. `*checkpoint` is to be closed when
 * MR_OK. MR_ERR_USAGE: `file` exists, and `resume` is not set. MR_ERR_CONFIG: a file is no
 * checkpoint, or has another identity. MR_ERR_IO, also when another run uses a file; MR_ERR_MEMORY.
 * One pass over the files.
 */
mr_status mr_checkpoint_open(const mr_checkpoint_request *request, const mr_identity *own,
                             mr_checkpoint **checkpoint, mr_error *error);

/* Could a new checkpoint be begun at `path`? MR_ERR_USAGE: the file exists. For a run that opens
 * its checkpoint long after it has started. */
mr_status mr_checkpoint_probe(const char *path, mr_error *error);

/* The identity in the file `path`, to be freed also after an error. Errors as of opening. */
mr_status mr_checkpoint_identity(const char *path, mr_identity *identity, mr_error *error);

/* The functions of mr_store; O(log records), but for `put`. A failed `put` is MR_ERR_IO, once: then
 * nothing is written any more, and further calls are MR_OK. */
bool mr_checkpoint_has(const mr_checkpoint *checkpoint, const mr_store_phase *phase, uint64_t unit);
const uint8_t *mr_checkpoint_get(const mr_checkpoint *checkpoint, const mr_store_phase *phase,
                                 uint64_t unit, size_t *count);
void mr_checkpoint_refuse(mr_checkpoint *checkpoint, const mr_store_phase *phase, uint64_t unit,
                          const char *why);
mr_status mr_checkpoint_put(mr_checkpoint *checkpoint, const mr_store_phase *phase, uint64_t unit,
                            const uint8_t *bytes, size_t count, mr_error *error);
mr_store mr_checkpoint_store(mr_checkpoint *checkpoint);

/* The number of shards of the job array that the first part with a shard belongs to; 0: no part is
 * a shard. */
uint32_t mr_checkpoint_shards(const mr_checkpoint *checkpoint);
/* The path of the part that is this shard of so many; NULL: no part is. */
const char *mr_checkpoint_part(const mr_checkpoint *checkpoint, uint32_t shard, uint32_t shards);

/* Brings everything to the disk: MR_ERR_IO when that fails. Frees in every case. NULL is fine. */
mr_status mr_checkpoint_close(mr_checkpoint *checkpoint, mr_error *error);

#endif
