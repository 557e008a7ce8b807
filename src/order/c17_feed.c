/*
 * c17_feed: memory-order races of the recorded order (docs/semantics.md 8). A conflicting pair
 * (e1, e2) is reported when nothing orders e1 before e2 in the events up to e2, or when it is an SHB
 * race (shb.c). What orders is happens-before of C17 (c17.h), together with an edge from each write
 * to the reads that see it, unless both are atomic.
 *
 * As in SHB, such an edge does not count for e2 itself: what e2 sees does not matter. What e2, an
 * atomic read, synchronises with does count: with no other order of the events so far need a write
 * be there that it can see instead. But where SHB leaves e1 and the predecessor of e2 unordered,
 * the events can be left out of the order that are between e1 and what e2 would see, so these
 * pairs are races as well. With `.sc` everywhere the pairs are those of SHB. Frees count as in SHB.
 *
 * Two orders are kept: that of C17 in `wcp.hb` and `edges`, and SHB's. Local times are the same in
 * both, so one history of accesses serves both: e1 is known to e2 when C17 orders it before the
 * predecessor of e2, or when e2 acquires it and SHB orders it before the predecessor of e2.
 *
 * Streaming, twice the cost of SHB.
 */
#include "feed.h"

/* What an atomic read would acquire of what SHB orders before it. False: no memory. */
static bool acquired(mr_detector *detector, const mr_access *access, mr_clock **clock)
{
    mr_time offer = mr_c17_offer(&detector->c17.order, access->variable);
    if (!mr_op_reads(access->op) ||
        !mr_memory_order_acquires((mr_memory_order)access->memory_order) ||
        (!offer.clock && !offer.local))
        return true;
    return mr_clock_meet(&detector->wcp.hb.pool, clock, offer,
                         detector->c17.shb.hb.threads[access->thread].clock);
}

static mr_epoch last_write(const mr_variable *variable)
{
    return variable->is_atomic ? variable->history->atomics->last_write : variable->writes.latest;
}

/* After it was judged. */
static bool follow_write(mr_hb *hb, const mr_variable *variable, mr_clock *clock, uint32_t thread)
{
    if (!mr_variable_is_shared(variable))
        return true;
    mr_epoch last = last_write(variable);
    return last.thread == thread || mr_clock_learn(&hb->pool, &hb->threads[thread].clock,
                                                   (mr_time){clock, last.thread, last.local});
}

static void move_on(mr_detector *detector, uint32_t thread)
{
    detector->wcp.hb.threads[thread].local++;
    detector->c17.shb.hb.threads[thread].local++;
}

static void publish(mr_detector *detector, mr_variable *variable, const mr_access *access)
{
    mr_hb *hb = &detector->wcp.hb, *shb = &detector->c17.shb.hb;
    const mr_hb_thread *thread = &hb->threads[access->thread];
    if (variable->is_atomic) {
        mr_atomics *atomics = variable->history->atomics;
        atomics->last_write = (mr_epoch){access->thread, thread->local};
        atomics->last_is_plain = mr_op_is_plain(access->op);
        if (atomics->last_is_plain)
            mr_c17_plain_write(&detector->c17.order, hb, access->thread, access->variable);
    }
    mr_clock_set(&hb->pool, &variable->read_clock, thread->clock);
    mr_clock_set(&shb->pool, &variable->write_clock, shb->threads[access->thread].clock);
    move_on(detector, access->thread);
}

MR_INLINE bool access(mr_detector *detector, const mr_access *access)
{
    mr_hb *hb = &detector->wcp.hb, *shb = &detector->c17.shb.hb;
    const mr_hb_thread *thread = &hb->threads[access->thread];
    mr_variable *variable = mr_detector_variable(detector, access->variable);
    if (!variable)
        return false;
    MR_ASSERT_COSTLY(thread->local == shb->threads[access->thread].local);
    if (!mr_variable_again(variable, access, thread->local)) {
        mr_knowledge knowledge = {{thread->clock, NULL}};
        if (!mr_variable_access(&detector->variables, variable, access, knowledge, thread->local,
                                &detector->list))
            return false;
        if (!mr_op_writes(access->op))
            return follow_write(hb, variable, variable->read_clock, access->thread) &&
                   follow_write(shb, variable, variable->write_clock, access->thread);
    }
    if (mr_op_writes(access->op))
        publish(detector, variable, access);
    return true;
}

/* What it acquires, and what it offers. */
static bool read_and_write(mr_detector *detector, const mr_access *access)
{
    mr_c17 *order = &detector->c17.order;
    mr_hb *hb = &detector->wcp.hb;
    mr_memory_order memory_order = (mr_memory_order)access->memory_order;
    return (!mr_op_reads(access->op) ||
            mr_c17_read(order, hb, access->thread, access->variable, memory_order)) &&
           (!mr_op_writes(access->op) || mr_c17_write(order, hb, access->thread, access->variable,
                                                      memory_order, mr_op_updates(access->op)));
}

static bool judge(mr_detector *detector, mr_variable *variable, const mr_access *access)
{
    const mr_hb_thread *thread = &detector->wcp.hb.threads[access->thread];
    mr_clock *also = NULL;
    bool done =
        acquired(detector, access, &also) &&
        mr_variable_access(&detector->variables, variable, access,
                           (mr_knowledge){{thread->clock, also}}, thread->local, &detector->list);
    mr_clock_drop(&detector->wcp.hb.pool, &also);
    return done;
}

static bool atomic(mr_detector *detector, const mr_access *access, bool contended)
{
    mr_hb *hb = &detector->wcp.hb, *shb = &detector->c17.shb.hb;
    MR_ASSERT_COSTLY(hb->threads[access->thread].local == shb->threads[access->thread].local);
    if (!contended) {
        bool done = read_and_write(detector, access) &&
                    mr_edges_atomic(&detector->c17.edges, &detector->c17.shb, access);
        hb->threads[access->thread].local += mr_op_writes(access->op);
        return done;
    }
    mr_variable *variable = mr_detector_variable(detector, access->variable);
    if (!variable || !judge(detector, variable, access))
        return false;
    if (mr_op_reads(access->op)) {
        if (!follow_write(shb, variable, variable->write_clock, access->thread) ||
            (variable->history->atomics->last_is_plain &&
             !follow_write(hb, variable, variable->read_clock, access->thread)))
            return false;
    }
    if (!read_and_write(detector, access))
        return false;
    if (mr_op_writes(access->op))
        publish(detector, variable, access);
    return true;
}

MR_INLINE bool sync(mr_detector *detector, mr_op op, uint32_t thread, uint32_t operand)
{
    return mr_hb_sync(&detector->wcp.hb, op, thread, operand) &&
           mr_hb_sync(&detector->c17.shb.hb, op, thread, operand);
}

bool mr_c17_feed_fence(mr_detector *detector, uint32_t thread, mr_memory_order order)
{
    bool done = mr_c17_fence(&detector->c17.order, &detector->wcp.hb, thread, order);
    move_on(detector, thread);
    return done;
}

/* As in shb.c. */
static bool free_object(mr_detector *detector, const mr_access *access)
{
    return mr_feed_write_freed(detector, access, true);
}

mr_feed_end mr_c17_feed(mr_detector *detector, const mr_events *events)
{
    return mr_feed(detector, events, access, atomic, sync, free_object);
}
