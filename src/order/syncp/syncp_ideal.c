#include "syncp_ideal.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

/* Rows of no more threads than MOST_WIDTH are one node, others trees of nodes of TREE_WIDTH. */
enum { MOST_WIDTH = 128, TREE_WIDTH = 16 };

/* How many threads the children of a node of this height are about, each. */
static uint32_t span_of(const mr_syncp_ideals *ideals, uint32_t height)
{
    uint32_t span = 1;
    while (height--)
        span *= ideals->width;
    return span;
}

/* A node with these words; MR_NONE: no memory. */
static uint32_t add_node(mr_syncp_ideals *ideals, const uint32_t *words)
{
    void *items = ideals->nodes;
    size_t width = ideals->width;
    if (ideals->node_count >= MR_NONE ||
        !mr_grow(&items, &ideals->node_capacity, ideals->node_count + 1, width * sizeof *words))
        return MR_NONE;
    ideals->nodes = items;
    memcpy(ideals->nodes + ideals->node_count * width, words, width * sizeof *words);
    return (uint32_t)ideals->node_count++;
}

static const uint32_t *words_of(const mr_syncp_ideals *ideals, uint32_t node)
{
    return ideals->nodes + (size_t)node * ideals->width;
}

static bool init_rows(mr_syncp_ideals *ideals)
{
    const uint32_t zeros[MOST_WIDTH] = {0};
    uint32_t threads = ideals->thread_count, most = threads ? MR_SYNCP_MOST_UNPACKED / threads : 0;
    ideals->width = threads > MOST_WIDTH ? TREE_WIDTH : threads ? threads : 1;
    while (threads > ideals->width &&
           (threads - 1) / span_of(ideals, ideals->height) >= ideals->width)
        ideals->height++;
    ideals->unpacked_most = most > threads ? threads : most < 2 ? 2 : most;
    ideals->entries = mr_calloc((size_t)ideals->unpacked_most * threads, sizeof *ideals->entries);
    ideals->unpacked = mr_calloc(ideals->unpacked_most, sizeof *ideals->unpacked);
    if (!ideals->entries || !ideals->unpacked)
        return false;
    memset(ideals->unpacked, 0xff, ideals->unpacked_most * sizeof *ideals->unpacked);
    return add_node(ideals, zeros) == 0;
}

bool mr_syncp_ideals_init(mr_syncp_ideals *ideals, const mr_trace *trace)
{
    uint32_t threads = trace->chain_count, locks = trace->locks.count;
    *ideals = (mr_syncp_ideals){.thread_count = threads};
    ideals->threads = mr_calloc(threads, sizeof *ideals->threads);
    if (!ideals->threads || !init_rows(ideals) || !mr_syncp_ideals_grow(ideals, locks))
        return false;
    for (uint32_t thread = 0; thread < threads; thread++)
        ideals->threads[thread].open = ideals->threads[thread].row = MR_NONE;
    return true;
}

bool mr_syncp_ideals_grow(mr_syncp_ideals *ideals, uint32_t lock_count)
{
    void *items = mr_realloc(ideals->first_user, lock_count, sizeof *ideals->first_user);
    if (!items)
        return false;
    ideals->first_user = items;
    for (; ideals->lock_count < lock_count; ideals->lock_count++)
        ideals->first_user[ideals->lock_count] = MR_NONE;
    return true;
}

void mr_syncp_ideals_free(mr_syncp_ideals *ideals)
{
    for (uint32_t thread = 0; ideals->threads && thread < ideals->thread_count; thread++)
        free(ideals->threads[thread].steps);
    for (size_t user = 0; user < ideals->user_count; user++)
        mr_u32s_free(&ideals->users[user].sections);
    free(ideals->threads);
    free(ideals->entries);
    free(ideals->unpacked);
    free(ideals->nodes);
    free(ideals->sections);
    free(ideals->held);
    free(ideals->users);
    free(ideals->first_user);
    mr_map_free(&ideals->user_numbers);
    *ideals = (mr_syncp_ideals){0};
}

/* ---- rows ---- */

/* The node with these words, one of `like` where it has them; MR_NONE: no memory. */
static uint32_t find_node(mr_syncp_ideals *ideals, const uint32_t *words, const uint32_t like[2])
{
    uint32_t any = 0;
    for (int i = 0; i < 2; i++)
        if (memcmp(words, words_of(ideals, like[i]), ideals->width * sizeof *words) == 0)
            return like[i];
    for (uint32_t i = 0; i < ideals->width; i++)
        any |= words[i];
    return any ? add_node(ideals, words) : 0;
}

