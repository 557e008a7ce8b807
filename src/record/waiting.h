/*
 * waiting: who waits for what when the log ends, and who holds it: sentences for people, for the
 * ending of the trace (trace/ending.h).
 *
 *   (mr_waiting_note for each record that mr_waiting_cares about, mr_waiting_hold for every event of a lock)* → mr_waiting_tell
 *
 * A thread waits when its last record is BLOCKED (runtime/log.h). Memory: 40 bytes for each thread, 24
 * for each lock.
 */
#ifndef MR_RECORD_WAITING_H
#define MR_RECORD_WAITING_H

#include "emitter.h"

#include "runtime/log.h"

struct mr_event_pass;

typedef struct mr_waiting_thread {
    uint64_t record[3]; /* BLOCKED */
    uint32_t log_thread;
    bool waits;
} mr_waiting_thread;

/* Who holds a lock; of a lock that is shared, who took it last. */
typedef struct mr_lock_holder {
    uint64_t event;            /* the outermost acquire */
    uint32_t thread, location; /* of the trace, of that */
    uint32_t depth;            /* 0: nobody */
} mr_lock_holder;

typedef struct mr_waiting {
    mr_waiting_thread *threads; /* by thread of the trace */
    size_t thread_count, thread_capacity;
    mr_lock_holder *holders; /* by lock of the trace */
    size_t holder_count, holder_capacity;
    uint32_t count; /* threads that wait */
} mr_waiting;

/* Zero-initialise. */
void mr_waiting_free(mr_waiting *waiting);

/* Can a record change who waits? Most cannot, and need not be noted. */
static inline bool mr_waiting_cares(const mr_waiting *waiting, const uint64_t *record)
{
    unsigned kind = mr_log_kind_of(record[0]);
    return kind == MR_LOG_BLOCKED || (waiting->count && kind != MR_LOG_SWITCH);
}

/* Does the thread of the trace wait? */
static inline bool mr_waiting_waits(const mr_waiting *waiting, uint32_t thread)
{
    return thread < waiting->thread_count && waiting->threads[thread].waits;
}

/* A record of a thread: its number in the trace and in the log. False: no memory. */
bool mr_waiting_note(mr_waiting *waiting, uint32_t thread, uint32_t log_thread,
                     const uint64_t *record);

/* An event of a lock of the trace, and its number. False: no memory. */
bool mr_waiting_hold(mr_waiting *waiting, const mr_emitted *event, uint64_t number);
/* NULL: nobody holds the lock of the trace. */
const mr_lock_holder *mr_waiting_holder(const mr_waiting *waiting, uint32_t lock);

/* Adds a sentence for each thread that waits to the ending of the trace. MR_ERR_MEMORY. */
mr_status mr_waiting_tell(struct mr_event_pass *pass, mr_error *error);

#endif
