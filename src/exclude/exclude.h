/*
 * exclude: a full trace without the events of some code, with calls in their place whose inside
 * was not recorded (docs/semantics.md 4). This is how the RDIT paper makes incomplete traces from
 * full ones (section 5.1); a user makes a trace smaller with it.
 *
 * The events of the chosen locations are *taken*. Each maximal run of taken events of a thread
 * becomes mbegin(m:D) and mend(m), at the places and with the locations of its first and its last
 * event; D are the variables, locks, semaphores and threads (fork, join) that its events name. Ids
 * m are "x1", "x2", …, without those that the trace has. mbegin and mend that are there already are
 * kept.
 *
 * For the rest to be a valid trace, partners are taken together: the acquire and release of a pair
 * (nested ones and shared ones likewise), and the post and wait of a unit (mr_trace: link). So one
 * chosen end of a critical section takes the other end out, too: the user does not see the
 * synchronisation, which stays in the reach sets.
 *
 * Section 4 says in which order calls stand, not what they read and wrote. That is enough only for
 * calls that could be one step each and whose values nobody needs. So that every race of the
 * remaining trace (rf and value, `opaque: pair` and `simple`) is one of the full trace, moreover,
 * unless `whole_runs`:
 *
 *   (1) A call is ended, and another one begun, before a taken event when since the call began
 *       another thread touched something that the call touched or that this event touches (the
 *       words are those of section 4). Else two events of other threads could both stand within the
 *       call, the second needing the first by what the call did in between, and no rule would keep
 *       their order.
 *   (2) A write that a taken event reads from is taken, too, when several threads write the
 *       variable in events that are not taken (in a trace with branch events: every such write).
 *       Else these writes could change places, and the call would read something else.
 *   (3) Kept accesses of a variable that taken events write lose their values, and so do those of
 *       one that is treated by its sources in the full trace (semantics 2.6) and has taken
 *       accesses: it is then treated by its sources. Else a read could be given an old equal value
 *       that the call has overwritten.
 *
 * Why that is enough. Let rho be a reordering of the remaining trace. Put the taken events of a
 * call where its mend is, for every call whose mend is in rho. By section 4, everything of other
 * threads that touches what the call touches stands on the same side of it as in the full trace,
 * and what came before it is there; with (1) nothing of it is between the call's own events. So
 * locks, semaphores, forks and joins of the call are possible there, its reads see what they saw
 * (with (2)), and by (3) so do the kept ones. Two calls with a common element keep their order,
 * too.
 *
 * A reach set that would make a line too long (512 KiB) ends the call likewise, and a name with ','
 * in it cannot stand in a reach set, so that D is "*", everything. Names for people are kept; lines
 * are numbered anew.
 */
#ifndef MR_EXCLUDE_EXCLUDE_H
#define MR_EXCLUDE_EXCLUDE_H

#include "trace/trace.h"

typedef struct mr_exclude_options {
    const bool *chosen; /* one a location: which are taken out (choose.h); on loan */
    bool whole_runs;    /* exactly one call a run, without (1), (2) and (3); see above */
    bool no_calls;      /* leave the calls out: what a detector that knows nothing of them sees */
} mr_exclude_options;

typedef struct mr_exclude_counts {
    uint64_t events;    /* that were taken */
    uint64_t locations; /* that these have */
    uint64_t calls;     /* that stand in their place */
    uint64_t without;   /* accesses kept that lost their value, (3) */
} mr_exclude_counts;

/* Makes the remaining trace, owned by the caller (mr_trace_free); `counts` may be NULL.
 * MR_ERR_MEMORY; MR_ERR_TRACE when the calls make more events than a trace can have. O(events · log
 * of the events of a call). Memory: the new trace, 9 bytes an event, and what the calls reach. */
mr_status mr_exclude(const mr_trace *trace, const mr_exclude_options *options, mr_trace **remaining,
                     mr_exclude_counts *counts, mr_error *error);

#endif
