#include "linearise.h"

#include "cone.h"

static bool acquired(const mr_window *w, const mr_section *section, const uint32_t *prefix)
{
    return section->acquire == MR_NONE || w->position[section->acquire] < prefix[section->thread];
}

static bool released(const mr_window *w, const mr_section *section, const uint32_t *prefix)
{
    return section->release != MR_NONE && w->position[section->release] < prefix[section->thread];
}

/* Threads, as far as it matters whether there is one beside a given one. */
typedef struct some_threads {
    uint32_t thread; /* MR_NONE: there is none */
    bool several;
} some_threads;

static void add_thread(some_threads *threads, uint32_t thread)
{
    if (threads->thread == MR_NONE)
        threads->thread = thread;
    threads->several |= threads->thread != thread;
}

static bool has_other(const some_threads *threads, uint32_t thread)
{
    return threads->several || (threads->thread != MR_NONE && threads->thread != thread);
}

/*
 * Requires the release of every section of the lock that is acquired in the set before another one
 * that it excludes. Sections stand in trace order, and those that exclude each other do not
 * overlap there. False: a release that is needed does not exist in the window.
 */
static bool close_lock(const mr_precedence *source, const mr_window_lock *lock, uint32_t *prefix,
                       bool *changed)
{
    const mr_window *w = source->window;
    some_threads exclusive = {.thread = MR_NONE}, any = {.thread = MR_NONE}; /* acquired later */
    for (uint32_t s = lock->sections_end; s-- > lock->sections_first;) {
        const mr_section *section = &w->sections[s];
        if (!acquired(w, section, prefix))
            continue;
        if (has_other(section->shared ? &exclusive : &any, section->thread) &&
            !released(w, section, prefix)) {
            if (section->release == MR_NONE)
                return false;
            *changed |= mr_precedence_require(source, prefix, section->release, true);
        }
        add_thread(&any, section->thread);
        if (!section->shared)
            add_thread(&exclusive, section->thread);
    }
    return true;
}

mr_linearised mr_linearise(const mr_precedence *source, uint32_t a, uint32_t b, uint32_t *prefix)
{
    const mr_window *w = source->window;
    if (!mr_cone_required(source, a, b, prefix))
        return MR_NOT_LINEARISED;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t l = 0; l < w->lock_count; l++)
            if (w->locks[l].contended && !close_lock(source, &w->locks[l], prefix, &changed))
                return MR_NOT_LINEARISED;
        if (prefix[w->thread[a]] > w->position[a] || prefix[w->thread[b]] > w->position[b])
            return MR_NOT_LINEARISED;
    }
    return MR_LINEARISED;
}
