/*
 * vectors: inline assembly may leave values in vector registers from one statement to the next, which the language does not
 * promise, but which works as long as only accesses of memory are in between. So on x86-64 what the compiler calls for plain
 * accesses and for functions keeps these registers: access.c, enter_leave.c and writer.c are compiled without them, and
 * call all else that may use them, which is rare, by mr_vectors_kept. On other processors nothing keeps them.
 */
#ifndef MR_RUNTIME_VECTORS_H
#define MR_RUNTIME_VECTORS_H

typedef struct mr_thread mr_thread;

/* Calls `what` with the thread, and keeps the vector registers of the caller (x86-64). */
void mr_vectors_kept(void (*what)(mr_thread *), mr_thread *thread);

#endif
