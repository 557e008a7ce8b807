/*
 * epochs: the accesses of one kind to one variable that are maximal in an order, as epochs
 * (FastTrack, Flanagan and Freund, PLDI 2009): a thread and its local time.
 *
 * A later access is unordered with some earlier one iff it is unordered with a maximal one, since
 * the orders are transitive. So it is enough to keep, of the writes and of the reads each, those
 * that no later one of the same kind is known to follow; a write makes reads before it unnecessary,
 * too (whoever is unordered with the read and conflicts with it, is unordered with the write). This
 * is exact on every event, also behind races, and is one epoch nearly always.
 *
 * An epoch that is not maximal any more does no harm. That is used where many threads read: a few
 * epochs are a list, more of them one entry a thread, so that a read costs O(1) again.
 */
#ifndef MR_ORDER_EPOCHS_H
#define MR_ORDER_EPOCHS_H

#include "base/slab.h"
#include "clock.h"

typedef struct mr_epoch {
    uint32_t thread, local; /* local 0: none */
} mr_epoch;

typedef struct mr_epoch_list {
    uint32_t count, capacity;
    bool by_thread; /* items[u].thread is u, or its local is 0 */
    mr_epoch items[];
} mr_epoch_list;

/* Zero: no access. */
typedef struct mr_front {
    mr_epoch latest; /* the latest access of the kind */
    mr_epoch_list
        *others; /* from a slab; NULL as long as there was none; never the thread of `latest` */
} mr_front;

/* What a thread has before its next event: what one of the two clocks says. */
typedef struct mr_knowledge {
    const mr_clock *clocks[2];
} mr_knowledge;

static inline bool mr_knows(mr_knowledge knowledge, uint32_t thread, uint32_t local)
{
    return local <= mr_clock_get(knowledge.clocks[0], thread) ||
           (knowledge.clocks[1] && local <= mr_clock_get(knowledge.clocks[1], thread));
}

/* Is an epoch of another thread than `thread` not known? */
static inline bool mr_epoch_unordered(mr_epoch epoch, uint32_t thread, mr_knowledge knowledge)
{
    return epoch.thread != thread && epoch.local && !mr_knows(knowledge, epoch.thread, epoch.local);
}

bool mr_front_others_unordered(const mr_front *front, uint32_t thread, mr_knowledge knowledge);
/* Removes those of `others` that are known. */
void mr_front_prune_others(mr_front *front, uint32_t thread, mr_knowledge knowledge);
/* Removes one of `others`, of which there are some after mr_front_prune_others. */
mr_epoch mr_front_take_other(mr_front *front);
/* Makes `latest` the latest; what was the latest, and unknown, goes to `others`. False: no memory.
 */
bool mr_front_displace(mr_front *front, mr_epoch latest, bool keep, mr_slab *slab);

static inline bool mr_front_has_others(const mr_front *front)
{
    return front->others && front->others->count;
}

static inline bool mr_front_unordered(const mr_front *front, uint32_t thread,
                                      mr_knowledge knowledge)
{
    return mr_epoch_unordered(front->latest, thread, knowledge) ||
           (mr_front_has_others(front) && mr_front_others_unordered(front, thread, knowledge));
}

/* A new access: it replaces what is known, and becomes the latest. `lazily`: known epochs may stay
 * when looking for them costs more than O(1). `slab`: of the front. False: no memory. */
static inline bool mr_front_add(mr_front *front, mr_epoch epoch, mr_knowledge knowledge,
                                bool lazily, mr_slab *slab)
{
    mr_epoch latest = front->latest;
    if (latest.thread == epoch.thread || !latest.local) {
        front->latest = epoch;
        return true;
    }
    bool keep = mr_epoch_unordered(latest, epoch.thread, knowledge);
    if (!keep && !mr_front_has_others(front)) {
        front->latest = epoch;
        return true;
    }
    if (mr_front_has_others(front) && !(lazily && front->others->by_thread))
        mr_front_prune_others(front, epoch.thread, knowledge);
    return mr_front_displace(front, epoch, keep, slab);
}

/* Removes what a write of `thread` follows. */
static inline void mr_front_prune(mr_front *front, uint32_t thread, mr_knowledge knowledge)
{
    if (mr_front_has_others(front))
        mr_front_prune_others(front, thread, knowledge);
    if (!mr_epoch_unordered(front->latest, thread, knowledge))
        front->latest = mr_front_has_others(front) ? mr_front_take_other(front) : (mr_epoch){0};
}

static inline void mr_front_clear(mr_front *front)
{
    front->latest = (mr_epoch){0};
    if (front->others) {
        front->others->count = 0;
        front->others->by_thread = false;
    }
}

#endif
