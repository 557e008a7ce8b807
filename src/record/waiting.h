/*
 * waiting: who waits for what when the log ends, and who holds it: sentences for people, for the
 * ending of the trace (trace/ending.h).
 *
 *   (mr_waiting_note for each record, mr_waiting_hold for every event of a lock)* → mr_waiting_tell
 *
 * A thread waits when its last record is BLOCKED (runtime/log.h). Memory: 32 bytes for each thread
 * and lock.
 */
#ifndef MR_RECORD_WAITING_H
#define MR_RECORD_WAITING_H

#include "emitter.h"

#include "runtime/log.h"

struct mr_event_pass;

typedef struct mr_waiting_thread {
    uint64_t record[3]; /* BLOCKED */
    bool waits;
} mr_waiting_thread;

/* Who holds a lock; of a lock that is shared, who took it last. */
typedef struct mr_lock_holder {
    uint32_t thread, location; /* of the trace, of the outermost acquire */
    uint32_t depth;            /* 0: nobody */
} mr_lock_holder;

typedef struct mr_waiting {
    mr_waiting_thread *threads; /* by thread of the log */
    size_t thread_count, thread_capacity;
    mr_lock_holder *holders; /* by lock of the trace */
    size_t holder_count, holder_capacity;
    uint32_t count; /* threads that wait */
} mr_waiting;

/* Zero-initialise. */
void mr_waiting_free(mr_waiting *waiting);

/* A record of a thread, after the reader has taken it. False: no memory. */
bool mr_waiting_note_record(mr_waiting *waiting, uint32_t thread, const uint64_t *record);
static inline bool mr_waiting_note(mr_waiting *waiting, uint32_t thread, const uint64_t *record)
{
    unsigned kind = mr_log_kind_of(record[0]);
    if (kind != MR_LOG_BLOCKED && (!waiting->count || kind == MR_LOG_SWITCH))
        return true;
    return mr_waiting_note_record(waiting, thread, record);
}

/* An event of a lock of the trace. False: no memory. */
bool mr_waiting_hold(mr_waiting *waiting, const mr_emitted *event);

/* Adds a sentence for each thread that waits to the ending of the trace. MR_ERR_MEMORY. */
mr_status mr_waiting_tell(struct mr_event_pass *pass, mr_error *error);

#endif
