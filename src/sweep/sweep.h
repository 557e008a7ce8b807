/*
 * sweep: one whole-trace order run on a file, from the bytes to what is proven of each race.
 *
 *   find   the races of the order (order/detect.h). The streaming orders (hb, fhb, shb, wcp) take
 *          the events from a stream, the trace is not kept; cp and syncp read it into memory.
 *          wcp goes over a regular file twice when the stream cannot say beforehand what the file
 *          holds: the first pass makes the outlook that lets it forget what nobody needs.
 *   prove  with a trace in memory, which is loaded for it when there is a race:
 *          fhb, shb, syncp: a witness for each static race, accepted by the checker. A refused one
 *          is a bug; its race is unknown (rejected).
 *          hb, cp, wcp (`mark`): a static race that is also one of shb, or else of syncp, is proven
 *          by its witness; the others are candidates. The first race of hb is always one of shb.
 *          (The first race of cp and wcp need not be one: it may be a deadlock.)
 *   confirm  (`confirm`) each candidate goes to the decision procedure, on a window of window.size
 *          events around its examples, or from the first access to the second where that is longer.
 *
 * With witness.check false nothing is loaded or checked for fhb, shb and syncp, and what is proven
 * is called sound. What cannot be read twice (standard input, a pipe) is kept in memory from the
 * start when something is to be proven.
 *
 *   mr_sweep_run | mr_sweep_run_trace → use → mr_sweep_free
 *
 * Knows files through src/trace only, prints nothing; knows no report formats.
 */
#ifndef MR_SWEEP_SWEEP_H
#define MR_SWEEP_SWEEP_H

#include "base/progress.h"
#include "config/config.h"
#include "order_result.h"
#include "trace/stream.h"

typedef struct mr_sweep {
    mr_order_result result;
    /* Names, counts and lines for a report, on loan; NULL: the run failed so early that there is
     * nothing to report. */
    const mr_trace *names;
    /* With columns, for witness files; NULL: it was not needed. On loan. */
    const mr_trace *trace;

    mr_stream *stream; /* owned */
    mr_trace *loaded;  /* owned */
} mr_sweep;

/*
 * Overwrites `sweep`, which is freed with mr_sweep_free also after an error. After an error the
 * result, if `names` is there, holds what was found and proven before it: MR_ERR_TRACE and
 * MR_ERR_IO (a damaged file: the events before the damage), MR_ERR_UNSUPPORTED (no result),
 * MR_ERR_CONFIG as mr_config_check, MR_ERR_MEMORY. `progress` may be NULL.
 */
mr_status mr_sweep_run(mr_sweep *sweep, const char *path, const mr_config *config,
                       const mr_progress *progress, mr_error *error);

/* The same for a trace that is in memory already, which must outlive `sweep`. MR_ERR_UNSUPPORTED,
 * MR_ERR_CONFIG, MR_ERR_MEMORY. */
mr_status mr_sweep_run_trace(mr_sweep *sweep, const mr_trace *trace, const mr_config *config,
                             const mr_progress *progress, mr_error *error);
void mr_sweep_free(mr_sweep *sweep);

#endif
