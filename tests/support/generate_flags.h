/*
 * generate_flags: random small traces about one variable that is a lock by its values, most of the time
 * (windows/value_locks.h), with reads of it by all threads, flags, and a variable that the lock keeps.
 *
 * Three threads. The first may write the variable and then fork some of the others; one thread may only read it. A count may begin above zero. What they
 * write is valid, and now and then what no lock does. A change of a variable that a mutex guards takes four events, so such a trace is
 * longer. The same seed gives the same trace.
 */
#ifndef MR_TESTS_SUPPORT_GENERATE_FLAGS_H
#define MR_TESTS_SUPPORT_GENERATE_FLAGS_H

#include <stdint.h>

enum { MR_FLAGS_TEXT = 1024 };

void mr_generate_flags(uint64_t seed, char text[MR_FLAGS_TEXT]);

#endif