/* The node of `count` entries; its nodes are those of `like` where they are the same. MR_NONE: no memory. */
static uint32_t pack(mr_syncp_ideals *ideals, const uint32_t *entries, uint32_t count,
                     uint32_t height, const uint32_t like[2])
{
    uint32_t words[MOST_WIDTH], width = ideals->width, span = span_of(ideals, height);
    if (!height && count >= width)
        return find_node(ideals, entries, like);
    memset(words, 0, width * sizeof *words);
    if (!height)
        memcpy(words, entries, count * sizeof *words);
    for (uint32_t i = 0; height && i < width && i * span < count; i++) {
        uint32_t left = count - i * span;
        const uint32_t below[] = {words_of(ideals, like[0])[i], words_of(ideals, like[1])[i]};
        words[i] =
            pack(ideals, entries + (size_t)i * span, left < span ? left : span, height - 1, below);
        if (words[i] == MR_NONE)
            return MR_NONE;
    }
    return find_node(ideals, words, like);
}

static bool store(mr_syncp_ideals *ideals, mr_syncp_thread *t)
{
    if (t->row == MR_NONE)
        t->row = pack(ideals, t->ideal, ideals->thread_count, ideals->height, t->like);
    t->like[0] = t->row == MR_NONE ? 0 : t->row;
    return t->row != MR_NONE;
}

/* Each entry becomes the greater of the two. */
static void join_entries(uint32_t *restrict into, const uint32_t *restrict from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        into[i] = from[i] > into[i] ? from[i] : into[i];
}

/* Adds to `ideal` the entries of a node, which are those from `first` on. */
static void join_node(const mr_syncp_ideals *ideals, uint32_t *ideal, uint32_t node,
                      uint32_t height, uint32_t first)
{
    const uint32_t *words = words_of(ideals, node);
    uint32_t left = ideals->thread_count - first, width = ideals->width;
    if (!height) {
        join_entries(ideal + first, words, left < width ? left : width);
        return;
    }
    uint32_t span = span_of(ideals, height);
    for (uint32_t i = 0; i < width; i++)
        if (words[i])
            join_node(ideals, ideal, words[i], height - 1, first + i * span);
}

/* A place for the ideal of a thread, that of another one where there is none left. NULL: no memory. */
static uint32_t *make_place(mr_syncp_ideals *ideals, uint32_t thread)
{
    uint32_t place = ideals->unpacked_next, *had = &ideals->unpacked[place];
    if (*had != MR_NONE) {
        if (!store(ideals, &ideals->threads[*had]))
            return NULL;
        ideals->threads[*had].ideal = NULL;
    }
    *had = thread;
    ideals->unpacked_next = (place + 1) % ideals->unpacked_most;
    return ideals->entries + (size_t)place * ideals->thread_count;
}

/* Makes sure that the ideal of the thread is there. False: no memory. */
static bool unpack(mr_syncp_ideals *ideals, uint32_t thread)
{
    mr_syncp_thread *t = &ideals->threads[thread];
    if (t->ideal)
        return true;
    t->ideal = make_place(ideals, thread);
    if (!t->ideal)
        return false;
    memset(t->ideal, 0, ideals->thread_count * sizeof *t->ideal);
    if (t->row != MR_NONE)
        join_node(ideals, t->ideal, t->row, ideals->height, 0);
    t->ideal[thread] = mr_syncp_entry(ideals, thread, (uint32_t)t->step_count);
    return true;
}

bool mr_syncp_store(mr_syncp_ideals *ideals, uint32_t thread)
{
    return unpack(ideals, thread) && store(ideals, &ideals->threads[thread]);
}

/* ---- steps ---- */

static bool end_step(mr_syncp_ideals *ideals, uint32_t thread, uint32_t event)
{
    mr_syncp_thread *t = &ideals->threads[thread];
    void *items = t->steps;
    if (!mr_grow(&items, &t->step_capacity, t->step_count + 1, sizeof *t->steps))
        return false;
    t->steps = items;
    MR_ASSERT(!t->step_count || t->steps[t->step_count - 1].last <= event);
    t->steps[t->step_count++] = (mr_syncp_step){.row = t->row, .open = t->open, .last = event};
    t->ideal[thread] = mr_syncp_entry(ideals, thread, (uint32_t)t->step_count);
    return true;
}

bool mr_syncp_publish(mr_syncp_ideals *ideals, uint32_t thread, uint32_t event)
{
    return mr_syncp_store(ideals, thread) && end_step(ideals, thread, event);
}

void mr_syncp_join(const mr_syncp_ideals *ideals, uint32_t *ideal, uint32_t row, uint32_t thread,
                   uint32_t step)
{
    MR_ASSERT(row < ideals->node_count);
    join_node(ideals, ideal, row, ideals->height, 0);
    uint32_t own = mr_syncp_entry(ideals, thread, step);
    if (own > ideal[thread])
        ideal[thread] = own;
}

