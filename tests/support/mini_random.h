/* mini_random: random tiny programs (mini.h), with two to four threads. */
#ifndef MR_TESTS_SUPPORT_MINI_RANDOM_H
#define MR_TESTS_SUPPORT_MINI_RANDOM_H

#include "mini.h"
#include "random.h"

#include <stdio.h>

void mini_random(mr_random *random, mini_program *program);

/* Writes the programs as one of C: its argument is the number of the one to run. */
void mini_write_c(const mini_program *programs, unsigned count, FILE *file);

#endif
