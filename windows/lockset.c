#include "lockset.h"

#include "base/assert.h"
#include "base/table.h"
#include "crossed_flags.h"
#include "occupied.h"
#include "unit_locks.h"

#include <string.h>

/* The contended sections that a thread is in. */
typedef struct held {
    uint32_t *sections; /* room for all locks */
    /* 2 * value lock, + 1 when shared; those of crossed flags come behind all others. */
    uint32_t *value_locks;
    uint32_t count, value_count;
    uint32_t lockset, region_end; /* of the current contents; valid when !stale */
    bool stale;
} held;

typedef struct interner {
    mr_arena *arena;
    mr_window *window;
    mr_table table; /* of the window's locksets */
    uint32_t *scratch;
    uint32_t capacity; /* of window->locksets */
    mr_value_locks value_locks;
    mr_crossed_flags crossed;
    uint32_t crossed_next; /* its next change */
} interner;

/* Locks that are looked for among the locksets. */
typedef struct lock_list {
    const uint32_t *locks;
    uint32_t count;
} lock_list;

static uint32_t hash_locks(const uint32_t *locks, uint32_t count)
{
    uint32_t hash = 2166136261u;
    for (uint32_t i = 0; i < count; i++)
        hash = (hash ^ locks[i]) * 16777619u;
    return hash ^ (hash >> 15);
}

static bool same_locks(const void *locksets, uint32_t number, const void *wanted)
{
    const mr_lockset *set = (const mr_lockset *)locksets + number;
    const lock_list *list = wanted;
    return set->count == list->count &&
           !memcmp(set->locks, list->locks, list->count * sizeof *list->locks);
}

/* Number of the set in `scratch`; MR_NONE: no memory. The table has room for all: only acquire and
 * release events make new sets. */
static uint32_t intern(interner *in, uint32_t count)
{
    mr_window *w = in->window;
    lock_list wanted = {in->scratch, count};
    uint32_t hash = hash_locks(in->scratch, count);
    uint32_t *slot = mr_table_slot(&in->table, hash, same_locks, w->locksets, &wanted);
    if (*slot)
        return *slot - 1;
    uint32_t *copy = mr_arena_alloc(in->arena, count, sizeof *copy);
    if (!copy)
        return MR_NONE;
    MR_ASSERT(w->lockset_count < in->capacity);
    memcpy(copy, in->scratch, count * sizeof *copy);
    w->locksets[w->lockset_count] = (mr_lockset){.locks = copy, .count = count};
    *slot = ++w->lockset_count;
    return w->lockset_count - 1;
}

static void add_item(uint32_t *set, uint32_t *count, uint32_t item)
{
    uint32_t at = *count;
    for (; at > 0 && set[at - 1] > item; at--)
        set[at] = set[at - 1];
    set[at] = item;
    ++*count;
}

/* Adds the section's lock to an ascending set. A lock that is held both ways counts as held
 * exclusively. */
static void add_lock(uint32_t *set, uint32_t *count, const mr_section *section)
{
    uint32_t item = 2 * section->lock + section->shared;
    for (uint32_t i = 0; i < *count; i++) {
        if (set[i] >> 1 != section->lock)
            continue;
        set[i] = item < set[i] ? item : set[i];
        return;
    }
    add_item(set, count, item);
}

static bool refresh(interner *in, held *h)
{
    const mr_window *w = in->window;
    h->region_end = MR_NONE;
    uint32_t count = 0;
    for (uint32_t i = 0; i < h->count; i++) {
        const mr_section *section = &w->sections[h->sections[i]];
        if (section->release < h->region_end)
            h->region_end = section->release;
        add_lock(in->scratch, &count, section);
    }
    for (uint32_t i = 0; i < h->value_count; i++)
        add_item(in->scratch, &count, 2 * w->lock_count + h->value_locks[i]);
    h->lockset = intern(in, count);
    h->stale = false;
    return h->lockset != MR_NONE;
}

static void leave(held *h, uint32_t section)
{
    uint32_t i = 0;
    while (i < h->count && h->sections[i] != section)
        i++;
    MR_ASSERT(i < h->count); /* the thread is in the section that it leaves */
    for (h->count--; i < h->count; i++)
        h->sections[i] = h->sections[i + 1];
    h->stale = true;
}

/* Does the event change a value lock that keeps threads apart? */
static bool keeps_apart(const mr_value_locks *locks, uint32_t event)
{
    return locks->count && locks->changes[event] != MR_NONE &&
           locks->kinds[locks->changes[event] / MR_VALUE_CHANGES].keeps_apart;
}

/* Room for the value locks of each thread, and those that are held at the start. */
static bool prepare_value_locks(interner *in, held *all)
{
    const mr_window *w = in->window;
    const mr_value_locks *locks = &in->value_locks;
    uint32_t *most = mr_arena_zalloc(in->arena, w->thread_count, sizeof *most);
    if (!most)
        return false;
    for (uint32_t i = 0; i < w->size; i++)
        most[w->thread[i]] += keeps_apart(locks, i);
    for (uint32_t i = 0; i < in->crossed.change_count; i++)
        most[w->thread[in->crossed.changes[i].event]] += in->crossed.changes[i].holds;
    for (uint32_t lock = 0; lock < locks->count; lock++)
        if (locks->holder[lock] != MR_NONE)
            most[locks->holder[lock]]++;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        all[t].value_locks = mr_arena_alloc(in->arena, most[t], sizeof *all[t].value_locks);
        if (!all[t].value_locks)
            return false;
    }
    for (uint32_t lock = 0; lock < locks->count; lock++)
        if (locks->holder[lock] != MR_NONE) {
            held *h = &all[locks->holder[lock]];
            h->value_locks[h->value_count++] = 2 * lock;
        }
    return true;
}

