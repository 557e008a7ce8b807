/*
 * length: how much a test does. `make test` runs a share of the long tests, `make check-all` the
 * whole (TEST_LENGTH=full in the environment). A variable of its own overrides both, to run a test
 * again on one trace or on very many.
 */
#ifndef MR_TESTS_SUPPORT_LENGTH_H
#define MR_TESTS_SUPPORT_LENGTH_H

#include <stdbool.h>
#include <stdint.h>

/* True with TEST_LENGTH=full. */
bool mr_length_full(void);

/* The number in the environment variable `name`; without one `full` or `share`, as above. */
uint64_t mr_length(const char *name, uint64_t share, uint64_t full);

/* The number in the environment variable `name`, else `otherwise`. */
uint64_t mr_number_from_environment(const char *name, uint64_t otherwise);

#endif
