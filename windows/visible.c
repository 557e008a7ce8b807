#include "visible.h"

#include "base/assert.h"
#include "base/table.h"

/* Which thread reads a (variable, value), or that several do. */
typedef struct reader {
    uint64_t key;
    uint32_t thread;
    bool several;
} reader;

typedef struct readers {
    reader *items;
    uint32_t count;
    mr_table table;
} readers;

static bool same(const void *items, uint32_t number, const void *key)
{
    return ((const reader *)items)[number].key == *(const uint64_t *)key;
}

static uint32_t *find(const readers *all, uint64_t key)
{
    return mr_table_slot(&all->table, mr_table_hash_u64(key), same, all->items, &key);
}

/* What a read asks for: a write event (by source) or a value of the variable. */
static uint64_t key_of(const mr_window *w, uint32_t event, uint32_t source, uint32_t value)
{
    uint32_t variable = w->object[event];
    if (w->variables[variable].by_source)
        return (uint64_t)1 << 63 | source;
    return (uint64_t)variable << 32 | value;
}

static bool collect_readers(readers *all, const mr_window *w, mr_arena *arena)
{
    all->items = mr_arena_alloc(arena, w->size, sizeof *all->items);
    if (!all->items || !mr_table_in_arena(&all->table, arena, w->size))
        return false;
    for (uint32_t i = 0; i < w->size; i++) {
        if (!mr_op_reads(mr_window_op(w, i)) || !w->variables[w->object[i]].shared)
            continue;
        if (w->variables[w->object[i]].by_source && w->source[i] == MR_NONE)
            continue;
        uint64_t key = key_of(w, i, w->source[i], mr_window_read_value(w, i));
        uint32_t *slot = find(all, key);
        if (!*slot) {
            all->items[all->count++] = (reader){.key = key, .thread = w->thread[i]};
            *slot = all->count;
        }
        reader *entry = &all->items[*slot - 1];
        entry->several = entry->several || entry->thread != w->thread[i];
    }
    return true;
}

/* Is there something that another thread's event may need: a fork, a unit, a write that it reads?
 */
static bool is_visible(const readers *all, const mr_window *w, uint32_t event)
{
    uint8_t op = mr_window_op(w, event);
    if (!mr_op_writes(op) || !w->variables[w->object[event]].shared)
        return mr_op_forks(op) || (mr_op_gives(op) && w->semaphores[w->object[event]].shared);
    uint32_t found = *find(all, key_of(w, event, event, mr_window_written_value(w, event)));
    if (!found)
        return false;
    const reader *entry = &all->items[found - 1];
    return entry->several || entry->thread != w->thread[event];
}

uint32_t *mr_visible_stretches(const mr_window *w, bool count_releases, mr_arena *arena)
{
    uint32_t *stretch = mr_arena_zalloc(arena, w->size, sizeof *stretch);
    uint32_t *seen = mr_arena_zalloc(arena, w->thread_count, sizeof *seen);
    readers all = {0};
    if (!stretch || !seen || !collect_readers(&all, w, arena))
        return NULL;
    for (size_t k = 0; k < w->barrier_edge_count; k++)
        stretch[w->barrier_edges[k].from] = 1; /* visible, until its number is known */
    for (uint32_t i = 0; i < w->size; i++) {
        const mr_section *section = mr_window_section(w, i);
        bool visible = stretch[i] || is_visible(&all, w, i) ||
                       (count_releases && section && section->release == i);
        MR_ASSERT_COSTLY(seen[w->thread[i]] <= w->position[i]);
        stretch[i] = seen[w->thread[i]];
        seen[w->thread[i]] += visible;
    }
    return stretch;
}
