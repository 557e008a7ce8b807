/* The counting semaphores of a window: units carried in, posts and waits. */
#include "window_parts.h"

static bool is_semaphore_op(uint8_t op)
{
    return MR_OP_DOES(op, MR_GIVES | MR_TAKES);
}

/* Counts what each semaphore has, or fills its lists. */
static void add_operations(mr_window *w, bool fill)
{
    for (uint32_t i = 0; i < w->size; i++) {
        uint8_t op = mr_window_op(w, i);
        if (!is_semaphore_op(op))
            continue;
        mr_window_semaphore *s = &w->semaphores[w->object[i]];
        uint32_t *end = mr_op_gives(op) ? &s->posts_end : &s->waits_end;
        if (fill)
            (mr_op_gives(op) ? w->posts : w->waits)[*end] = i;
        ++*end;
    }
}

/* Do two threads of the window use it? */
static bool is_shared(const mr_window *w, const mr_window_semaphore *s)
{
    uint32_t thread = MR_NONE;
    for (uint32_t k = s->posts_first; k < s->posts_end; k++) {
        if (thread != MR_NONE && w->thread[w->posts[k]] != thread)
            return true;
        thread = w->thread[w->posts[k]];
    }
    for (uint32_t k = s->waits_first; k < s->waits_end; k++) {
        if (thread != MR_NONE && w->thread[w->waits[k]] != thread)
            return true;
        thread = w->thread[w->waits[k]];
    }
    return false;
}

bool mr_window_build_semaphores(mr_window *w, const uint32_t *units, mr_arena *arena)
{
    uint32_t posts = 0, waits = 0;
    w->semaphores = mr_arena_zalloc(arena, w->lock_count, sizeof *w->semaphores);
    if (!w->semaphores)
        return false;
    if (!mr_op_total(w->trace->op_counts, MR_GIVES | MR_TAKES))
        return true;
    add_operations(w, false);
    for (uint32_t l = 0; l < w->lock_count; l++) {
        mr_window_semaphore *s = &w->semaphores[l];
        uint32_t post_count = s->posts_end, wait_count = s->waits_end;
        s->units = units[w->locks[l].number];
        s->posts_first = s->posts_end = posts;
        s->waits_first = s->waits_end = waits;
        posts += post_count;
        waits += wait_count;
    }
    w->posts = mr_arena_alloc(arena, posts, sizeof *w->posts);
    w->waits = mr_arena_alloc(arena, waits, sizeof *w->waits);
    if (!w->posts || !w->waits)
        return false;
    add_operations(w, true);
    for (uint32_t l = 0; l < w->lock_count; l++)
        w->semaphores[l].shared = is_shared(w, &w->semaphores[l]);
    return true;
}
