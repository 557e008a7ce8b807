/* place_pairs: pairs of places in code that race, for tests that compare two traces of one log. Places are
 * addresses, as in the traces of log_build.h. */
#ifndef MR_TESTS_PLACE_PAIRS_H
#define MR_TESTS_PLACE_PAIRS_H

#include "record/pairs.h"
#include "trace/trace.h"

/* Adds the places of the two events, the lower address first. */
void mr_place_pairs_add(mr_pairs *pairs, const mr_trace *trace, uint32_t first, uint32_t second);

/* Fails the test, which tells the seed and the text, when `found` lacks an expected pair. */
void mr_place_pairs_expect(const mr_pairs *found, const mr_pairs *expected, uint64_t seed,
                           const char *text);

#endif