static void join_step(const mr_syncp_ideals *ideals, uint32_t *ideal, uint32_t thread,
                      uint32_t step)
{
    MR_ASSERT(step > 0 && step <= ideals->threads[thread].step_count); /* it has ended */
    mr_syncp_join(ideals, ideal, ideals->threads[thread].steps[step - 1].row, thread, step);
}

/* Does the user acquire the lock after `section` (in the trace) in its steps up to `step`? */
static bool acquires_after(const mr_syncp_ideals *ideals, const mr_syncp_user *user,
                           uint32_t section, uint32_t step)
{
    const mr_u32s *list = &user->sections;
    if (!step || list->items[list->count - 1] < section)
        return false;
    size_t low = 0, high = list->count - 1; /* the first one after `section` is in [low, high] */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->items[middle] > section)
            high = middle;
        else
            low = middle + 1;
    }
    return ideals->sections[list->items[low]].acquire_step <= step;
}

/* Rule 4 for a section that is open at the cut of its thread. */
static bool must_be_released(const mr_syncp_ideals *ideals, const uint32_t *ideal,
                             const mr_syncp_held *held)
{
    uint32_t owner = ideals->sections[held->section].thread;
    for (uint32_t number = ideals->first_user[held->lock]; number != MR_NONE;) {
        const mr_syncp_user *user = &ideals->users[number];
        if (user->thread != owner &&
            acquires_after(ideals, user, held->section, ideal[user->thread] / 2))
            return true;
        number = user->next;
    }
    return false;
}

/* Joins the release of a section that is open at the thread's cut and must not be. False: no such
 * section is. */
static bool close_thread(const mr_syncp_ideals *ideals, uint32_t *ideal, uint32_t thread)
{
    uint32_t open = mr_syncp_open(ideals, thread, ideal[thread] / 2);
    for (; open != MR_NONE; open = ideals->held[open].next) {
        const mr_syncp_held *held = &ideals->held[open];
        if (must_be_released(ideals, ideal, held)) {
            join_step(ideals, ideal, thread, ideals->sections[held->section].release_step);
            return true;
        }
    }
    return false;
}

bool mr_syncp_close(const mr_syncp_ideals *ideals, uint32_t *ideal, uint32_t thread, uint32_t step)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < ideals->thread_count; i++) {
            while (ideal[i] % 2 && close_thread(ideals, ideal, i)) {
                changed = true;
                if (ideal[thread] / 2 >= step)
                    return true;
            }
        }
    }
    return ideal[thread] / 2 >= step;
}

/* The ideal of the thread gets the step of another one. */
static void take_step(mr_syncp_ideals *ideals, uint32_t thread, uint32_t source, uint32_t step)
{
    mr_syncp_thread *t = &ideals->threads[thread];
    join_step(ideals, t->ideal, source, step);
    t->like[1] = ideals->threads[source].steps[step - 1].row;
}

/* Closes the ideal of the thread again after it has grown. */
static void close_own(mr_syncp_ideals *ideals, uint32_t thread)
{
    ideals->threads[thread].row = MR_NONE;
    mr_syncp_close(ideals, ideals->threads[thread].ideal, thread, UINT32_MAX);
}

bool mr_syncp_learn(mr_syncp_ideals *ideals, uint32_t thread, uint32_t event, uint32_t source,
                    uint32_t step)
{
    if (thread == source)
        return true;
    if (!unpack(ideals, thread))
        return false;
    if (ideals->threads[thread].ideal[source] / 2 >= step)
        return true;
    if (!end_step(ideals, thread, event))
        return false;
    take_step(ideals, thread, source, step);
    close_own(ideals, thread);
    return true;
}

bool mr_syncp_fork(mr_syncp_ideals *ideals, uint32_t thread, uint32_t event, uint32_t child)
{
    if (!mr_syncp_publish(ideals, thread, event) || !unpack(ideals, child))
        return false;
    take_step(ideals, child, thread, (uint32_t)ideals->threads[thread].step_count);
    close_own(ideals, child);
    return true;
}

/* Users of a lock that are looked through before a hash table is asked. */
enum { FEW_USERS = 4 };

static mr_syncp_user *get_user(mr_syncp_ideals *ideals, uint32_t lock, uint32_t thread)
{
    uint32_t known = ideals->first_user[lock];
    for (int i = 0; i < FEW_USERS && known != MR_NONE; i++, known = ideals->users[known].next)
        if (ideals->users[known].thread == thread)
            return &ideals->users[known];
    uint32_t *number = mr_map_at(&ideals->user_numbers, mr_map_key(lock, thread), MR_NONE);
    if (!number)
        return NULL;
    if (*number == MR_NONE) {
        void *items = ideals->users;
        if (!mr_grow(&items, &ideals->user_capacity, ideals->user_count + 1, sizeof *ideals->users))
            return NULL;
        ideals->users = items;
        *number = (uint32_t)ideals->user_count++;
        ideals->users[*number] = (mr_syncp_user){thread, ideals->first_user[lock], {0}};
        ideals->first_user[lock] = *number;
    }
    return &ideals->users[*number];
}

