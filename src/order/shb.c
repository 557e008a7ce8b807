/*
 * shb: schedulable happens-before races of a whole trace (Mathur, Kini, Viswanathan, OOPSLA 2018,
 * Algorithm 2). SHB is happens-before plus an edge from each write to the reads that see it. A
 * conflicting pair (e1, e2) is reported when e1 is not SHB-before the predecessor of e2 in its
 * thread. When e2 is the first event of its thread, the fork is the predecessor. So e1 is compared
 * with what the thread of e2 knew before e2. Every pair reported is a race (Theorem 3.3).
 *
 * The order streams, in O(events * threads) time at worst. A write publishes the clock of its
 * thread.
 */
#include "feed.h"

/* A thread that reads the value learns of this write and of all before it. */
static inline void publish(mr_hb *hb, mr_variable *variable, uint32_t thread)
{
    if (variable->is_atomic)
        variable->history->atomics->last_write = (mr_epoch){thread, hb->threads[thread].local};
    mr_clock_set(&hb->pool, &variable->write_clock, hb->threads[thread].clock);
    hb->threads[thread].local++;
}

/* A read is ordered after the write that it sees, but is checked without this edge. */
static inline bool follow_write(mr_hb *hb, const mr_variable *variable, uint32_t thread)
{
    if (!mr_variable_is_shared(variable))
        return true; /* the thread's own */
    mr_epoch last =
        variable->is_atomic ? variable->history->atomics->last_write : variable->writes.latest;
    return last.thread == thread ||
           mr_clock_learn(&hb->pool, &hb->threads[thread].clock,
                          (mr_time){variable->write_clock, last.thread, last.local});
}

MR_INLINE bool access(mr_detector *detector, const mr_access *access)
{
    mr_hb *hb = &detector->wcp.hb;
    const mr_hb_thread *thread = &hb->threads[access->thread];
    mr_variable *variable = mr_detector_variable(detector, access->variable);
    if (!variable)
        return false;
    if (!mr_variable_again(variable, access, thread->local)) {
        mr_knowledge knowledge = {{thread->clock, NULL}};
        if (!mr_variable_access(&detector->variables, variable, access, knowledge, thread->local,
                                &detector->list))
            return false;
        if (!mr_op_writes(access->op))
            return follow_write(hb, variable, access->thread);
    }
    if (mr_op_writes(access->op))
        publish(hb, variable, access->thread);
    return true;
}

/* An atomic read is ordered after the write that it sees, be that atomic or plain. In a variable
 * that is not contended, an atomic read sees no plain write of another thread. */
static bool atomic(mr_detector *detector, const mr_access *access, bool contended)
{
    mr_hb *hb = &detector->wcp.hb;
    const mr_hb_thread *thread = &hb->threads[access->thread];
    if (!contended)
        return mr_edges_atomic(&detector->edges, &detector->wcp, access);
    mr_variable *variable = mr_detector_variable(detector, access->variable);
    if (!variable ||
        !mr_variable_access(&detector->variables, variable, access,
                            (mr_knowledge){{thread->clock, NULL}}, thread->local, &detector->list))
        return false;
    if (mr_op_reads(access->op) && !follow_write(hb, variable, access->thread))
        return false;
    if (mr_op_writes(access->op))
        publish(hb, variable, access->thread);
    return true;
}

/* A write of each variable of the object, that no read sees. Rule 7 of docs/semantics.md 2: when it
 * has to happen before some access, the accesses before it are no races with that. */
static bool free_object(mr_detector *detector, const mr_access *access)
{
    return mr_feed_write_freed(detector, access, true);
}

mr_feed_end mr_shb_feed(mr_detector *detector, const mr_events *events)
{
    return mr_feed(detector, events, access, atomic, mr_feed_hb_sync, free_object);
}
