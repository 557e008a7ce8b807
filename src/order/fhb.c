/*
 * fhb: happens-before, with every conflicting pair ordered once its second event has happened. It
 * is the order of someone who repairs each race that was found and looks for the next one ("FHB",
 * Algorithm 3 of the SHB paper). It reports few pairs, and each of them is a race.
 *
 * The order is the smallest one that contains happens-before and, for every access e, all earlier
 * conflicting accesses of other threads before e. Each event is checked against what its thread
 * knew before it. The order contains that of SHB, so its races are SHB races: the order is sound.
 *
 * A plain write is ordered after all earlier accesses of its variable. So the last plain write
 * stands for everything before it. Of the plain reads since then, one joined clock is kept. The
 * same is kept of the atomic writes and of the atomic reads: they are ordered after the accesses
 * that they conflict with, but not after each other. Every access publishes its clock.
 */
#include "feed.h"

static bool raise_to(mr_hb *hb, mr_clock **clock, mr_epoch epoch)
{
    return mr_clock_learn(&hb->pool, clock, (mr_time){NULL, epoch.thread, epoch.local});
}

static bool follow_write(mr_hb *hb, const mr_variable *variable, uint32_t thread, mr_epoch write)
{
    return write.thread == thread || !write.local ||
           mr_clock_learn(&hb->pool, &hb->threads[thread].clock,
                          (mr_time){variable->write_clock, write.thread, write.local});
}

/* Orders the read after the last write. `reads` has its epoch already; the clock of the reads joins
 * its clock. */
static bool note_read(mr_hb *hb, mr_variable *variable, uint32_t thread)
{
    const mr_front *reads = &variable->reads;
    if (mr_variable_is_shared(variable) &&
        !follow_write(hb, variable, thread, variable->writes.latest))
        return false;
    if (!mr_variable_is_shared(variable) || !mr_front_has_others(reads)) {
        /* All other reads are before this one. */
        mr_clock_set(&hb->pool, &variable->read_clock, hb->threads[thread].clock);
        return true;
    }
    if (!mr_clock_join(&hb->pool, &variable->read_clock, mr_hb_now(hb, thread)))
        return false;
    /* The first of several was not in its own clock. */
    for (uint32_t i = 0; !reads->others->by_thread && i < reads->others->count; i++)
        if (!raise_to(hb, &variable->read_clock, reads->others->items[i]))
            return false;
    return true;
}

/* Orders the plain access after the atomic accesses that it conflicts with. */
static bool follow_atomics(mr_hb *hb, mr_variable *variable, const mr_access *access)
{
    mr_clock **clock = &hb->threads[access->thread].clock;
    mr_atomics *atomics = variable->history->atomics;
    if (!mr_clock_join(&hb->pool, clock, (mr_time){.clock = atomics->write_clock}))
        return false;
    if (!mr_op_writes(access->op))
        return true;
    if (!mr_clock_join(&hb->pool, clock, (mr_time){.clock = atomics->read_clock}))
        return false;
    mr_clock_drop(&hb->pool, &atomics->write_clock);
    mr_clock_drop(&hb->pool, &atomics->read_clock);
    return true;
}

/* Orders the write after the last write and after the reads since, as far as its thread does not
 * know them. */
static bool follow_all(mr_hb *hb, const mr_variable *variable, uint32_t thread)
{
    if (!mr_variable_is_shared(variable))
        return true;
    const mr_front *writes = &variable->writes, *reads = &variable->reads;
    mr_epoch write = mr_front_has_others(writes) ? writes->others->items[0] : (mr_epoch){0};
    mr_time read = {variable->read_clock, reads->latest.thread, reads->latest.local};
    return follow_write(hb, variable, thread, write) &&
           (!read.local || mr_clock_join(&hb->pool, &hb->threads[thread].clock, read));
}

/* From now on the write stands for all of them. */
static void stand_for_all(mr_hb *hb, mr_variable *variable, uint32_t thread)
{
    if (mr_variable_is_shared(variable)) {
        mr_front_clear(&variable->writes);
        mr_front_clear(&variable->reads);
        variable->writes.latest = (mr_epoch){thread, hb->threads[thread].local};
    }
    mr_clock_drop(&hb->pool, &variable->read_clock);
    mr_clock_set(&hb->pool, &variable->write_clock, hb->threads[thread].clock);
}

static bool note_write(mr_hb *hb, mr_variable *variable, uint32_t thread)
{
    if (!follow_all(hb, variable, thread))
        return false;
    stand_for_all(hb, variable, thread);
    return true;
}

