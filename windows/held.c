#include "held.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

/* The current list of a thread. */
typedef struct current {
    uint32_t head;
    uint32_t open, left; /* its entries: sections that are open, and those to be passed over */
    uint32_t changes;
} current;

typedef struct builder {
    const mr_window *window;
    mr_held *held;
    uint32_t entry_count;
    size_t entry_capacity;
    current *threads;
} builder;

static bool counts(const mr_window *w, const mr_section *section)
{
    return section && w->locks[section->lock].contended;
}

static uint32_t push(builder *b, uint32_t section, uint32_t next)
{
    MR_ASSERT(b->entry_count < b->entry_capacity); /* two entries a section */
    b->held->entries[b->entry_count] = (mr_held_entry){.section = section, .next = next};
    return b->entry_count++;
}

/* The list after a change; the thread has run its first `from` events. */
static void note(builder *b, uint32_t thread, uint32_t from)
{
    mr_held *held = b->held;
    uint32_t change = held->change_first[thread] + b->threads[thread].changes++;
    MR_ASSERT(change < held->change_first[thread + 1]);
    held->change_from[change] = from;
    held->change_head[change] = b->threads[thread].head;
}

static void drop_left(builder *b, current *c, uint32_t length)
{
    const mr_window *w = b->window;
    const mr_held_entry *entries = b->held->entries;
    for (; c->head != MR_NONE; c->left--, c->head = entries[c->head].next)
        if (!mr_held_is_left(w, &w->sections[entries[c->head].section], length))
            return;
}

/* Writes the list anew with its open sections only, in the same order. */
static void rewrite(builder *b, current *c, uint32_t length)
{
    const mr_window *w = b->window;
    uint32_t from = c->head, last = MR_NONE;
    c->head = MR_NONE;
    for (; from != MR_NONE; from = b->held->entries[from].next) {
        uint32_t section = b->held->entries[from].section;
        if (mr_held_is_left(w, &w->sections[section], length))
            continue;
        uint32_t entry = push(b, section, MR_NONE);
        if (last == MR_NONE)
            c->head = entry;
        else
            b->held->entries[last].next = entry;
        last = entry;
    }
    c->left = 0;
}

static void enter(builder *b, uint32_t thread, uint32_t section)
{
    current *c = &b->threads[thread];
    c->head = push(b, section, c->head);
    c->open++;
}

/* A section is left by the event before `length`. */
static void leave(builder *b, uint32_t thread, uint32_t length)
{
    current *c = &b->threads[thread];
    MR_ASSERT(c->open > 0);
    c->open--;
    c->left++;
    drop_left(b, c, length);
    if (c->left > c->open)
        rewrite(b, c, length);
}

static bool allocate(builder *b, mr_arena *arena)
{
    const mr_window *w = b->window;
    mr_held *held = b->held;
    /* A change for each way in or out, and the list to begin with; copies of entries are at most as
     * many as releases. */
    size_t changes = (size_t)w->thread_count, entries = 0;
    b->threads = mr_arena_zalloc(arena, w->thread_count, sizeof *b->threads);
    held->change_first =
        mr_arena_zalloc(arena, (size_t)w->thread_count + 1, sizeof *held->change_first);
    if (!b->threads || !held->change_first)
        return false;
    for (uint32_t s = 0; s < w->section_count; s++) {
        const mr_section *section = &w->sections[s];
        if (!counts(w, section))
            continue;
        uint32_t own = (section->acquire != MR_NONE) + (section->release != MR_NONE);
        held->change_first[section->thread + 1] += own;
        changes += own;
        entries += 2;
    }
    for (uint32_t t = 0; t < w->thread_count; t++) {
        held->change_first[t + 1] += held->change_first[t] + 1;
        b->threads[t].head = MR_NONE;
    }
    b->entry_capacity = entries;
    held->change_from = mr_arena_alloc(arena, changes, sizeof *held->change_from);
    held->change_head = mr_arena_alloc(arena, changes, sizeof *held->change_head);
    held->entries = mr_arena_alloc(arena, entries, sizeof *held->entries);
    return held->change_from && held->change_head && held->entries;
}

static void build_lists(builder *b)
{
    const mr_window *w = b->window;
    for (uint32_t s = 0; s < w->section_count; s++)
        if (w->sections[s].acquire == MR_NONE && counts(w, &w->sections[s]))
            enter(b, w->sections[s].thread, s);
    for (uint32_t t = 0; t < w->thread_count; t++)
        note(b, t, 0);
    for (uint32_t i = 0; i < w->size; i++) {
        const mr_section *section = mr_window_section(w, i);
        if (!counts(w, section))
            continue;
        uint32_t thread = w->thread[i], length = w->position[i] + 1;
        if (section->acquire == i)
            enter(b, thread, w->object[i]);
        else
            leave(b, thread, length);
        note(b, thread, length);
    }
}

static int compare_users(const void *one, const void *two)
{
    const mr_lock_user *x = one, *y = two;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return x->shared - y->shared;
}