static bool prepare(interner *in, held **all)
{
    mr_window *w = in->window;
    in->capacity = 2 * (w->section_count + in->value_locks.sections) + in->crossed.change_count + 2;
    in->scratch = mr_arena_alloc(
        in->arena, w->lock_count + in->value_locks.count + in->crossed.count, sizeof *in->scratch);
    w->locksets = mr_arena_alloc(in->arena, in->capacity, sizeof *w->locksets);
    *all = mr_arena_zalloc(in->arena, w->thread_count, sizeof **all);
    if (!in->scratch || !w->locksets || !*all ||
        !mr_table_in_arena(&in->table, in->arena, in->capacity) || intern(in, 0) == MR_NONE)
        return false;
    /* A thread holds at most as many locks as it has sections in the window. */
    uint32_t *most = mr_arena_zalloc(in->arena, w->thread_count, sizeof *most);
    if (!most)
        return false;
    for (uint32_t s = 0; s < w->section_count; s++)
        most[w->sections[s].thread]++;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        (*all)[t].sections = mr_arena_alloc(in->arena, most[t], sizeof *(*all)[t].sections);
        (*all)[t].stale = true;
        if (!(*all)[t].sections)
            return false;
    }
    for (uint32_t s = 0; s < w->section_count; s++) {
        held *h = &(*all)[w->sections[s].thread];
        if (w->sections[s].acquire == MR_NONE && w->locks[w->sections[s].lock].contended)
            h->sections[h->count++] = s;
    }
    return (!in->value_locks.count && !in->crossed.count) || prepare_value_locks(in, *all);
}

static void release_value_lock(held *h, uint32_t lock)
{
    uint32_t i = 0;
    while (i < h->value_count && h->value_locks[i] >> 1 != lock)
        i++;
    MR_ASSERT(i < h->value_count); /* the thread is inside of what it leaves */
    for (h->value_count--; i < h->value_count; i++)
        h->value_locks[i] = h->value_locks[i + 1];
}

/* After an access, a wait or a post: it may have acquired or released a value lock. */
static void change_value_lock(held *h, uint32_t change)
{
    uint32_t lock = change / MR_VALUE_CHANGES;
    mr_value_change how = change % MR_VALUE_CHANGES;
    bool shared = how == MR_VALUE_ACQUIRE_SHARED || how == MR_VALUE_DOWNGRADE;
    if (how != MR_VALUE_ACQUIRE && how != MR_VALUE_ACQUIRE_SHARED)
        release_value_lock(h, lock);
    if (how != MR_VALUE_RELEASE)
        h->value_locks[h->value_count++] = 2 * lock + shared;
    h->stale = true;
}

/* After an access: what it changes of locks of crossed flags. */
static void change_crossed(interner *in, held *h, uint32_t event)
{
    const mr_crossed_flags *crossed = &in->crossed;
    for (; in->crossed_next < crossed->change_count &&
           crossed->changes[in->crossed_next].event == event;
         in->crossed_next++) {
        const mr_crossed_change *change = &crossed->changes[in->crossed_next];
        uint32_t lock = in->value_locks.count + change->lock;
        if (change->holds)
            h->value_locks[h->value_count++] = 2 * lock;
        else
            release_value_lock(h, lock);
        h->stale = true;
    }
}

bool mr_window_build_locksets(mr_window *w, mr_arena *arena)
{
    interner in = {.arena = arena, .window = w};
    held *all = NULL;
    if (!mr_value_locks_find(w, &in.value_locks, arena) ||
        !mr_unit_locks_find(w, &in.value_locks, arena) ||
        !mr_occupied_build(w, &in.value_locks, arena) ||
        !mr_crossed_flags_find(w, &in.value_locks, &in.crossed, arena) || !prepare(&in, &all))
        return false;
    for (uint32_t i = 0; i < w->size; i++) {
        uint8_t op = mr_window_op(w, i);
        held *h = &all[w->thread[i]];
        if (mr_op_is_access(op) || mr_op_ends_life(op)) {
            if (h->stale && !refresh(&in, h))
                return false;
            w->lockset[i] = h->lockset;
            w->region_end[i] = h->region_end;
        }
        if (keeps_apart(&in.value_locks, i))
            change_value_lock(h, in.value_locks.changes[i]);
        change_crossed(&in, h, i);
        const mr_section *section = mr_window_section(w, i);
        if (!section || !w->locks[section->lock].contended)
            continue;
        if (section->release == i) {
            leave(h, w->object[i]);
        } else {
            h->sections[h->count++] = w->object[i];
            h->stale = true;
        }
    }
    return true;
}

bool mr_locksets_meet(const mr_window *window, uint32_t lockset_1, uint32_t lockset_2)
{
    MR_ASSERT_COSTLY(lockset_1 < window->lockset_count && lockset_2 < window->lockset_count);
    const mr_lockset *one = &window->locksets[lockset_1], *two = &window->locksets[lockset_2];
    for (uint32_t i = 0, j = 0; i < one->count && j < two->count;) {
        uint32_t lock = one->locks[i] >> 1, other = two->locks[j] >> 1;
        if (lock == other && !(one->locks[i] & two->locks[j] & 1))
            return true;
        i += lock <= other;
        j += other <= lock;
    }
    return false;
}
