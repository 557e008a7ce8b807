/* modules: the programs and libraries that are mapped, in the log. */
#ifndef MR_RUNTIME_MODULES_H
#define MR_RUNTIME_MODULES_H

#include <stdbool.h>
#include <stdint.h>

/* Logs those that were not there at the last call, and that some are gone. The caller is busy. */
void mr_modules_log(void);

/* The module of a code address is instrumented. */
void mr_module_instrumented(uintptr_t code);

/* Is the code address in an instrumented module? */
bool mr_is_instrumented(uintptr_t code);

/* They are all to be logged again, in another log. */
void mr_modules_forget(void);

#endif
