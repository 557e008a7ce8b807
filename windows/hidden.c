#include "hidden.h"

#include "base/assert.h"
#include "base/memory.h"
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

/* Locks that have a bit. */
enum { LOCKS = 64 };

/* The sections, of locks with a bit, that a thread is in. */
typedef struct holder {
    uint32_t *sections;
    uint32_t count;
} holder;

typedef struct builder {
    mr_window *window;
    uint8_t *bit; /* one a lock: its bit + 1; 0: none */
    holder *holders;
    uint32_t
        *before; /* one an event: the nearest foreign access before it, for a read; MR_NONE: none */
    uint32_t
        *after; /* one an event: the nearest foreign access after it, for a write; MR_NONE: none */
    uint32_t *of;     /* mr_hidden.of */
    mr_hiding *items; /* mr_hidden.items; owned */
    mr_table table;   /* owned; of `items` */
    size_t capacity;
    uint32_t count;
} builder;

/* ---- which locks ---- */

typedef struct lock_use {
    uint32_t lock, sections;
} lock_use;

static int by_use(const void *one, const void *two)
{
    const lock_use *x = one, *y = two;
    if (x->sections != y->sections)
        return x->sections > y->sections ? -1 : 1;
    return (x->lock > y->lock) - (x->lock < y->lock);
}

/* Gives the locks with most sections their bits. False: no memory. `*some`: there is one. */
static bool choose_locks(builder *b, bool *some, mr_arena *arena)
{
    const mr_window *w = b->window;
    uint32_t count = 0;
    lock_use *uses = mr_arena_alloc(arena, w->lock_count, sizeof *uses);
    b->bit = mr_arena_zalloc(arena, w->lock_count, sizeof *b->bit);
    if (!uses || !b->bit)
        return false;
    for (uint32_t l = 0; l < w->lock_count; l++)
        if (w->locks[l].contended)
            uses[count++] = (lock_use){l, w->locks[l].sections_end - w->locks[l].sections_first};
    if (count > LOCKS)
        qsort(uses, count, sizeof *uses, by_use);
    for (uint32_t k = 0; k < count && k < LOCKS; k++)
        b->bit[uses[k].lock] = (uint8_t)(k + 1);
    *some = count;
    return true;
}

/* ---- what is foreign ---- */

/* What a read saw; what a write wrote. */
static uint32_t value_of(const mr_window *w, uint32_t access)
{
    return mr_op_writes(mr_window_op(w, access)) ? mr_window_written_value(w, access)
                                                 : mr_window_read_value(w, access);
}

/* Is an access foreign to one that read or wrote `value`? */
static bool is_foreign(const mr_window *w, uint32_t access, uint32_t value)
{
    if (mr_op_writes(mr_window_op(w, access)))
        return true;
    uint32_t saw = mr_window_read_value(w, access);
    return w->model != MR_MODEL_BRANCH && saw && value && saw != value;
}

/* Walks a thread's events, and links each access to the nearest foreign one. `last`, the access before
 * it, and `seen_by` are one a variable. */
static void link_foreign(builder *b, uint32_t thread, bool forward, uint32_t *last,
                         uint32_t *seen_by)
{
    const mr_window *w = b->window;
    uint32_t length = mr_window_length(w, thread);
    uint32_t *link = forward ? b->before : b->after;
    for (uint32_t k = 0; k < length; k++) {
        uint32_t i = mr_window_at(w, thread, forward ? k : length - 1 - k);
        if (!mr_op_is_access(mr_window_op(w, i)))
            continue;
        uint32_t variable = w->object[i];
        uint32_t other = seen_by[variable] == thread ? last[variable] : MR_NONE;
        uint32_t value = forward ? mr_window_read_value(w, i) : value_of(w, i);
        link[i] = other == MR_NONE || is_foreign(w, other, value) ? other : link[other];
        last[variable] = i;
        seen_by[variable] = thread;
    }
}

static bool find_foreign(builder *b, mr_arena *arena)
{
    const mr_window *w = b->window;
    uint32_t *last = mr_arena_alloc(arena, w->variable_count, sizeof *last);
    uint32_t *seen_by = mr_arena_alloc(arena, w->variable_count, sizeof *seen_by);
    b->before = mr_arena_alloc(arena, w->size, sizeof *b->before);
    b->after = mr_arena_alloc(arena, w->size, sizeof *b->after);
    if (!last || !seen_by || !b->before || !b->after)
        return false;
    for (int forward = 0; forward < 2; forward++) {
        memset(seen_by, 0xff, w->variable_count * sizeof *seen_by);
        for (uint32_t t = 0; t < w->thread_count; t++)
            link_foreign(b, t, forward, last, seen_by);
    }
    return true;
}

/* ---- sections ---- */

static bool make_holders(builder *b, mr_arena *arena)
{
    const mr_window *w = b->window;
    uint32_t *most = mr_arena_zalloc(arena, w->thread_count, sizeof *most);
    b->holders = mr_arena_zalloc(arena, w->thread_count, sizeof *b->holders);
    if (!most || !b->holders)
        return false;
    /* A thread is in at most two sections of a lock, an exclusive and a shared one. */
    for (uint32_t s = 0; s < w->section_count; s++)
        most[w->sections[s].thread] += most[w->sections[s].thread] < 2 * LOCKS;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        b->holders[t].sections = mr_arena_alloc(arena, most[t], sizeof *b->holders[t].sections);
        if (!b->holders[t].sections)
            return false;
    }
    for (uint32_t s = 0; s < w->section_count; s++) {
        holder *h = &b->holders[w->sections[s].thread];
        if (w->sections[s].acquire == MR_NONE && b->bit[w->sections[s].lock])
            h->sections[h->count++] = s;
    }
    return true;
}

