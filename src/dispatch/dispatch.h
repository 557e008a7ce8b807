/*
 * dispatch: shares out the units of a phase, and merges their outcomes in order.
 *
 * A phase has a number of units. A unit is a number, and can be decided without the other units of
 * its phase. An outcome is what was found in a unit. Dispatch knows nothing of what is in an
 * outcome: it hands outcomes on, and sends and keeps them as bytes.
 *
 * Units are decided by
 *
 *   - the threads of this process,
 *   - the threads of the other ranks, when there is a team (team.h),
 *   - earlier runs, when there is a store with their outcomes (base/store.h).
 *
 * The calling thread merges the outcomes in the order of the units (but see mr_phase.last_first). In a team, the calling
 * thread of each rank does so.
 *
 * A run may be one shard of a job array. A shard decides its share of the units of the first phase (mr_shard_of), puts
 * their outcomes into its store, and merges nothing. A later run takes the
 * outcomes of all shards from their stores, merges them, and runs the other phases.
 */
#ifndef MR_DISPATCH_DISPATCH_H
#define MR_DISPATCH_DISPATCH_H

#include "base/bytes.h"
#include "base/debug.h"
#include "base/halt.h"
#include "base/progress.h"
#include "base/store.h"
#include "team.h"

/* Defined by whoever decides units. */
typedef struct mr_outcome mr_outcome;

/* What can be done with the outcomes of all phases. */
typedef struct mr_outcome_kind {
    void *context;
    /* Appends the outcome to the bytes; the same outcome gives the same bytes. False: no memory. */
    bool (*encode)(void *context, const mr_outcome *outcome, mr_bytes *bytes);
    /* The outcome of a unit from its bytes, which may be anything. NULL: no memory or, with
     * `*damaged` set, the bytes are not those of an outcome of this unit. */
    mr_outcome *(*decode)(void *context, uint64_t unit, const uint8_t *bytes, size_t count,
                          bool *damaged);
    void (*free)(mr_outcome *outcome); /* NULL is fine */
    /* Would every run find this outcome? Only such outcomes are put into the store. NULL: yes. */
    bool (*is_final)(const mr_outcome *outcome);
    /* Was the run halted before the unit was decided, so that the outcome is only a part? Such an
     * outcome is merged, but the unit stays missing. NULL: no. */
    bool (*is_cut)(const mr_outcome *outcome);
    /* Is an outcome from the store, or of a rank with a part of the input, to be believed? MR_ERR_INTERNAL, with the
     * reason: no; the unit is decided again. NULL: yes. */
    mr_status (*check)(void *context, const mr_outcome *outcome, mr_error *error);
    /* Counts a unit for the worker that has decided it, in so many seconds. False: no memory.
     * NULL: nobody counts. */
    bool (*count)(void *context, uint32_t rank, uint32_t worker, double seconds);
} mr_outcome_kind;

typedef struct mr_phase {
    void *context;
    const char *stage; /* for the progress */
    uint64_t count;    /* units 0 … count - 1; the same on all ranks */
    bool last_first;   /* the last unit takes longest, and is decided and merged first */
    /* Decides a unit, by worker number 0 … jobs - 1; a worker decides one unit at a time. Number `jobs` is the calling thread, when an
     * outcome of a rank with a part of the input was refused. After a
     * failure `*outcome` may hold what was found before. When the run is halted meanwhile,
     * `*outcome` stays NULL or is cut. */
    mr_status (*decide)(void *context, unsigned worker, uint64_t unit, mr_outcome **outcome,
                        mr_error *error);
    /* Prepares an outcome that is merged next: changes it, or frees it and puts another one in its
     * place. NULL: outcomes need no preparation. By the calling thread; in a team, on rank 0 only:
     * the other ranks get the prepared outcome. */
    mr_status (*prepare)(void *context, mr_outcome **outcome, mr_error *error);
    /* Merges an outcome, which stays the caller's. By the calling thread, in the order of the units (but see last_first). After
     * a failure, or when the run is halted, some units are missing. */
    mr_status (*merge)(void *context, mr_outcome *outcome, mr_error *error);
} mr_phase;

typedef struct mr_dispatch {
    const mr_outcome_kind *kind;
    unsigned jobs;               /* threads of this process, at least 1 */
    const mr_halt *halt;         /* NULL: nobody stops the run */
    const mr_progress *progress; /* NULL: nobody wants to know */
    const mr_debug *debug;       /* NULL: nobody listens */
    mr_team *team;               /* NULL: this process is alone */
    const mr_store *store;       /* NULL: none; in a team, rank 0 alone may have one */
    uint32_t shard, shards;      /* this run is shard 1 … shards; 0: it decides all units */
    /* Of the phases so far: */
    uint32_t phase_count;
    uint64_t digest; /* of all outcomes that were merged; with a store only */
    uint64_t plan;   /* of all that was noted (mr_dispatch_note) */
    uint64_t units_saved, units_decided;
    uint64_t units_missing; /* of the last phase: units without an outcome */
} mr_dispatch;

/*
 * The shard, 1 … shards, that decides a unit. Units come in runs, so that a shard need not read all of a trace. Each shard
 * has two to eight runs of the same length, so that all shards share a stretch of hard units: more where they are long, since the begin of a run
 * costs half a block of events (formats/mrt/mrt_part.h) on average, and a window has five thousand of its own.
 */
uint32_t mr_shard_of(uint64_t unit, uint64_t units, uint32_t shards);

/*
 * Of the ranks of a team, each but rank 0 has a share of the units of a phase; rank 0 decides units of all shares, and those of none. A rank
 * that has only a part of the input decides units of its share alone. It begins before rank 0 does, with the units of its share that
 * are in the first half of the phase, and gets the others from rank 0.
 */
bool mr_is_of_rank(uint64_t unit, uint64_t units, unsigned rank, unsigned size);
bool mr_is_ahead(uint64_t unit, uint64_t units);

/*
 * Notes something besides outcomes that the units of later phases depend on, and that may differ between ranks or runs: such as how far
 * a search came in the memory that is left. Ranks that differ in it end with MR_ERR_MEMORY, as a unit of one is another
 * unit for the other; a store has no outcome for a run that differs.
 */
void mr_dispatch_note(mr_dispatch *dispatch, const void *bytes, size_t count);

/*
 * Runs a phase to its end, to a failure, or until the run is halted. In each case all outcomes that
 * there are have been merged, unless the run is a shard. A phase may depend on what was merged
 * before it, and on nothing else: saved outcomes are found by the number of the phase and the
 * digest of what was merged before. In a team every rank calls it. On ranks other than 0, MR_OK
 * without all outcomes means that rank 0 has ended the run; then team->halt is set. Errors: of the
 * callbacks and of the store; MR_ERR_MEMORY; in a team also MR_ERR_IO and MR_ERR_INTERNAL (team.h).
 */
mr_status mr_dispatch_run(mr_dispatch *dispatch, const mr_phase *phase, mr_error *error);

#endif
