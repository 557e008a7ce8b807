#include "epochs.h"

#include "base/assert.h"

#include <string.h>

enum { FRONT_LIST = 8 };

bool mr_front_others_unordered(const mr_front *front, uint32_t thread, mr_knowledge knowledge)
{
    const mr_epoch_list *others = front->others;
    for (uint32_t i = 0; i < others->count; i++)
        if (mr_epoch_unordered(others->items[i], thread, knowledge))
            return true;
    return false;
}

/* The same for entries by thread. Returns how many are left. */
static uint32_t forget_known(mr_epoch_list *others, uint32_t thread, mr_knowledge knowledge)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < others->count; i++) {
        if (mr_epoch_unordered(others->items[i], thread, knowledge))
            left++;
        else
            others->items[i].local = 0;
    }
    return left;
}

mr_epoch mr_front_take_other(mr_front *front)
{
    mr_epoch_list *others = front->others;
    MR_ASSERT(others->count > 0);
    if (!others->by_thread)
        return others->items[--others->count];
    uint32_t i = others->count;
    while (i && !others->items[i - 1].local)
        i--;
    MR_ASSERT(i > 0);
    mr_epoch taken = others->items[i - 1];
    others->items[i - 1].local = 0;
    return taken;
}

void mr_front_prune_others(mr_front *front, uint32_t thread, mr_knowledge knowledge)
{
    mr_epoch_list *others = front->others;
    uint32_t kept = 0;
    if (others->by_thread && forget_known(others, thread, knowledge) > FRONT_LIST)
        return;
    for (uint32_t i = 0; i < others->count; i++)
        if (mr_epoch_unordered(others->items[i], thread, knowledge))
            others->items[kept++] = others->items[i];
    others->count = kept;
    others->by_thread = false;
}

static size_t size_of(uint32_t capacity)
{
    return sizeof(mr_epoch_list) + (size_t)capacity * sizeof(mr_epoch);
}

static void give(mr_slab *slab, mr_epoch_list *list)
{
    if (list)
        mr_slab_give(slab, list, size_of(list->capacity));
}

static bool make_room(mr_front *front, uint32_t count, mr_slab *slab)
{
    mr_epoch_list *list = front->others;
    if (list && count <= list->capacity)
        return true;
    uint32_t capacity = count < 4 ? 4 : count * 2;
    list = mr_slab_take(slab, size_of(capacity));
    if (!list)
        return false;
    *list = (mr_epoch_list){.capacity = capacity};
    if (front->others) {
        list->count = front->others->count;
        list->by_thread = front->others->by_thread;
        memcpy(list->items, front->others->items, list->count * sizeof list->items[0]);
    }
    give(slab, front->others);
    front->others = list;
    return true;
}

static bool set_by_thread(mr_front *front, mr_epoch epoch, mr_slab *slab)
{
    if (!make_room(front, epoch.thread + 1, slab))
        return false;
    mr_epoch_list *others = front->others;
    while (others->count <= epoch.thread)
        others->items[others->count++] = (mr_epoch){0};
    MR_ASSERT(others->by_thread && others->count <= others->capacity);
    others->items[epoch.thread] = epoch;
    return true;
}

/* From a list to one entry a thread. */
static bool spread(mr_front *front, mr_slab *slab)
{
    mr_epoch_list *old = front->others;
    front->others = NULL;
    bool ok = make_room(front, old->count, slab);
    if (ok)
        front->others->by_thread = true;
    for (uint32_t i = 0; ok && i < old->count; i++)
        ok = set_by_thread(front, old->items[i], slab);
    give(slab, old);
    return ok;
}

/* Is an access of the thread among the others? */
static bool is_among(const mr_epoch_list *others, uint32_t thread)
{
    for (uint32_t i = 0; others && i < others->count; i++)
        if (others->items[i].thread == thread && others->items[i].local)
            return true;
    return false;
}

bool mr_front_displace(mr_front *front, mr_epoch latest, bool keep, mr_slab *slab)
{
    mr_epoch old = front->latest;
    MR_ASSERT(latest.local && old.local && old.thread != latest.thread);
    front->latest = latest;
    if (front->others && front->others->count >= FRONT_LIST && !front->others->by_thread &&
        !spread(front, slab))
        return false;
    if (front->others && front->others->by_thread) {
        if (latest.thread < front->others->count)
            front->others->items[latest.thread].local = 0;
        MR_ASSERT_COSTLY(!is_among(front->others, latest.thread));
        return !keep || set_by_thread(front, old, slab);
    }
    MR_ASSERT_COSTLY(!is_among(front->others, latest.thread));
    if (!keep)
        return true;
    if (!make_room(front, front->others ? front->others->count + 1 : 1, slab))
        return false;
    front->others->items[front->others->count++] = old;
    return true;
}
