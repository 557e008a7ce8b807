/*
 * Assertions: what only a mistake in a program can break. Bad input (a trace, an option, a file, a
 * message of another process) is never asserted: it is an mr_error.
 *
 *   MR_REQUIRE(condition)        the caller's mistake: a function was called against its header
 *   MR_ASSERT(condition)         an own bug: an invariant of this module does not hold
 *   MR_ASSERT_COSTLY(condition)  an own bug that is expensive to look for (a loop, a walk over a
 *                                structure, a test in the innermost loop)
 *
 * The first two are checked in every build, release builds too. The third is checked only where
 * MR_COSTLY_CHECKS is defined: the Makefile does so for VARIANT=sanitize, thread and debug.
 * Elsewhere its condition is compiled and not evaluated, so a condition must have no effects.
 *
 * A failed assertion writes one line to standard error and aborts the process (SIGABRT):
 *
 *   src/trace/trace.c:28: caller's mistake: event < trace->event_count
 *
 * This is the only place where the library prints or ends the process. A wrong verdict would be
 * worse. The cost of a check that holds is a comparison and a branch that is never taken.
 */
#ifndef MR_BASE_ASSERT_H
#define MR_BASE_ASSERT_H

/* Writes the line and aborts. Only the macros below call it. */
_Noreturn void mr_assert_failed(const char *kind, const char *file, int line,
                                const char *condition);

#define MR_ASSERT_KIND(kind, condition)                                                            \
    (__builtin_expect(!!(condition), 1) ? (void)0                                                  \
                                        : mr_assert_failed(kind, __FILE__, __LINE__, #condition))

#define MR_REQUIRE(condition) MR_ASSERT_KIND("caller's mistake", condition)
#define MR_ASSERT(condition)  MR_ASSERT_KIND("own bug", condition)

#ifdef MR_COSTLY_CHECKS
#define MR_ASSERT_COSTLY(condition) MR_ASSERT_KIND("own bug (costly check)", condition)
#else
#define MR_ASSERT_COSTLY(condition) ((void)(0 && (condition)))
#endif

#endif
