/*
 * unwinder: the library that unwinds stacks prepares itself when it is first used, and glibc loads it when a
 * thread is first to be cancelled or to exit. That thread would do more than the others, and another one in
 * another order. So it is done before, as no thread's doing.
 */
#ifndef MR_RUNTIME_UNWINDER_H
#define MR_RUNTIME_UNWINDER_H

#include <stdbool.h>

/* Once. `load`: also when the library is not loaded yet. The caller is inside the runtime (mr_enter). */
void mr_unwinder_prepare(bool load);

#endif
