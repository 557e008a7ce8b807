/*
 * barrier_check: has every event happened that opaque calls put before a given event? Internal to
 * src/witness, for the checker. It applies the definition (docs/semantics.md 2.5) to the events
 * themselves, and shares nothing with opaque/barrier_pairs.h.
 *
 * An event f of thread t needs an event e < f of another thread when
 *
 *   (1) f lies in a call c, e in a call d, and D(c) and D(d) have a common element;
 *   (2) f lies in a call c, and e touches D(c);
 *   (3) e lies in a call d, and f touches D(d).
 *
 * A name touches what it names: an access its variable, an operation of a lock or semaphore that,
 * the first and the last event of a thread (its begin and end, where it has them) the thread. "*"
 * stands for everything: it touches all of these, and is common with every call that reaches
 * anything. A free is a write of all variables of its object, and touches their names.
 *
 * It is enough to look for one e that has not happened.
 *
 * (1) and (2): look at the events before f, backwards, up to the event f' before f in its thread.
 *   When f is no mbegin, every call that f lies in holds f' too, so what f needs by (1) and (2)
 *   before f' is needed by f' as well. f' has happened, hence so has that: in the window because
 *   f' was asked about before it was done, before the window because all of it happened. When f is
 *   an mbegin, look on to the start of the window: its call is new. Over a whole witness this looks
 *   at each event of the window once a thread that has calls, and once an mbegin that is listed.
 * (3): for each name that f touches and each other thread u, the calls of u that reach the name are
 *   intervals of which only the outermost count, one after the other. Let [b, m] be the last of
 *   these with b < f. u has done a prefix of its events, and the next one is n. If n > m or n > f,
 *   everything of u in such calls before f has happened. Else max(n, b) has not, or is not needed
 *   by f itself but lies in the call and before f. Two binary searches a thread.
 */
#ifndef MR_WITNESS_BARRIER_CHECK_H
#define MR_WITNESS_BARRIER_CHECK_H

#include "base/model.h"
#include "replay.h"

typedef struct mr_witness_call {
    uint32_t begin, end;             /* mbegin and mend; end MR_NONE: it never returns */
    uint32_t outer;                  /* the call around it, MR_NONE: there is none */
    uint32_t first_name, name_count; /* D, in `names`, in order */
} mr_witness_call;

/* A call by a name that it reaches. */
typedef struct mr_call_interval {
    uint32_t name, thread, begin, end;
} mr_call_interval;

/* A variable of an object, by a name that some call lists. */
typedef struct mr_freed_name {
    uint32_t object, name;
} mr_freed_name;

typedef struct mr_witness_calls {
    const mr_trace *trace;
    mr_opaque mode;
    bool none; /* nothing to ask: no calls, or they are to be ignored */
    uint32_t star;
    /* by number of a variable, lock or thread: the name in reach_names, MR_NONE: no call lists it
     */
    uint32_t *of_variable, *of_lock, *of_thread;
    mr_freed_name *freed; /* by (object, name) */
    uint32_t freed_count;
    bool *has_variables; /* by object */
    uint32_t *innermost; /* event: number of the innermost call it lies in, or MR_NONE */
    mr_spill memory;     /* of that */
    mr_witness_call *calls;
    size_t call_count, call_capacity;
    mr_u32s names;
    mr_call_interval *intervals; /* by (name, thread, begin), the outermost ones */
    size_t interval_count;
} mr_witness_calls;

/* O(events + names of all calls, sorted). Memory: 4 bytes an event when there are calls. False: no
 * memory; to be freed nevertheless. */
bool mr_witness_calls_init(mr_witness_calls *calls, const mr_trace *trace, mr_opaque mode);
void mr_witness_calls_free(mr_witness_calls *calls);

/* An event that must happen before `event`, the next one of its thread, and has not; MR_NONE: there
 * is none. Every event done since the start of the window was asked about before. */
uint32_t mr_witness_calls_unmet(const mr_witness_calls *calls, const mr_replay *replay,
                                uint32_t event);

/* Do calls keep `earlier` before `later`, an event of another thread that comes later in the trace?
 * O(depth of calls). */
bool mr_witness_calls_keep(const mr_witness_calls *calls, const mr_replay *replay, uint32_t earlier,
                           uint32_t later);

#endif