static void leave(holder *h, uint32_t section)
{
    uint32_t i = 0;
    while (h->sections[i] != section)
        i++;
    for (h->count--; i < h->count; i++)
        h->sections[i] = h->sections[i + 1];
}

static void change_sections(builder *b, uint32_t event)
{
    const mr_window *w = b->window;
    const mr_section *section = mr_window_section(w, event);
    holder *h = &b->holders[w->thread[event]];
    if (!section || !b->bit[section->lock])
        return;
    if (section->release == event)
        leave(h, w->object[event]);
    else
        h->sections[h->count++] = w->object[event];
}

static void add_lock(const builder *b, mr_lock_mask *mask, const mr_section *section)
{
    uint64_t bit = UINT64_C(1) << (b->bit[section->lock] - 1);
    mask->any |= bit;
    mask->exclusive |= section->shared ? 0 : bit;
}

static mr_hiding hiding_of(const builder *b, uint32_t access)
{
    const mr_window *w = b->window;
    const holder *h = &b->holders[w->thread[access]];
    bool reads = mr_op_reads(mr_window_op(w, access)),
         writes = mr_op_writes(mr_window_op(w, access));
    uint32_t before = b->before[access], after = b->after[access];
    mr_hiding hiding = {.held = {0}};
    for (uint32_t k = 0; k < h->count; k++) {
        const mr_section *section = &w->sections[h->sections[k]];
        add_lock(b, &hiding.held, section);
        if (reads &&
            (section->acquire == MR_NONE || (before != MR_NONE && section->acquire < before)))
            add_lock(b, &hiding.as_read, section);
        if (writes && (section->release == MR_NONE || section->release > after))
            add_lock(b, &hiding.as_write, section);
    }
    return hiding;
}

/* ---- numbers ---- */

static bool same(const void *items, uint32_t number, const void *key)
{
    return memcmp((const mr_hiding *)items + number, key, sizeof(mr_hiding)) == 0;
}

static uint32_t hash_of(const void *items, uint32_t number)
{
    uint64_t words[sizeof(mr_hiding) / sizeof(uint64_t)], hash = mr_table_seed();
    memcpy(words, (const mr_hiding *)items + number, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        hash = mr_table_fold(hash ^ words[i], UINT64_C(0x9e3779b97f4a7c15));
    return (uint32_t)(hash ^ hash >> 32);
}

/* False: no memory. */
static bool number(builder *b, const mr_hiding *hiding, uint32_t *of)
{
    void *items = b->items;
    if (!mr_table_reserve(&b->table, b->count + 1, hash_of, b->items, b->count))
        return false;
    uint32_t *slot = mr_table_slot(&b->table, hash_of(hiding, 0), same, b->items, hiding);
    if (!*slot) {
        if (!mr_grow(&items, &b->capacity, (size_t)b->count + 1, sizeof *b->items))
            return false;
        b->items = items;
        b->items[b->count] = *hiding;
        *slot = ++b->count;
    }
    *of = *slot - 1;
    return true;
}

static bool number_accesses(builder *b)
{
    const mr_window *w = b->window;
    const mr_hiding none = {.held = {0}};
    uint32_t zero;
    if (!number(b, &none, &zero))
        return false;
    for (uint32_t i = 0; i < w->size; i++) {
        if (!mr_op_is_access(mr_window_op(w, i))) {
            change_sections(b, i);
            continue;
        }
        const mr_window_variable *variable = &w->variables[w->object[i]];
        if (!variable->shared || variable->by_source || !b->holders[w->thread[i]].count)
            continue;
        mr_hiding hiding = hiding_of(b, i);
        if (!number(b, &hiding, &b->of[i]))
            return false;
    }
    return true;
}

static bool has_reads_by_value(const mr_window *w)
{
    for (uint32_t v = 0; v < w->variable_count; v++)
        if (w->variables[v].shared && !w->variables[v].by_source)
            return true;
    return false;
}

static bool keep(builder *b, mr_arena *arena)
{
    mr_hidden *hidden = mr_arena_alloc(arena, 1, sizeof *hidden);
    mr_hiding *items = mr_arena_alloc(arena, b->count, sizeof *items);
    if (!hidden || !items)
        return false;
    memcpy(items, b->items, b->count * sizeof *items);
    *hidden = (mr_hidden){.of = b->of, .items = items};
    b->window->hidden = hidden;
    return true;
}

bool mr_window_build_hidden(mr_window *w, mr_arena *arena)
{
    builder b = {.window = w};
    bool some = false;
    if (!has_reads_by_value(w))
        return true;
    b.of = mr_arena_zalloc(arena, w->size, sizeof *b.of);
    mr_arena_mark mark = mr_arena_get_mark(arena);
    bool complete =
        b.of && choose_locks(&b, &some, arena) &&
        (!some || (find_foreign(&b, arena) && make_holders(&b, arena) && number_accesses(&b)));
    mr_arena_release(arena, mark);
    if (complete && some)
        complete = keep(&b, arena);
    mr_table_free(&b.table);
    free(b.items);
    return complete;
}
