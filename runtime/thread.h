/*
 * thread: the threads of the program, from creation to join.
 *
 * Every thread is created joinable, whatever the program asks for. A detached one is joined by the
 * runtime, by the next thread that gets the baton: so its stack is given back at a place that
 * depends on the seed alone. A thread ends after its destructors of thread-specific data.
 */
#ifndef MR_RUNTIME_THREAD_H
#define MR_RUNTIME_THREAD_H

#include "state.h"

#include <time.h>

/* The record of the main thread, and its BEGIN. */
bool mr_thread_main(void);

/* The number of one more thread of the trace. */
uint32_t mr_thread_number(void);

/* Joins those that are detached and done. */
void mr_thread_reap(void);

/* NULL: not one of the program's, or joined. */
mr_thread *mr_thread_find(pthread_t handle);

/* What pthread_create does, with the caller's code address. */
int mr_thread_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*start)(void *),
                     void *argument, uintptr_t code);
/* Initialises the attributes of a detached thread, whose stack is as large as `like` says; NULL: of the usual size. */
void mr_thread_detached(pthread_attr_t *attributes, const pthread_attr_t *like);
/* What pthread_join does until the limit (virtual time); EBUSY or ETIMEDOUT as `late` says when it
 * is over. */
int mr_thread_join(pthread_t handle, void **result, int64_t limit, int late, uintptr_t code);

/* The thread was cancelled, and what it does now comes of that: its wait ends. The caller is busy. */
void mr_thread_cancel_seen(mr_thread *thread);

/* A thread that was cancelled in a real call unwinds out of it. Waits of what cleans up are not cancelled. */
void mr_thread_cancel_unwinds(mr_thread *thread);
/* A cancellation point: does not return when the thread was cancelled. The caller is busy. */
void mr_thread_cancel_point(mr_thread *thread);
/* Does it run, or sleep in a call that is not known, outside of the runtime and without the baton? */
bool mr_thread_is_lost(const mr_thread *thread);
/* Has a thread that runs on outside of the runtime handle its signals there; signal `number` has a handler. */
void mr_thread_poke(mr_thread *thread, int number);

#endif
