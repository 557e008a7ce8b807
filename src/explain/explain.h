/*
 * explain: what becomes of the accesses at two places, and why: which pairs race, which do not and
 * what keeps them apart, which stay unknown. For those who look for a race that is not reported, or
 * doubt that one is.
 */
#ifndef MR_EXPLAIN_EXPLAIN_H
#define MR_EXPLAIN_EXPLAIN_H

#include "base/halt.h"
#include "base/progress.h"
#include "config/config.h"
#include "trace/trace.h"

#include <stdio.h>

/*
 * Explains the pairs of a place that matches `one` and a place that matches `two` (trace/places.h;
 * NULL: any place; FILE:LINE also means the columns of the line). The verdict of a pair of places is that of a prediction with `config`, which
 * looks at no other candidates. The reasons are those of MR_PAIRS_LOOKED_AT pairs of events.
 * MR_ERR_USAGE: a pattern matches nothing. MR_ERR_IO, MR_ERR_MEMORY and the errors of mr_predict.
 */
mr_status mr_explain_places(FILE *stream, const mr_trace *trace, const mr_config *config,
                            const char *one, const char *two, const mr_progress *progress,
                            mr_error *error);

/* Explains two events. MR_ERR_USAGE: there is no such event. */
mr_status mr_explain_events(FILE *stream, const mr_trace *trace, const mr_config *config,
                            uint32_t one, uint32_t other, mr_error *error);

#endif
