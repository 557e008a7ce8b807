/*
 * dump: everything that the decision about one pair of accesses rests on, for those who look for a
 * mistake: the window, the cone, what each decision step says alone, and the whole formula.
 *
 * The text is a file in SMT-LIB 2.6 (encoder/smtlib.h); all but the formula stands in comments. A
 * solver that reads it answers sat where the pair is a race in that window, unsat where it is none:
 *
 *   maxrace dump bank.std --pair 3 10 | z3 -in
 */
#ifndef MR_DUMP_DUMP_H
#define MR_DUMP_DUMP_H

#include "config/config.h"
#include "trace/trace.h"

#include <stdio.h>

/*
 * Writes the dump of events `one` and `other` of the trace, with the model, window and solver
 * settings of `config`. The window is the first one of the plan that has both events; where there is
 * none, it reaches from the first event of the window of the earlier access to the later access.
 * MR_ERR_USAGE: there is no such event, or the two do not conflict. MR_ERR_IO: the stream failed.
 * MR_ERR_MEMORY.
 */
mr_status mr_dump_pair(FILE *stream, const mr_trace *trace, const mr_config *config, uint32_t one,
                       uint32_t other, mr_error *error);

#endif
