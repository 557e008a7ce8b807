/* mrt_wrong: .mrt files that say something wrong, with right checksums. */
#ifndef MR_TESTS_SUPPORT_MRT_WRONG_H
#define MR_TESTS_SUPPORT_MRT_WRONG_H

#include "trace/trace.h"

/* Writes the trace to `path`, in blocks of `block` events, with one to three changes by the seed: numbers of payloads
 * and of heads of chunks, chunks that are missing, come twice or in another order. */
void mr_wrong_mrt(const mr_trace *trace, uint32_t block, uint64_t seed, const char *path);

#endif
