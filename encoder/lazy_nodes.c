/* The nodes of a lazily built encoding. */
#include "lazy.h"

#include "branches.h"

#include <stdlib.h>
#include <string.h>

static bool is_constrained_read(const mr_encoding *encoding, uint32_t event)
{
    return mr_op_reads(mr_window_op(encoding->window, event)) &&
           mr_read_is_constrained(encoding, event);
}

/* A lock is of interest when two threads have sections in C, one of them exclusive. */
static bool is_contended(const mr_encoding *encoding, const mr_window_lock *lock)
{
    const mr_window *w = encoding->window;
    uint32_t thread = MR_NONE;
    bool exclusive = false, several = false;
    for (uint32_t i = lock->sections_first; i < lock->sections_end; i++) {
        const mr_section *section = &w->sections[i];
        if (section->acquire != MR_NONE && !mr_encoding_in_cone(encoding, section->acquire))
            continue;
        several |= thread != MR_NONE && thread != section->thread;
        thread = section->thread;
        exclusive |= !section->shared;
        if (several && exclusive)
            return true;
    }
    return false;
}

static void make_lock_nodes(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    for (uint32_t l = 0; l < w->lock_count; l++) {
        const mr_window_lock *lock = &w->locks[l];
        if (!lock->contended || !is_contended(encoding, lock))
            continue;
        for (uint32_t i = lock->sections_first; i < lock->sections_end; i++) {
            const uint32_t events[] = {w->sections[i].acquire, w->sections[i].release};
            for (int k = 0; k < 2; k++)
                if (events[k] != MR_NONE && mr_encoding_in_cone(encoding, events[k]))
                    mr_encoding_node(encoding, events[k]);
        }
    }
}

/* What is known of a variable while the cone is looked through. */
enum { READ = 1, WRITTEN = 2, OTHERS_NEEDED = 4 };

/* Does the read see what it must if no other thread writes? */
static bool sees_own(const mr_window *w, uint32_t read)
{
    uint32_t own = w->previous_write[read], value = mr_window_read_value(w, read);
    const mr_window_variable *variable = &w->variables[w->object[read]];
    if (variable->by_source)
        return own == w->source[read];
    return own == MR_NONE ? value && variable->carried_value == value
                          : mr_window_written_value(w, own) == value;
}

static void look_at_access(const mr_encoding *encoding, uint32_t event, uint8_t *kind,
                           uint32_t *owner)
{
    const mr_window *w = encoding->window;
    uint32_t variable = w->object[event];
    bool reads = is_constrained_read(encoding, event);
    if (!w->variables[variable].shared || (!reads && !mr_op_writes(mr_window_op(w, event))))
        return;
    if (owner[variable] != MR_NONE && owner[variable] != w->thread[event])
        kind[variable] |= OTHERS_NEEDED;
    owner[variable] = w->thread[event];
    if (mr_op_writes(mr_window_op(w, event)))
        kind[variable] |= WRITTEN;
    if (reads)
        kind[variable] |= sees_own(w, event) ? READ : READ | OTHERS_NEEDED;
}

/* Chooses the variables whose reads are looked at; `owner` is scratch, one a variable. */
static void make_access_nodes(mr_encoding *encoding, uint32_t *owner)
{
    const mr_window *w = encoding->window;
    uint8_t *kind = encoding->lazy->watched;
    memset(owner, 0xff, w->variable_count * sizeof *owner);
    for (uint32_t t = 0; t < w->thread_count; t++)
        for (uint32_t k = 0; k < encoding->cone[t]; k++)
            if (mr_op_is_access(mr_window_op(w, mr_window_at(w, t, k))))
                look_at_access(encoding, mr_window_at(w, t, k), kind, owner);
    for (uint32_t v = 0; v < w->variable_count; v++)
        kind[v] = (kind[v] & READ) && (kind[v] & OTHERS_NEEDED);
    for (uint32_t t = 0; t < w->thread_count; t++) {
        for (uint32_t k = 0; k < encoding->cone[t]; k++) {
            uint32_t event = mr_window_at(w, t, k);
            uint8_t op = mr_window_op(w, event);
            if (mr_op_is_access(op) && kind[w->object[event]] &&
                (mr_op_writes(op) || is_constrained_read(encoding, event)))
                mr_encoding_node(encoding, event);
        }
    }
}

bool mr_lazy_prepare(mr_encoding *encoding, uint32_t stage)
{
    const mr_window *w = encoding->window;
    mr_arena *arena = encoding->arena;
    mr_lazy *lazy = encoding->lazy = mr_arena_zalloc(arena, 1, sizeof *lazy);
    if (!lazy)
        return false;
    lazy->stage = stage;
    lazy->read_of = mr_arena_zalloc(arena, w->size, sizeof *lazy->read_of);
    lazy->watched = mr_arena_zalloc(arena, w->variable_count, 1);
    lazy->holders = mr_arena_alloc(arena, w->lock_count, sizeof *lazy->holders);
    lazy->co_holder = mr_arena_alloc(arena, w->section_count, sizeof *lazy->co_holder);
    lazy->latest = mr_arena_alloc(arena, w->variable_count, sizeof *lazy->latest);
    lazy->tried = mr_arena_alloc(arena, w->thread_count, sizeof *lazy->tried);
    if (!lazy->read_of || !lazy->watched || !lazy->holders || !lazy->co_holder || !lazy->latest ||
        !lazy->tried)
        return false;
    make_lock_nodes(encoding);
    make_access_nodes(encoding, lazy->latest);
    return true;
}

void mr_lazy_free(mr_lazy *lazy)
{
    if (!lazy)
        return;
    free(lazy->reads);
    free(lazy->offers);
}
