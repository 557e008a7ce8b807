/*
 * lean: the trace in memory for proofs of an order's races, from the stream that the order has read. It
 * has the columns, but no value, and the links; its names are those of the stream's dictionary, on
 * loan. Witnesses in model rf need no more. It takes less than half of the memory of a trace that is read anew, and
 * the file is not checked a second time.
 */
#ifndef MR_SWEEP_LEAN_H
#define MR_SWEEP_LEAN_H

#include "job.h"
#include "trace/index.h"

#include <pthread.h>

/* Such a trace while it is made. Zero-initialised: it is not. */
typedef struct mr_lean_making {
    const mr_sweep_job *job;
    uint64_t event_count; /* of the whole trace … */
    uint32_t variable_count;
    bool may_map;    /* pages of the file into the columns */
    bool maps;       /* some are there: what is written to the file is seen in them */
    mr_trace *trace; /* owned, and … */
    mr_index *index; /* … owned, as long as it is made */
    mr_status status;
    mr_error error;

    bool is_beside; /* a thread makes it … */
    pthread_t thread;
    bool is_threaded;      /* … and was not joined so far */
    pthread_mutex_t mutex; /* guards the rest */
    pthread_cond_t changed;
    uint64_t end;  /* events from here on are not wanted … */
    bool is_final; /* … ever */
} mr_lean_making;

/* Will such a trace not do, whatever the file holds? */
bool mr_lean_wants_more(const mr_sweep_job *job);

/* Will such a trace do, where there is a stream? After its end. */
bool mr_lean_is_enough(const mr_sweep_job *job);

/* A screen has met a race before event `met`, while the stream is read: a thread begins to make such a trace, or goes on, beside the
 * screen. Whether it will do is not known before mr_lean_start. */
void mr_lean_foresee(const mr_sweep_job *job, uint64_t met);

/* A thread begins to make such a trace, as soon as it is known that there will be something to prove, if it will do and there is a
 * processor for it. It is to be of all events, as long as mr_lean_load has not said where to stop. */
void mr_lean_start(const mr_sweep_job *job);

/* Can a trace of the events before `end` be had? Then the stream is at its first event again. */
bool mr_lean_begin(const mr_sweep_job *job, uint64_t end);

/* The events before `end`, and those of the block with the last of them, as `lean` and `trace` of the sweep. MR_ERR_MEMORY,
 * MR_ERR_HALTED, and MR_ERR_IO when the file has changed. */
mr_status mr_lean_load(const mr_sweep_job *job, uint64_t end);

/* After the proofs: MR_ERR_IO when columns are pages of the file, and it was written to. */
mr_status mr_lean_check(const mr_sweep_job *job);

/* Ends the making. Before the stream is closed. */
void mr_lean_drop(mr_lean_making *making);

/* Can mr_lean_whole be asked later, so that fewer events may be loaded first? */
bool mr_lean_may_grow(const mr_sweep_job *job);

/* All events into `lean`, which has the first ones. What refers to it but its event numbers is void. The same errors; `lean` is then as
 * it was. */
mr_status mr_lean_whole(const mr_sweep_job *job);
void mr_lean_free(mr_trace *lean); /* NULL is fine */

#endif