/* The users of locks, by thread or by chain; `slot`, two a thread or chain, is MR_NONE between locks. */
typedef struct lister {
    const mr_window *window;
    mr_lock_users *users;
    uint32_t *slot;
    uint32_t count; /* users so far */
    bool by_chain;
} lister;

static uint32_t *slot_of(const lister *l, uint32_t thread, bool shared)
{
    uint32_t number = l->by_chain ? l->window->threads[thread].chain : thread;
    return &l->slot[2 * (size_t)number + shared];
}

/* Counts the users of a lock, and their sections in `end`. */
static void count_users(lister *l, const mr_window_lock *lock)
{
    uint32_t first = l->count;
    for (uint32_t s = lock->sections_first; s < lock->sections_end; s++) {
        const mr_section *section = &l->window->sections[s];
        uint32_t *user = slot_of(l, section->thread, section->shared);
        if (*user == MR_NONE) {
            *user = l->count++;
            l->users->of[*user] =
                (mr_lock_user){.thread = section->thread, .shared = section->shared};
        }
        l->users->of[*user].end++;
    }
    qsort(l->users->of + first, l->count - first, sizeof *l->users->of, compare_users);
}

/* Adds the users of a lock with their sections. */
static void add_users(lister *l, const mr_window_lock *lock)
{
    mr_lock_user *users = l->users->of;
    uint32_t first = l->count, at = lock->sections_first;
    count_users(l, lock);
    for (uint32_t u = first; u < l->count; u++) {
        uint32_t count = users[u].end;
        users[u].first = users[u].end = at;
        at += count;
        *slot_of(l, users[u].thread, users[u].shared) = u;
    }
    for (uint32_t s = lock->sections_first; s < lock->sections_end; s++) {
        const mr_section *section = &l->window->sections[s];
        l->users->entered[users[*slot_of(l, section->thread, section->shared)].end++] = s;
    }
    for (uint32_t u = first; u < l->count; u++)
        *slot_of(l, users[u].thread, users[u].shared) = MR_NONE;
}

static bool build_users(mr_lock_users *users, const mr_window *w, bool by_chain, mr_arena *arena)
{
    size_t slots = 2 * (size_t)(by_chain ? w->chain_count : w->thread_count);
    lister l = {.window = w,
                .users = users,
                .slot = mr_arena_alloc(arena, slots, sizeof *l.slot),
                .by_chain = by_chain};
    users->first = mr_arena_alloc(arena, (size_t)w->lock_count + 1, sizeof *users->first);
    users->of = mr_arena_alloc(arena, w->section_count, sizeof *users->of);
    users->entered = mr_arena_alloc(arena, w->section_count, sizeof *users->entered);
    if (!l.slot || !users->first || !users->of || !users->entered)
        return false;
    memset(l.slot, 0xff, slots * sizeof *l.slot);
    for (uint32_t lock = 0; lock < w->lock_count; lock++) {
        users->first[lock] = l.count;
        if (w->locks[lock].contended)
            add_users(&l, &w->locks[lock]);
    }
    users->first[w->lock_count] = l.count;
    return true;
}

static bool build_all_users(mr_held *held, const mr_window *w, mr_arena *arena)
{
    if (!build_users(&held->by_thread, w, false, arena))
        return false;
    held->by_chain = held->by_thread;
    return w->chain_count == w->thread_count || build_users(&held->by_chain, w, true, arena);
}

bool mr_window_build_held(mr_window *w, mr_arena *arena)
{
    mr_held *held = mr_arena_zalloc(arena, 1, sizeof *held);
    builder b = {.window = w, .held = held};
    if (!held || !allocate(&b, arena) || !build_all_users(held, w, arena))
        return false;
    build_lists(&b);
    w->held = held;
    return true;
}

uint32_t mr_held_at(const mr_held *held, uint32_t thread, uint32_t length)
{
    uint32_t low = held->change_first[thread], high = held->change_first[thread + 1];
    MR_ASSERT(low < high && held->change_from[low] == 0);
    while (high - low > 1) { /* the last change up to here; the first is from 0 on */
        uint32_t middle = low + (high - low) / 2;
        if (held->change_from[middle] <= length)
            low = middle;
        else
            high = middle;
    }
    return held->change_head[low];
}

uint32_t mr_held_user_from(const mr_held *held, uint32_t lock, uint32_t thread)
{
    const mr_lock_users *users = &held->by_thread;
    uint32_t low = users->first[lock], high = users->first[lock + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (users->of[middle].thread < thread)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool mr_held_enters_after(const mr_window *w, const mr_lock_user *user, uint32_t length,
                          uint32_t after)
{
    const uint32_t *entered = w->held->by_thread.entered;
    uint32_t low = user->first, high = user->end;
    if (entered[high - 1] <= after)
        return false;
    while (low < high) { /* the first section beyond `after` */
        uint32_t middle = low + (high - low) / 2;
        if (entered[middle] <= after)
            low = middle + 1;
        else
            high = middle;
    }
    MR_ASSERT(low < user->end && entered[low] > after);
    uint32_t acquire = w->sections[entered[low]].acquire;
    return acquire == MR_NONE || w->position[acquire] < length;
}
