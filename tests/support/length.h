/*
 * length: how much a test does. TEST_LENGTH in the environment says it: `few` is a quarter of the share, for sanitizers; `share`
 * (the default) is what `make test` runs; `third` is a third of the whole, for `make check-all`, but at least twice the share;
 * `full` is the whole. A variable of its own overrides it, to run a test again on one trace or on very many.
 */
#ifndef MR_TESTS_SUPPORT_LENGTH_H
#define MR_TESTS_SUPPORT_LENGTH_H

#include <stdbool.h>
#include <stdint.h>

/* True with TEST_LENGTH=full and third: what is large is tested in its whole size. */
bool mr_length_full(void);

/* True with TEST_LENGTH=few: too few random traces for floors of what is found in them. */
bool mr_length_few(void);

/* How many there are to be, of which `make test` has `share` and the whole has `full`. Where `share` is the greater of both, they
 * are a step, which leaves out more the greater it is. */
uint64_t mr_length_of(uint64_t share, uint64_t full);

/* The number in the environment variable `name`; without one mr_length_of. */
uint64_t mr_length(const char *name, uint64_t share, uint64_t full);

/* The number in the environment variable `name`, else `otherwise`. */
uint64_t mr_number_from_environment(const char *name, uint64_t otherwise);

#endif
