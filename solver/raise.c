#include "raise.h"

#include "base/assert.h"

#include <string.h>

enum { EVENTS_A_LOOK = 16 };

void mr_raise_by(mr_raiser *r, uint32_t event, uint32_t of)
{
    const mr_window *w = r->forced->window;
    uint32_t chain = w->threads[w->thread[event]].chain, own = w->threads[w->thread[of]].chain;
    if (chain == own || r->clock[chain] > mr_window_chain_position(w, event))
        return;
    MR_ASSERT(event < of);
    const uint32_t *from = r->forced->clock[event];
    for (uint32_t c = 0; c < w->chain_count; c++)
        if (c != own && c != chain && from[c] > r->clock[c])
            r->clock[c] = from[c];
    r->clock[chain] = mr_window_chain_position(w, event) + 1;
}

/* Has a clock more than another one in the chains that the thread is not in? */
static bool has_more(const mr_window *w, const uint32_t *clock, const uint32_t *other,
                     uint32_t thread)
{
    for (uint32_t c = 0; c < w->chain_count; c++)
        if (c != w->threads[thread].chain && clock[c] > other[c])
            return true;
    return false;
}

/* What FORCED had before the event: mostly nothing that the clock has not, and there may be hundreds of threads. */
static void take_forced(mr_raiser *r, const uint32_t *clock, uint32_t of)
{
    const mr_window *w = r->forced->window;
    if (!has_more(w, clock, r->clock, w->thread[of]))
        return;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t count = mr_precedence_count(w, clock, w->thread[of], t);
        if (count && !mr_window_same_chain(w, t, w->thread[of]))
            mr_raise_by(r, mr_window_at(w, t, count - 1), of);
    }
}

/* The clock at hand as one of the arena; `same` when it is no more than that. NULL: no memory. */
static uint32_t *keep(mr_raiser *r, uint32_t *same, uint32_t of)
{
    const mr_window *w = r->forced->window;
    if (!has_more(w, r->clock, same, w->thread[of]))
        return same;
    uint32_t *clock = mr_arena_alloc(r->arena, w->chain_count, sizeof *clock);
    if (clock)
        memcpy(clock, r->clock, w->chain_count * sizeof *clock);
    return clock;
}

/* The first event of a thread has no event before it; what it needs to be next may have grown. */
static bool raise_start(mr_raiser *r, uint32_t thread, uint32_t event)
{
    uint32_t *old = r->forced->thread_start[thread];
    memset(r->clock, 0, r->forced->window->chain_count * sizeof *r->clock);
    take_forced(r, old, event);
    r->forced->thread_start[thread] = keep(r, old, event);
    return r->forced->thread_start[thread] != NULL;
}

/* What the event needs to be next: what the one `before` it needs, and the edges that end at it. */
static bool raise_enabled(mr_raiser *r, const uint32_t *before, uint32_t event)
{
    uint32_t **enabled = r->forced->enabled;
    if (!enabled)
        return true;
    memcpy(r->clock, before, r->forced->window->chain_count * sizeof *r->clock);
    take_forced(r, enabled[event], event);
    enabled[event] = keep(r, enabled[event], event);
    return enabled[event] != NULL;
}

static bool raise_event(mr_raiser *r, uint32_t event,
                        void (*tell)(void *context, mr_raiser *raiser, uint32_t event),
                        void *context)
{
    const mr_window *w = r->forced->window;
    uint32_t thread = w->thread[event], position = w->position[event];
    if (!position && !raise_start(r, thread, event))
        return false;
    uint32_t *before = position ? r->forced->clock[mr_window_at(w, thread, position - 1)]
                                : r->forced->thread_start[thread];
    uint32_t *old = r->forced->clock[event];
    if (!raise_enabled(r, before, event))
        return false;
    memcpy(r->clock, before, w->chain_count * sizeof *r->clock);
    take_forced(r, old, event);
    tell(context, r, event);
    uint32_t *clock = keep(r, before, event);
    if (!clock)
        return false;
    MR_ASSERT_COSTLY(!has_more(w, old, clock, thread));
    r->forced->refined = r->forced->refined || has_more(w, clock, old, thread);
    r->forced->clock[event] = clock;
    return true;
}

bool mr_raise(mr_precedence *forced, void (*tell)(void *context, mr_raiser *raiser, uint32_t event),
              void *context, mr_arena *scratch, mr_arena *arena)
{
    const mr_window *w = forced->window;
    mr_raiser r = {.forced = forced, .arena = arena};
    r.clock = mr_arena_alloc(scratch, w->chain_count, sizeof *r.clock);
    for (uint32_t event = 0; r.clock && event < w->size; event++)
        if ((event % EVENTS_A_LOOK == 0 && mr_arena_is_halted(scratch)) ||
            !raise_event(&r, event, tell, context))
            return false;
    return r.clock;
}
