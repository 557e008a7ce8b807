/*
 * sweep: runs one whole-trace order on a file, from its bytes to the proofs of the races.
 *
 *   find     the races of the order (order/detect/detect.h). The streaming orders (hb, fhb, shb,
 *            wcp, hybrid) take the events from a stream and do not keep the trace; cp, syncp
 *            and c17 (for its memory orders) read the trace into memory. For wcp a regular file is read twice when the stream has no outlook
 *            (trace/outlook.h): the first pass makes the outlook, and with it wcp can forget
 *            sections.
 *   prove    needs the trace in memory, which is loaded when there is a race; of an .mrt file only the
 *            events that the proofs need (prefix.h), from blocks that the order has read (lean.h).
 *            fhb, shb, syncp: a witness for each static race, accepted by the checker. A rejected
 *            one is a bug of maxrace; its race is unknown (rejected).
 *            hb, cp, wcp, hybrid (`mark`): a static race that is also one of shb, or else of syncp, is
 *            proven by its witness; the others are candidates. The first race of hb is always one
 *            of shb. (The first race of cp and wcp need not be one: it may be a deadlock.)
 *            c17 likewise; what is left is a memory-order race, proven by the recorded order.
 *   confirm  (`confirm`) the decision procedure is asked about each candidate, on a window of
 *            window.size events around each example, or from the first access to the second when
 *            that is longer.
 *
 * With witness.check false, the trace is not loaded for fhb, shb and syncp, the checker is not
 * asked, and proven races are called sound. Input that cannot be read twice (standard input, a
 * pipe) is kept in memory from the start when races are to be proven.
 *
 *   mr_sweep_run | mr_sweep_run_trace → use → mr_sweep_free
 *
 * It reads files through src/trace and src/formats only, and prints nothing.
 */
#ifndef MR_SWEEP_SWEEP_H
#define MR_SWEEP_SWEEP_H

#include "base/halt.h"
#include "base/progress.h"
#include "config/config.h"
#include "order_result.h"
#include "trace/stream.h"

typedef struct mr_sweep {
    mr_order_result result;
    /* Names, counts and lines for a report, on loan. NULL: the run failed before there was
     * something to report. */
    const mr_trace *names;
    /* The trace with its columns, on loan; all of it when witness files are wanted, else perhaps only
     * the first events, which all witnesses are about. NULL: no witness needed it. */
    const mr_trace *trace;

    mr_stream *stream; /* owned */
    mr_trace *loaded;  /* owned */
    mr_trace *valued;  /* owned; NULL: the report needs no values, or `loaded` has them */
    mr_trace *lean;    /* owned, with names of the stream (lean.h) */
} mr_sweep;

/*
 * `halt` (NULL: nobody) and memory.limit_mb may end the run: MR_OK, with the races of the events
 * until then, and why in the result.
 *
 * Overwrites `sweep`; the caller calls mr_sweep_free in every case. After an error, when `names` is
 * not NULL, the result holds what was found and proven before it. MR_ERR_TRACE and
 * MR_ERR_IO (a damaged file: the events before the damage), MR_ERR_UNSUPPORTED (no result),
 * MR_ERR_CONFIG as mr_config_check, MR_ERR_MEMORY. `progress` may be NULL.
 */
mr_status mr_sweep_run(mr_sweep *sweep, const char *path, const mr_config *config,
                       const mr_progress *progress, mr_halt *halt, mr_error *error);

/* The same for a trace that is in memory already, which must outlive `sweep`. MR_ERR_UNSUPPORTED,
 * MR_ERR_CONFIG, MR_ERR_MEMORY. */
mr_status mr_sweep_run_trace(mr_sweep *sweep, const mr_trace *trace, const mr_config *config,
                             const mr_progress *progress, mr_halt *halt, mr_error *error);
void mr_sweep_free(mr_sweep *sweep);

#endif
