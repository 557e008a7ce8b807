/*
 * saved: the outcomes of earlier runs, and where those of this run are kept for a later one.
 *
 * A run takes outcomes from any number of files that are only read (the parts of a job array) and
 * from one file that it also appends to (the checkpoint). Because the outcome of a unit is a
 * function of trace, settings and unit (outcome.h), it does not matter who has decided it, and
 * when. What is damaged is left out and decided again. Nothing in a file is believed without need:
 * a race is taken only when the checker accepts its witness.
 *
 *   mr_saved_open → mr_saved_has | mr_saved_get | mr_saved_put → mr_saved_close
 *
 * For one thread.
 */
#ifndef MR_CHECKPOINT_SAVED_H
#define MR_CHECKPOINT_SAVED_H

#include "predict/outcome.h"
#include "saved_identity.h"

typedef struct mr_saved mr_saved;

/* A phase. */
typedef struct mr_saved_phase {
    uint32_t number; /* 0, 1, … */
    uint64_t units;
    uint64_t before; /* digest of all that was merged before it; 0: nothing was */
} mr_saved_phase;

typedef struct mr_saved_request {
    const char *file; /* to append to, and with `resume` to take from; NULL: none */
    bool resume;
    uint32_t shard, shards;   /* of `file`, for those who read it; 0: it is none */
    const char *const *parts; /* only to take from */
    size_t part_count;
    /* Is told of what was damaged, one line each, without a line end; NULL: nobody is. */
    void (*note)(void *context, const char *line);
    void *context;
} mr_saved_request;

/*
 * `*saved` is to be closed when MR_OK. MR_ERR_USAGE: `file` exists, and `resume` is not set.
 * MR_ERR_CONFIG: a file is no such file, or belongs to another trace, settings or version.
 * MR_ERR_IO, also when another run uses a file; MR_ERR_MEMORY. One pass over trace and files.
 */
mr_status mr_saved_open(const mr_saved_request *request, const mr_trace *trace,
                        const mr_config *config, mr_saved **saved, mr_error *error);

/* Could such a file be begun? MR_ERR_USAGE: it exists. For those who have long to go until they
 * open it. */
mr_status mr_saved_probe(const char *path, mr_error *error);

/* Sets the settings of `config` that decide the outcomes as those in the file `path` were made.
 * Errors as above. */
mr_status mr_saved_settings(const char *path, mr_config *config, mr_error *error);

/* Is there an outcome of a unit? O(log records), as is the next. */
bool mr_saved_has(const mr_saved *saved, const mr_saved_phase *phase, uint64_t unit);

/* The outcome of a unit that is there, owned by the caller. `*outcome` is NULL when it turns out to
 * be damaged: then it is there no more. MR_ERR_MEMORY. */
mr_status mr_saved_get(mr_saved *saved, const mr_saved_phase *phase, uint64_t unit,
                       mr_outcome **outcome, mr_error *error);

/* Who asked for it has found out that it cannot be that of the unit: it is there no more, and `why`
 * is noted. Of a unit that is not there, or of no `saved`, nothing is said. */
void mr_saved_refuse(mr_saved *saved, const mr_saved_phase *phase, uint64_t unit, const char *why);

/* Appends an outcome to the file, if there is one; what is put does not become there for `has` and
 * `get`. MR_ERR_IO: it could not be written, and nothing is any more; MR_ERR_MEMORY. */
mr_status mr_saved_put(mr_saved *saved, const mr_saved_phase *phase, const mr_outcome *outcome,
                       mr_error *error);

/* Puts the outcome into a digest; of outcomes in an order that is always the same. MR_ERR_MEMORY.
 */
mr_status mr_saved_digest(const mr_saved *saved, const mr_outcome *outcome, uint64_t *digest,
                          mr_error *error);

/* Of how many shards the first part that is a shard is one; 0: no part is. And the path of the part
 * that is this shard of so many, NULL: none is. */
uint32_t mr_saved_shards(const mr_saved *saved);
const char *mr_saved_part(const mr_saved *saved, uint32_t shard, uint32_t shards);

/* Everything on the disk: MR_ERR_IO when that cannot be had. Frees in every case. NULL is fine. */
mr_status mr_saved_close(mr_saved *saved, mr_error *error);

#endif
