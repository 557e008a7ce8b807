/*
 * c17: what happens-before of C17 (5.1.2.4, 7.17.3, 7.17.4; docs/semantics.md 8) orders by atomic
 * accesses and fences, one event at a time. Fork, join, locks, semaphores and calls are those of
 * hb.h and edges.h; the caller feeds these to the same mr_hb.
 *
 * The *release sequence* of an atomic write is the write, its *head*, and what directly follows it
 * in the order of the variable (here: the order of the events) as long as it is by the head's
 * thread or an atomic update. An edge leads
 *
 *   from a head that releases, or from each release fence before the head in its thread,
 *   to a read that acquires, or to each acquire fence after the read in its thread,
 *   when the read is atomic and sees the head or another write of its release sequence.
 *
 * A plain write heads nothing; it ends the release sequences of other threads. An order that is
 * consume counts as acquire, which is what compilers make of it. `.sc` acquires and releases; the
 * single order of all `.sc` events adds nothing to happens-before.
 *
 * What is kept: of each thread, the time of its last release fence (it stands for all before it),
 * and the joined times that its atomic reads could have acquired, for its next acquire fence; of
 * each variable with an atomic write, the heads whose release sequence has not ended, one a thread
 * (of two heads of a thread the later knows more), and their joined times.
 *
 *   mr_c17_grow → mr_c17_read, mr_c17_write, mr_c17_fence … → mr_c17_free
 *
 * Cost: O(heads of the variable) a write, O(threads) for news, else O(1) expected.
 */
#ifndef MR_ORDER_C17_H
#define MR_ORDER_C17_H

#include "hb.h"
#include "trace/memory_order.h"

typedef struct mr_c17_thread {
    mr_clock *unacquired; /* what its atomic reads could have acquired, joined */
    mr_time fence;        /* of its last release fence; local 0: none */
} mr_c17_thread;

typedef struct mr_c17_head {
    mr_time time;  /* of the head, or of the release fence before it */
    uint32_t next; /* of the variable, number + 1; 0: last */
} mr_c17_head;

typedef struct mr_c17_variable {
    uint32_t first_head; /* number + 1; 0: none */
    mr_time offer;       /* the times of its heads, joined; zero: nothing */
} mr_c17_variable;

/* Zero-initialise. */
typedef struct mr_c17 {
    mr_c17_thread *threads;
    size_t thread_count, thread_capacity;
    mr_map variable_numbers; /* variable → number in `variables` */
    mr_c17_variable *variables;
    size_t variable_count, variable_capacity;
    mr_c17_head *heads;
    size_t head_count, head_capacity;
    uint32_t unused_head; /* number + 1; 0: none */
} mr_c17;

/* There are so many threads from now on. False: no memory, here and below. */
bool mr_c17_grow(mr_c17 *c17, uint32_t thread_count);
/* `to` becomes a copy; its clocks may be dropped to any pool for as many threads. */
bool mr_c17_copy(mr_c17 *to, const mr_c17 *from);
void mr_c17_free(mr_c17 *c17, mr_clock_pool *pool);

/* What an atomic read of the variable would acquire now; on loan. Zero: nothing. */
mr_time mr_c17_offer(const mr_c17 *c17, uint32_t variable);

/* An atomic read, or the reading half of an update. */
bool mr_c17_read(mr_c17 *c17, mr_hb *hb, uint32_t thread, uint32_t variable, mr_memory_order order);

/* An atomic write, or the writing half of an update. The caller then moves the local time of the
 * thread on: nothing that comes later has it. */
bool mr_c17_write(mr_c17 *c17, mr_hb *hb, uint32_t thread, uint32_t variable, mr_memory_order order,
                  bool is_update);
void mr_c17_plain_write(mr_c17 *c17, mr_hb *hb, uint32_t thread, uint32_t variable);

/* A fence. As with mr_c17_write, the local time is to be moved on afterwards. */
bool mr_c17_fence(mr_c17 *c17, mr_hb *hb, uint32_t thread, mr_memory_order order);

#endif
