/* What elimination knows of a window whatever is asked, as precedence. */
#include "eliminate.h"

#include "base/assert.h"
#include "elimination.h"

#include <string.h>

/* Clocks on their way from rows to events, in trace order: what is before an event stands before it
 * in the trace, so its clock is there already. */
typedef struct refiner {
    const mr_elimination *e;
    mr_precedence *forced;
    uint32_t *clock; /* of the event at hand; scratch */
    mr_arena *arena;
} refiner;

/* The event, with what is before it, joins the clock at hand. */
static void take(refiner *r, uint32_t event, uint32_t of)
{
    const mr_window *w = r->forced->window;
    uint32_t thread = w->thread[event], own = w->thread[of];
    if (thread == own || r->clock[thread] > w->position[event])
        return;
    MR_ASSERT(event < of);
    const uint32_t *from = r->forced->clock[event];
    for (uint32_t t = 0; t < w->thread_count; t++)
        if (t != own && t != thread && from[t] > r->clock[t])
            r->clock[t] = from[t];
    r->clock[thread] = w->position[event] + 1;
}

/* What FORCED had before the event, and what the rows say. */
static void take_forced(refiner *r, const uint32_t *clock, uint32_t of)
{
    const mr_window *w = r->forced->window;
    for (uint32_t t = 0; t < w->thread_count; t++)
        if (t != w->thread[of] && clock[t])
            take(r, mr_window_at(w, t, clock[t] - 1), of);
}

static void take_rows(refiner *r, uint32_t row, uint32_t of)
{
    const mr_known *known = r->e->known;
    const uint32_t *clock = mr_elimination_clock(r->e, row);
    for (uint32_t s = 0; s < known->slot_count; s++)
        if (clock[s])
            take(r, known->event_of[known->row_first[s] + clock[s] - 1], of);
}

static bool is_row(const mr_elimination *e, uint32_t event, uint32_t *row)
{
    *row = mr_elimination_row(e, event);
    uint32_t end = e->known->row_first[e->known->slot_of[e->window->thread[event]] + 1];
    return *row < end && e->known->event_of[*row] == event;
}

/* The clock at hand as one of the arena; `same` when it is no more than that. NULL: no memory. */
static uint32_t *keep(refiner *r, uint32_t *same, uint32_t of)
{
    const mr_window *w = r->forced->window;
    bool more = false;
    for (uint32_t t = 0; t < w->thread_count && !more; t++)
        more = t != w->thread[of] && r->clock[t] > same[t];
    if (!more)
        return same;
    uint32_t *clock = mr_arena_alloc(r->arena, w->thread_count, sizeof *clock);
    if (clock)
        memcpy(clock, r->clock, w->thread_count * sizeof *clock);
    return clock;
}

/* The first event of a thread has no event before it; what it needs to be next may have grown. */
static bool refine_start(refiner *r, uint32_t thread, uint32_t event)
{
    uint32_t *old = r->forced->thread_start[thread];
    memset(r->clock, 0, r->forced->window->thread_count * sizeof *r->clock);
    take_forced(r, old, event);
    r->forced->thread_start[thread] = keep(r, old, event);
    return r->forced->thread_start[thread] != NULL;
}

static bool refine_event(refiner *r, uint32_t i)
{
    const mr_window *w = r->forced->window;
    uint32_t thread = w->thread[i], position = w->position[i], row;
    if (!position && !refine_start(r, thread, i))
        return false;
    uint32_t *before = position ? r->forced->clock[mr_window_at(w, thread, position - 1)]
                                : r->forced->thread_start[thread];
    uint32_t *old = r->forced->clock[i];
    memcpy(r->clock, before, w->thread_count * sizeof *r->clock);
    take_forced(r, old, i);
    if (is_row(r->e, i, &row))
        take_rows(r, row, i);
    uint32_t *clock = keep(r, before, i);
    if (!clock)
        return false;
    for (uint32_t t = 0; t < w->thread_count && !r->forced->refined; t++)
        r->forced->refined = t != thread && clock[t] > old[t];
    r->forced->clock[i] = clock;
    return true;
}

static bool eliminate(mr_elimination *e, const mr_eliminate_limits *limits, mr_precedence *forced,
                      mr_arena *arena)
{
    const mr_window *w = forced->window;
    if (!mr_elimination_rows(e))
        return false;
    uint64_t cells = (uint64_t)e->known->row_count * e->known->slot_count;
    if (limits->memory_bytes && cells * sizeof *e->known->clock > limits->memory_bytes)
        return true;
    refiner r = {.e = e, .forced = forced, .arena = arena};
    r.clock = mr_arena_alloc(e->arena, w->thread_count, sizeof *r.clock);
    if (!r.clock || !mr_elimination_prepare(e))
        return false;
    mr_elimination_run(e);
    MR_ASSERT(!e->no_race); /* the trace is a witness of everything */
    for (uint32_t i = 0; i < w->size; i++)
        if (!refine_event(&r, i))
            return false;
    return true;
}

bool mr_eliminate_refine(mr_precedence *forced, const mr_eliminate_limits *limits, mr_arena *arena)
{
    const mr_window *w = forced->window;
    if (w->model == MR_MODEL_BRANCH || w->opaque_count)
        return true;
    mr_arena scratch;
    mr_arena_init(&scratch);
    scratch.share = arena->share;
    scratch.waits = arena->waits;
    mr_known known = {.window = w};
    mr_elimination e = {.window = w,
                        .forced = forced,
                        .known = &known,
                        .arena = &scratch,
                        .max_steps = limits->steps,
                        .no_question = true};
    e.required = mr_arena_zalloc(&scratch, w->thread_count, sizeof *e.required);
    e.cone = mr_arena_alloc(&scratch, w->thread_count, sizeof *e.cone);
    for (uint32_t t = 0; e.cone && t < w->thread_count; t++)
        e.cone[t] = mr_window_length(w, t);
    bool complete = e.required && e.cone && eliminate(&e, limits, forced, arena);
    mr_arena_free(&scratch);
    return complete;
}
