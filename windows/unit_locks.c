#include "unit_locks.h"

/* What a thread has done with the semaphore that is looked at. */
typedef struct taker {
    uint32_t look; /* with another one the rest says nothing */
    bool inside;
} taker;

/* The operations of a semaphore, in the order of the trace. */
typedef struct operations {
    const mr_window *window;
    const mr_window_semaphore *semaphore;
    uint32_t post, wait; /* the next ones, in window->posts and window->waits */
} operations;

/* MR_NONE: there is no other one. */
static uint32_t next_operation(operations *o)
{
    const mr_window *w = o->window;
    uint32_t post = o->post < o->semaphore->posts_end ? w->posts[o->post] : MR_NONE;
    uint32_t wait = o->wait < o->semaphore->waits_end ? w->waits[o->wait] : MR_NONE;
    o->post += post < wait;
    o->wait += wait < post;
    return post < wait ? post : wait;
}

static operations operations_of(const mr_window *w, const mr_window_semaphore *s)
{
    return (operations){
        .window = w, .semaphore = s, .post = s->posts_first, .wait = s->waits_first};
}

/* Is it a lock? `*holder`: who is inside at the start; MR_NONE: nobody. */
static bool is_lock(const mr_window *w, const mr_window_semaphore *s, taker *takers, uint32_t look,
                    uint32_t *holder)
{
    operations all = operations_of(w, s);
    bool given_back = false;
    *holder = MR_NONE;
    if (!s->shared || s->units > 1)
        return false;
    for (uint32_t e = next_operation(&all); e != MR_NONE; e = next_operation(&all)) {
        taker *t = &takers[w->thread[e]];
        bool takes = mr_op_takes(mr_window_op(w, e));
        if (t->look != look) {
            *t = (taker){.look = look, .inside = !takes};
            if (t->inside && *holder != MR_NONE)
                return false;
            if (t->inside)
                *holder = w->thread[e];
        } else {
            given_back |= t->inside && !takes;
        }
        if (t->inside == takes)
            return false;
        t->inside = takes;
    }
    return given_back && (s->units == 1) != (*holder != MR_NONE);
}

bool mr_unit_locks_find(const mr_window *w, mr_value_locks *found, mr_arena *arena)
{
    taker *takers = mr_arena_zalloc(arena, w->thread_count, sizeof *takers);
    if (!takers)
        return false;
    for (uint32_t l = 0; l < w->lock_count; l++) {
        const mr_window_semaphore *s = &w->semaphores[l];
        const mr_value_lock_kind kind = {.variable = MR_NONE, .keeps_apart = true};
        uint32_t holder, lock;
        if (!is_lock(w, s, takers, l + 1, &holder))
            continue;
        if (!mr_value_locks_add(w, found, &kind, holder, s->waits_end - s->waits_first, &lock,
                                arena))
            return false;
        operations all = operations_of(w, s);
        for (uint32_t e = next_operation(&all); e != MR_NONE; e = next_operation(&all)) {
            bool takes = mr_op_takes(mr_window_op(w, e));
            found->changes[e] =
                MR_VALUE_CHANGES * lock + (takes ? MR_VALUE_ACQUIRE : MR_VALUE_RELEASE);
        }
    }
    return true;
}
