/* modules: the programs and libraries that are mapped, in the log. */
#ifndef MR_RUNTIME_MODULES_H
#define MR_RUNTIME_MODULES_H

#include <stdbool.h>
#include <stdint.h>

/* Logs those that were not there at the last call, and that some are gone. The caller is busy. */
void mr_modules_log(void);

/* Finds the instrumented ones among those that were loaded since the last call. */
void mr_modules_find_instrumented(void);

/* Tells in the log that an instrumented one has atomic accesses in assembly (unseen.h). One that
 * uses the annotations for such accesses is taken to have them all. */
void mr_modules_tell(void);

/* Is the code address in an instrumented module? */
bool mr_is_instrumented(uintptr_t code);

/* Does an instrumented one call what the runtime does not do of OpenMP of clang? */
bool mr_modules_leave_openmp(void);

/* Does an instrumented one use the room that a block has beyond what was asked for? */
bool mr_modules_ask_for_room(void);

/* Does a module call a function of another one whose name is wanted? */
bool mr_modules_call(bool (*is_wanted)(const char *name));

/* Is it in a library that is not instrumented? Not so of the libraries of C and C++ and of the runtime: all
 * that synchronises their threads is recorded. 0 is in none. */
bool mr_is_foreign(uintptr_t code);

/* Is it in QtCore, and that is not instrumented? */
bool mr_is_qt(uintptr_t code);

/* module << 48 | offset in it: the same in every run of the program; 0: it is not instrumented. */
uint64_t mr_code_place(uintptr_t code);

/* Is it memory of the program that nobody can write, as its literals? */
bool mr_is_constant(const void *address);

/* They are all to be logged again, in another log. */
void mr_modules_forget(void);

#endif
