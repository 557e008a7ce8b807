/*
 * shared_pointers: the lock of std::atomic<std::shared_ptr> and std::atomic<std::weak_ptr> of libstdc++ 12. It is bit 0 of the
 * word that counts the owners. A load releases it by a relaxed subtraction, so in the words of the standard nothing orders the
 * read of the pointer before the next write of it. But these classes are the library's, and programs may use them as
 * the standard says; later versions tell ThreadSanitizer that it is a lock. So the subtraction releases.
 */
#ifndef MR_RECORD_SHARED_POINTERS_H
#define MR_RECORD_SHARED_POINTERS_H

#include "emitter.h"

/* Is the atomic access such a subtraction? By its values, and by the functions of its stack in the trace. */
bool mr_shared_pointers_unlocks(const mr_trace *trace, const mr_emitted *event);

#endif
