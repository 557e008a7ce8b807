/*
 * generate_crossed: random small traces of threads that keep each other out by flags (windows/crossed_flags.h), most of the time.
 *
 * Three threads, each with a flag, and a variable that one at a time sets. Some raise their flag and look at that
 * variable, some set it and look at the flags, some do so with flags alone. They access what is kept, or do so too early or too late,
 * look first and raise the flag then, do not look, or write the flag of another thread. The same seed gives the same
 * trace.
 */
#ifndef MR_TESTS_SUPPORT_GENERATE_CROSSED_H
#define MR_TESTS_SUPPORT_GENERATE_CROSSED_H

#include <stdint.h>

enum { MR_CROSSED_TEXT = 1024 };

void mr_generate_crossed(uint64_t seed, char text[MR_CROSSED_TEXT]);

#endif
