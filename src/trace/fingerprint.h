/* fingerprint: are two traces the same? */
#ifndef MR_TRACE_FINGERPRINT_H
#define MR_TRACE_FINGERPRINT_H

#include "trace.h"

/* Of all that an analysis reads: columns, names, values, stacks. Not of the path, nor of the format
 * of the file. O(size of the trace), some 10 GB/s. */
uint64_t mr_trace_fingerprint(const mr_trace *trace);

#endif