MR_INLINE bool access(mr_detector *detector, const mr_access *access)
{
    mr_hb *hb = &detector->wcp.hb;
    mr_hb_thread *thread = &hb->threads[access->thread];
    mr_variable *variable = mr_detector_variable(detector, access->variable);
    if (!variable)
        return false;
    if (!mr_variable_again(variable, access, thread->local)) {
        mr_knowledge knowledge = {{thread->clock, NULL}};
        mr_detector_plain(detector, access, variable);
        if (!mr_variable_access(&detector->variables, variable, access, knowledge, thread->local,
                                &detector->list) ||
            (variable->is_atomic && !follow_atomics(hb, variable, access)))
            return false;
    }
    if (!(mr_op_writes(access->op) ? note_write(hb, variable, access->thread)
                                   : note_read(hb, variable, access->thread)))
        return false;
    thread->local++;
    return true;
}

/* Orders the atomic access after the plain accesses that it conflicts with. All plain accesses
 * since the last plain write are kept. */
static bool follow_plain(mr_hb *hb, const mr_variable *variable, const mr_access *access)
{
    const mr_epoch *read = &variable->reads.latest;
    mr_time reads = {variable->read_clock, read->thread, read->local};
    return follow_write(hb, variable, access->thread, variable->writes.latest) &&
           (!mr_op_writes(access->op) || !read->local ||
            mr_clock_join(&hb->pool, &hb->threads[access->thread].clock, reads));
}

static bool note_atomic(mr_hb *hb, const mr_variable *variable, const mr_access *access)
{
    mr_atomics *atomics = variable->history->atomics;
    return mr_clock_join(&hb->pool,
                         mr_op_writes(access->op) ? &atomics->write_clock : &atomics->read_clock,
                         mr_hb_now(hb, access->thread));
}

static bool atomic(mr_detector *detector, const mr_access *access, bool contended)
{
    mr_hb *hb = &detector->wcp.hb;
    const mr_hb_thread *thread = &hb->threads[access->thread];
    if (!contended)
        return mr_edges_atomic(&detector->edges, &detector->wcp, access);
    mr_knowledge knowledge = {{thread->clock, NULL}};
    mr_variable *variable = mr_detector_variable(detector, access->variable);
    if (!variable ||
        !mr_variable_access(&detector->variables, variable, access, knowledge, thread->local,
                            &detector->list) ||
        !follow_plain(hb, variable, access) ||
        !mr_edges_atomic_follow(&detector->edges, &detector->wcp, access) ||
        !note_atomic(hb, variable, access) ||
        !mr_edges_atomic_publish(&detector->edges, &detector->wcp, access))
        return false;
    if (!mr_op_writes(access->op))
        hb->threads[access->thread].local++;
    return true;
}

/* A free is a write of each variable of the object: it is checked against all of them first, then
 * follows what they have, then stands for that. */
static bool check_freed(mr_detector *detector, const mr_access *access, mr_knowledge knowledge)
{
    mr_hb *hb = &detector->wcp.hb;
    uint32_t at = mr_detector_first_freed(detector, access->variable);
    for (; at; at = mr_detector_next_freed(detector, at)) {
        mr_access one = mr_free_of(access, at);
        mr_variable *variable = mr_detector_variable(detector, one.variable);
        if (!variable ||
            !mr_variable_free(&detector->variables, variable, &one, knowledge,
                              hb->threads[access->thread].local, false, &detector->list))
            return false;
        one.op = MR_OP_WRITE;
        if ((variable->is_atomic && !follow_atomics(hb, variable, &one)) ||
            !follow_all(hb, variable, access->thread))
            return false;
    }
    return true;
}

static bool free_object(mr_detector *detector, const mr_access *access)
{
    mr_hb *hb = &detector->wcp.hb;
    mr_clock *before = mr_clock_share(hb->threads[access->thread].clock);
    bool done = check_freed(detector, access, (mr_knowledge){{before, NULL}});
    mr_clock_drop(&hb->pool, &before);
    uint32_t at = done ? mr_detector_first_freed(detector, access->variable) : 0;
    for (; at; at = mr_detector_next_freed(detector, at))
        stand_for_all(hb, mr_detector_variable(detector, at - 1), access->thread);
    hb->threads[access->thread].local++;
    return done;
}

mr_feed_end mr_fhb_feed(mr_detector *detector, const mr_events *events)
{
    return mr_feed(detector, events, access, atomic, mr_feed_hb_sync, free_object);
}
