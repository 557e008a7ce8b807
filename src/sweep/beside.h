/*
 * beside: what several passes over the trace in memory share, and the races of a sound order, found
 * by a thread beside the caller's, which in the meantime runs another order or builds the checker.
 *
 *   mr_beside_start → (other work) → mr_beside_take → mr_beside_free
 *
 * What is found does not depend on the thread. With `jobs: 1`, on one processor, and for a short
 * trace there is none: mr_beside_take does the work.
 */
#ifndef MR_SWEEP_BESIDE_H
#define MR_SWEEP_BESIDE_H

#include "job.h"
#include "lean.h"
#include "order/detector.h"
#include "order/screen.h"
#include "order/syncp/syncp.h"
#include "parted.h"
#include "prefix.h"
#include "shown.h"

#include <pthread.h>
#include <stdatomic.h>

/* A pass over fewer events takes less than a millisecond. */
enum { MR_BESIDE_LEAST = 1 << 16 };

/* The races of one sound order. Zero-initialised: not started. */
typedef struct mr_beside {
    mr_relation relation;
    bool started;  /* it was, and nobody has taken the races */
    bool threaded; /* the thread was not joined so far */
    pthread_t thread;
    const mr_trace *trace;
    mr_detect_options options;
    mr_race_list found;
    mr_syncp_index *index; /* syncp: for questions about the races found; NULL: none */
    mr_status status;
    mr_error error;
} mr_beside;

/* Which of the candidates that shb leaves have no sync-preserving race (parted.h). Zero-initialised: not started. */
typedef struct mr_beside_parted {
    pthread_t thread;
    bool threaded;        /* it was not joined so far */
    atomic_bool unwanted; /* nobody will ask */
    const mr_sweep_job *job;
    const mr_trace *trace;
    const mr_outlook *outlook; /* may be NULL */
    mr_parted *parted;         /* NULL: not known */
} mr_beside_parted;

typedef struct mr_sweep_shared {
    mr_outlook outlook; /* of the trace in memory */
    bool has_outlook;
    mr_barrier_edges edges; /* of its calls */
    bool has_edges;
    mr_wanted left; /* what is left for syncp; empty: not known */
    mr_beside shb, syncp;
    mr_beside_parted parted; /* of `left` */
    mr_ahead ahead;
    mr_lean_making lean;
    mr_shown shown;    /* hb: which of its races shb has */
    mr_screen *screen; /* hb, fhb, shb: once one of them has looked at the trace */
    bool of_stream;    /* it is of the stream: a trace that is read again may have other numbers */
} mr_sweep_shared;

/* Options for passes over the trace in memory, with what they share. What there is no memory for is
 * left out: mr_detect tries again, and fails. */
mr_detect_options mr_sweep_options(const mr_sweep_job *job, const mr_trace *trace,
                                   uint32_t most_examples);

/* Starts a thread that looks for the races of a sound order, one example a race; when it was started
 * before, or there can be no thread, nothing happens. */
void mr_beside_start(mr_beside *beside, const mr_sweep_job *job, mr_relation relation,
                     const mr_trace *trace);

/* The races are known: mr_beside_take hands them out. Takes the list over. */
void mr_beside_give(mr_beside *beside, mr_relation relation, mr_race_list *found);

/* Waits for the races, or finds them, when no thread does. The caller frees the list in every case,
 * and, after syncp, `*index`. The status is that of mr_detect. */
mr_status mr_beside_take(mr_beside *beside, const mr_sweep_job *job, mr_relation relation,
                         const mr_trace *trace, mr_race_list *found, mr_syncp_index **index,
                         mr_error *error);

/* All races of the order are races of shb by what `shared->shown` has seen: mr_beside_take hands them out. False: they are not, or
 * that is not known. */
bool mr_beside_give_shown(const mr_sweep_job *job);

/* Begins to look which of the pairs of `left` are parted, in a thread, if there can be one. `trace` may have the first events of the
 * stream alone; all are looked at. */
void mr_beside_start_parted(const mr_sweep_job *job, const mr_trace *trace);

/* Waits for that. `shared->parted.parted` is NULL when nothing is known: no memory, or a halt. */
void mr_beside_wait_parted(const mr_sweep_job *job);
void mr_beside_drop_parted(mr_beside_parted *beside);

/* Waits for the threads. */
void mr_sweep_shared_free(mr_sweep_shared *shared);

#endif