/* A new section of the lock, open from the end of this step on. */
static bool open_section(mr_syncp_ideals *ideals, uint32_t thread, uint32_t lock)
{
    mr_syncp_thread *t = &ideals->threads[thread];
    mr_syncp_user *user = get_user(ideals, lock, thread);
    uint32_t number = (uint32_t)ideals->section_count;
    if (!user || !mr_u32s_push(&user->sections, number))
        return false;
    void *items = ideals->sections;
    if (!mr_grow(&items, &ideals->section_capacity, ideals->section_count + 1,
                 sizeof *ideals->sections))
        return false;
    ideals->sections = items;
    ideals->sections[ideals->section_count++] =
        (mr_syncp_section){thread, mr_syncp_step_now(ideals, thread), 0};
    items = ideals->held;
    if (!mr_grow(&items, &ideals->held_capacity, ideals->held_count + 1, sizeof *ideals->held))
        return false;
    ideals->held = items;
    ideals->held[ideals->held_count] = (mr_syncp_held){number, lock, t->open};
    t->open = (uint32_t)ideals->held_count++;
    return true;
}

/* Joins the releases of the sections of the lock that are open at the cuts of other threads: all
 * these releases come before this acquire. */
static bool join_releases(mr_syncp_ideals *ideals, uint32_t thread, uint32_t lock)
{
    bool joined = false;
    const uint32_t *ideal = ideals->threads[thread].ideal;
    for (uint32_t i = 0; i < ideals->thread_count; i++) {
        if (!(ideal[i] % 2) || i == thread)
            continue;
        uint32_t open = mr_syncp_open(ideals, i, ideal[i] / 2);
        while (open != MR_NONE && ideals->held[open].lock != lock)
            open = ideals->held[open].next;
        if (open == MR_NONE)
            continue;
        take_step(ideals, thread, i, ideals->sections[ideals->held[open].section].release_step);
        joined = true;
    }
    return joined;
}

bool mr_syncp_acquire(mr_syncp_ideals *ideals, uint32_t thread, uint32_t event, uint32_t lock)
{
    if (!open_section(ideals, thread, lock) || !unpack(ideals, thread) ||
        !end_step(ideals, thread, event))
        return false;
    if (join_releases(ideals, thread, lock))
        close_own(ideals, thread);
    return true;
}

/* Takes the section of the lock out of the list. Lists share their tails, so the nodes before it
 * are made anew. */
static bool remove_held(mr_syncp_ideals *ideals, uint32_t *list, uint32_t lock, uint32_t *section)
{
    size_t first = ideals->held_count;
    uint32_t at = *list;
    for (; at != MR_NONE && ideals->held[at].lock != lock; at = ideals->held[at].next) {
        void *items = ideals->held;
        if (!mr_grow(&items, &ideals->held_capacity, ideals->held_count + 1, sizeof *ideals->held))
            return false;
        ideals->held = items;
        mr_syncp_held *copy = &ideals->held[ideals->held_count++];
        *copy = ideals->held[at];
        copy->next = (uint32_t)ideals->held_count;
    }
    MR_ASSERT(at != MR_NONE); /* the thread is in a section of the lock */
    *section = ideals->held[at].section;
    if (ideals->held_count > first) {
        ideals->held[ideals->held_count - 1].next = ideals->held[at].next;
        *list = (uint32_t)first;
    } else {
        *list = ideals->held[at].next;
    }
    return true;
}

bool mr_syncp_release(mr_syncp_ideals *ideals, uint32_t thread, uint32_t event, uint32_t lock)
{
    mr_syncp_thread *t = &ideals->threads[thread];
    uint32_t section;
    if (!remove_held(ideals, &t->open, lock, &section) || !mr_syncp_publish(ideals, thread, event))
        return false;
    MR_ASSERT(ideals->sections[section].thread == thread);
    MR_ASSERT(ideals->sections[section].acquire_step < t->step_count);
    ideals->sections[section].release_step = (uint32_t)t->step_count;
    return true;
}

bool mr_syncp_common_lock(const mr_syncp_ideals *ideals, uint32_t open, uint32_t other)
{
    for (; open != MR_NONE; open = ideals->held[open].next)
        for (uint32_t at = other; at != MR_NONE; at = ideals->held[at].next)
            if (ideals->held[at].lock == ideals->held[open].lock)
                return true;
    return false;
}
