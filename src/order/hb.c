#include "hb.h"

#include "base/assert.h"
#include "base/memory.h"
#include "feed.h"

#include <stdlib.h>

bool mr_hb_grow(mr_hb *hb, uint32_t thread_count, uint32_t lock_count)
{
    void *threads = hb->threads, *locks = hb->locks;
    if (!mr_grow(&threads, &hb->thread_capacity, thread_count, sizeof(mr_hb_thread)))
        return false;
    hb->threads = threads;
    if (!mr_grow(&locks, &hb->lock_capacity, lock_count, sizeof(mr_hb_lock)))
        return false;
    hb->locks = locks;
    for (; hb->thread_count < thread_count; hb->thread_count++)
        hb->threads[hb->thread_count] = (mr_hb_thread){.local = 1};
    for (; hb->lock_count < lock_count; hb->lock_count++)
        hb->locks[hb->lock_count] = (mr_hb_lock){0};
    mr_clock_pool_grow(&hb->pool, thread_count);
    return true;
}

void mr_hb_free(mr_hb *hb)
{
    for (size_t thread = 0; thread < hb->thread_count; thread++)
        mr_clock_drop(&hb->pool, &hb->threads[thread].clock);
    for (size_t lock = 0; lock < hb->lock_count; lock++) {
        mr_clock_drop(&hb->pool, &hb->locks[lock].release.clock);
        mr_clock_drop(&hb->pool, &hb->locks[lock].shared);
    }
    free(hb->threads);
    free(hb->locks);
    mr_map_free(&hb->share_depths);
    mr_clock_pool_free(&hb->pool);
    *hb = (mr_hb){0};
}

bool mr_hb_fork(mr_hb *hb, uint32_t thread, uint32_t child)
{
    MR_ASSERT(thread != child);
    if (!mr_clock_learn(&hb->pool, &hb->threads[child].clock, mr_hb_now(hb, thread)))
        return false;
    hb->threads[thread].local++;
    MR_ASSERT_COSTLY(mr_clock_get(hb->threads[child].clock, thread) < hb->threads[thread].local);
    return true;
}

bool mr_hb_join(mr_hb *hb, uint32_t thread, uint32_t child)
{
    MR_ASSERT(thread != child);
    return mr_clock_learn(&hb->pool, &hb->threads[thread].clock, mr_hb_now(hb, child));
}

bool mr_hb_enters_shared(mr_hb *hb, uint32_t thread, uint32_t lock, bool *enters)
{
    uint32_t *depth = mr_map_at(&hb->share_depths, mr_map_key(lock, thread), 0);
    if (depth)
        *enters = (*depth)++ == 0;
    return depth != NULL;
}

bool mr_hb_leaves_shared(mr_hb *hb, uint32_t thread, uint32_t lock, bool *leaves)
{
    uint32_t *depth = mr_map_at(&hb->share_depths, mr_map_key(lock, thread), 0);
    if (!depth)
        return false;
    MR_ASSERT(*depth > 0);
    *leaves = --*depth == 0;
    return true;
}

/* Each access is checked against the clock; no access orders anything. */
MR_INLINE bool access(mr_detector *detector, const mr_access *access)
{
    const mr_hb_thread *thread = &detector->wcp.hb.threads[access->thread];
    mr_variable *variable = mr_detector_variable(detector, access->variable);
    if (!variable)
        return false;
    if (mr_variable_again(variable, access, thread->local))
        return true;
    mr_detector_plain(detector, access, variable);
    return mr_variable_access(&detector->variables, variable, access,
                              (mr_knowledge){{thread->clock, NULL}}, thread->local,
                              &detector->list);
}

static bool atomic(mr_detector *detector, const mr_access *access, bool contended)
{
    const mr_hb_thread *thread = &detector->wcp.hb.threads[access->thread];
    if (contended) {
        mr_variable *variable = mr_detector_variable(detector, access->variable);
        if (!variable || !mr_variable_access(&detector->variables, variable, access,
                                             (mr_knowledge){{thread->clock, NULL}}, thread->local,
                                             &detector->list))
            return false;
    }
    return mr_edges_atomic(&detector->edges, &detector->wcp, access);
}

/* A write of each variable of the object. */
static bool free_object(mr_detector *detector, const mr_access *access)
{
    return mr_feed_write_freed(detector, access, false);
}

mr_feed_end mr_hb_feed(mr_detector *detector, const mr_events *events)
{
    return mr_feed(detector, events, access, atomic, mr_feed_hb_sync, free_object);
}
