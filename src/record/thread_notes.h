/*
 * thread_notes: sentences about threads, for the ending of the trace (trace/ending.h): those that
 * ended and were neither joined nor detached, and those that asked not to be recorded up to their
 * end.
 *
 *   (mr_thread_notes_fork for each FORK, mr_thread_notes_add for each NOTE)* → mr_thread_notes_tell
 *
 * Threads that were started at one place share a sentence. Memory: 4 bytes for each thread, 16 for
 * each sentence.
 */
#ifndef MR_RECORD_THREAD_NOTES_H
#define MR_RECORD_THREAD_NOTES_H

#include "runtime/log.h"
#include "trace/trace.h"

typedef struct mr_thread_note {
    mr_log_note kind;
    uint32_t thread;   /* of the trace, the first one */
    uint32_t location; /* where it was started, plus 1; 0: not known */
    uint32_t count;
} mr_thread_note;

typedef struct mr_thread_notes {
    uint32_t *started; /* by thread of the trace: where, plus 1; 0: not known */
    size_t thread_capacity, thread_count;
    mr_thread_note *items;
    size_t capacity, count;
} mr_thread_notes;

/* Zero-initialise. */
void mr_thread_notes_free(mr_thread_notes *notes);

/* The thread of the trace is started at this location. False: no memory. */
bool mr_thread_notes_fork(mr_thread_notes *notes, uint32_t thread, uint32_t location);
/* False: no memory. */
bool mr_thread_notes_add(mr_thread_notes *notes, mr_log_note kind, uint32_t thread);

/* Adds the sentences. False: no memory. */
bool mr_thread_notes_tell(const mr_thread_notes *notes, mr_trace *trace);

#endif
