/*
 * exclude: removes the events of some code from a full trace and puts BarrierPairs in their place
 * (docs/semantics.md 2.5). The RDIT paper makes incomplete traces from full ones in this way (section
 * 5.1). A user can make a trace smaller with it.
 *
 * The events of the chosen locations are *taken*. Each maximal run of taken events of a thread
 * becomes a call: mbegin(m:D) in the place of its first event and mend(m) in the place of its last
 * one, with their locations. D contains the variables, locks, semaphores and threads (fork, join)
 * that the events of the run name. The ids m are "x1", "x2", …; ids that the trace has already are
 * skipped. mbegin and mend events of the full trace are kept.
 *
 * Partners are taken together, so that the rest is a valid trace: an acquire with its release
 * (nested and shared ones, too), and a wait with the post of its unit (mr_trace: link). So when one
 * end of a section is chosen, the other end is taken with it. The reach sets keep this
 * synchronisation.
 *
 * Section 4 orders calls, but it does not say what they read and wrote. That is enough only when
 * each call could happen in one step and no kept event needs its values. Three more rules ensure
 * that every race of the remaining trace (models rf and value, `opaque: pair` and `simple`) is a
 * race of the full trace. `whole_runs` switches them off. "Touch" has the meaning of section 4.
 *
 *   (1) A taken event begins a new call when, since its call began, another thread touched an
 *       element that the call touched or that this event touches. Otherwise two events of other
 *       threads could both stand within the call, where the second needs the first because of what
 *       the call did between them, and no rule would keep their order.
 *   (2) When a taken event reads from a write, and several threads write this variable in events
 *       that are not taken, the write is taken, too. (In a trace with branch events, every such
 *       write is.) Otherwise these writes could change places, and the call would read another
 *       value.
 *   (3) When taken events write a variable, its kept accesses lose their values, so that its reads
 *       must see the same write. The same holds for a variable with taken accesses whose reads must
 *       see the same write in the full trace (semantics 2.6). Otherwise a read could see an old
 *       equal value that the call has overwritten.
 *
 * Why that is enough. Let rho be a reordering of the remaining trace. For every call whose mend is
 * in rho, put its taken events in the place of the mend. By section 4, each event of another thread
 * that touches an element of the call stands on the same side of the call as in the full trace, and
 * the events before the call are in rho. By (1) no such event stands between the events of the
 * call. So the locks, semaphores, forks and joins of the call are possible there. Its reads see
 * what they saw by (2), and the kept reads by (3). Two calls with a common element keep their
 * order, too.
 *
 * A call also ends when its reach set would make a line too long (512 KiB). A name with ',' cannot
 * stand in a reach set; D is then "*", everything. Texts for people are kept. Lines get new
 * numbers.
 */
#ifndef MR_EXCLUDE_EXCLUDE_H
#define MR_EXCLUDE_EXCLUDE_H

#include "base/halt.h"
#include "trace/trace.h"

typedef struct mr_exclude_options {
    const bool *chosen;  /* by location: its events are taken (choose.h); on loan */
    bool whole_runs;     /* one call for each run, without rules (1), (2) and (3) */
    bool no_calls;       /* leave the calls out: the trace of a detector that does not know them */
    const mr_halt *halt; /* ends it with mr_halt_fail; NULL: nobody does */
} mr_exclude_options;

typedef struct mr_exclude_counts {
    uint64_t events;    /* taken events */
    uint64_t locations; /* locations of the taken events */
    uint64_t calls;     /* calls in their place */
    uint64_t without;   /* kept accesses that lost their value by rule (3) */
} mr_exclude_counts;

/* Makes the remaining trace, owned by the caller (mr_trace_free); `counts` may be NULL.
 * MR_ERR_MEMORY; MR_ERR_TRACE when the calls make more events than a trace can have. O(events · log
 * of the events of a call). Memory: the new trace, 9 bytes an event, and what the calls reach. */
mr_status mr_exclude(const mr_trace *trace, const mr_exclude_options *options, mr_trace **remaining,
                     mr_exclude_counts *counts, mr_error *error);

#endif
