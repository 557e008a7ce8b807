#include "linearise.h"

#include "base/assert.h"
#include "cone.h"
#include "windows/held.h"

#include <string.h>

typedef struct closing {
    const mr_precedence *source;
    const mr_window *window;
    const mr_goal *goal;
    uint32_t *prefix; /* the set */
    uint32_t *seen;   /* one a thread: its prefix when its open sections were last looked at */
    uint32_t *head;   /* one a thread: the list of its open sections there */
} closing;

/* Has `user` entered its lock in the set after this section, in a way that excludes it? */
static bool comes_later(const closing *c, const mr_lock_user *user, uint32_t number)
{
    const mr_section *section = &c->window->sections[number];
    return user->thread != section->thread && !(user->shared && section->shared) &&
           mr_held_enters_after(c->window, user, c->prefix[user->thread], number);
}

/* Requires the release of a section, and what it needs. False: there is none in the window, or it
 * comes after a stop or an end (cone.h). */
static bool require_release(closing *c, const mr_section *section)
{
    if (section->release == MR_NONE)
        return false;
    mr_precedence_require(c->source, c->prefix, section->release, true);
    return mr_cone_excludes(c->window, c->goal, c->prefix);
}

/* Closes under the releases of the thread's open sections that `by` (MR_NONE: any thread) has
 * entered the lock after. */
static bool close_thread(closing *c, uint32_t thread, uint32_t by)
{
    const mr_window *w = c->window;
    const mr_held *held = w->held;
    for (uint32_t e = c->head[thread]; e != MR_NONE; e = held->entries[e].next) {
        uint32_t number = held->entries[e].section;
        const mr_section *section = &w->sections[number];
        if (mr_held_is_left(w, section, c->prefix[thread]))
            continue;
        uint32_t end = held->by_thread.first[section->lock + 1];
        uint32_t u = by == MR_NONE ? held->by_thread.first[section->lock]
                                   : mr_held_user_from(held, section->lock, by);
        bool later = false;
        for (; u < end && !later && (by == MR_NONE || held->by_thread.of[u].thread == by); u++)
            later = comes_later(c, &held->by_thread.of[u], number);
        if (later && !require_release(c, section))
            return false;
    }
    return true;
}

/* A thread's part of the set has grown: its open sections are others, and it may have entered locks
 * that other threads are in. */
static bool follow(closing *c, uint32_t thread)
{
    c->seen[thread] = c->prefix[thread];
    c->head[thread] = mr_held_at(c->window->held, thread, c->prefix[thread]);
    if (!close_thread(c, thread, MR_NONE))
        return false;
    for (uint32_t t = 0; t < c->window->thread_count; t++)
        if (t != thread && c->head[t] != MR_NONE && !close_thread(c, t, thread))
            return false;
    return true;
}

mr_linearised mr_linearise(const mr_precedence *source, const mr_goal *goal, uint32_t *prefix,
                           mr_arena *arena)
{
    const mr_window *w = source->window;
    closing c = {.source = source, .window = w, .goal = goal, .prefix = prefix};
    if (!mr_cone_required(source, goal, prefix))
        return MR_NOT_LINEARISED;
    c.seen = mr_arena_alloc(arena, w->thread_count, sizeof *c.seen);
    c.head = mr_arena_alloc(arena, w->thread_count, sizeof *c.head);
    if (!c.seen || !c.head)
        return MR_LINEARISE_NO_MEMORY;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        c.seen[t] = prefix[t];
        c.head[t] = mr_held_at(w->held, t, prefix[t]);
    }
    for (uint32_t t = 0; t < w->thread_count; t++)
        if (c.head[t] != MR_NONE && !close_thread(&c, t, MR_NONE))
            return MR_NOT_LINEARISED;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t t = 0; t < w->thread_count; t++) {
            if (c.seen[t] == prefix[t])
                continue;
            changed = true;
            if (!follow(&c, t))
                return MR_NOT_LINEARISED;
        }
    }
    for (uint32_t i = 0; i < goal->stop_count; i++)
        MR_ASSERT(prefix[w->thread[goal->stops[i].events[0]]] ==
                  w->position[goal->stops[i].events[0]]);
    return MR_LINEARISED;
}
