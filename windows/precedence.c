#include "precedence.h"

#include "read_choices.h"

#include <string.h>

typedef struct builder {
    mr_precedence *precedence;
    const mr_window *window;
    mr_precedence_mode mode;
    const mr_precedence *hard;
    mr_arena *arena;
    uint32_t **current; /* one a thread: clock of its latest event */
} builder;

/* A clock of its own for thread `thread`, before something is joined into it. */
static uint32_t *fork_clock(builder *b, uint32_t thread)
{
    uint32_t count = b->window->thread_count;
    uint32_t *clock = mr_arena_alloc(b->arena, count, sizeof *clock);
    if (clock) {
        memcpy(clock, b->current[thread], count * sizeof *clock);
        b->current[thread] = clock;
    }
    return clock;
}

/* Adds before(event) and the event to the current clock of `thread`. */
static bool require_event(builder *b, uint32_t thread, uint32_t event)
{
    const mr_window *w = b->window;
    uint32_t other = w->thread[event];
    if (other == thread || b->current[thread][other] > w->position[event])
        return true;
    uint32_t *clock = fork_clock(b, thread);
    if (!clock)
        return false;
    const uint32_t *from = b->precedence->clock[event];
    for (uint32_t t = 0; t < w->thread_count; t++)
        if (t != other && from[t] > clock[t])
            clock[t] = from[t];
    clock[other] = w->position[event] + 1;
    return true;
}

/* The write of the window that the read must see in this mode, or MR_NONE. */
static uint32_t forced_source(const builder *b, uint32_t read)
{
    const mr_window *w = b->window;
    if (b->mode == MR_PRECEDENCE_HARD)
        return MR_NONE;
    if (b->mode == MR_PRECEDENCE_SOURCE || w->variables[w->object[read]].by_source)
        return w->source[read];
    return mr_read_only_choice(w, b->hard, read);
}

static bool add_event(builder *b, uint32_t i)
{
    const mr_window *w = b->window;
    uint32_t thread = w->thread[i];
    if (!w->position[i] && w->threads[thread].fork != MR_NONE &&
        !require_event(b, thread, w->threads[thread].fork))
        return false;
    if (!w->position[i])
        b->precedence->thread_start[thread] = b->current[thread];
    if (mr_window_op(w, i) == MR_OP_JOIN && w->object[i] != MR_NONE) {
        uint32_t joined = w->object[i];
        if (!require_event(b, thread, mr_window_at(w, joined, mr_window_length(w, joined) - 1)))
            return false;
    }
    if (mr_window_op(w, i) == MR_OP_READ) {
        uint32_t source = forced_source(b, i);
        if (source != MR_NONE && !require_event(b, thread, source))
            return false;
    }
    b->precedence->clock[i] = b->current[thread];
    return true;
}

bool mr_precedence_build(mr_precedence *precedence, const mr_window *window,
                         mr_precedence_mode mode, const mr_precedence *hard, mr_arena *arena)
{
    builder b = {.precedence = precedence,
                 .window = window,
                 .mode = mode,
                 .hard = hard,
                 .arena = arena,
                 .current = mr_arena_alloc(arena, window->thread_count, sizeof *b.current)};
    uint32_t *zero = mr_arena_zalloc(arena, window->thread_count, sizeof *zero);
    precedence->window = window;
    precedence->clock = mr_arena_alloc(arena, window->size, sizeof *precedence->clock);
    precedence->thread_start =
        mr_arena_alloc(arena, window->thread_count, sizeof *precedence->thread_start);
    if (!b.current || !zero || !precedence->clock || !precedence->thread_start)
        return false;
    for (uint32_t t = 0; t < window->thread_count; t++)
        b.current[t] = zero;
    for (uint32_t i = 0; i < window->size; i++)
        if (!add_event(&b, i))
            return false;
    return true;
}

bool mr_precedence_require(const mr_precedence *precedence, uint32_t *prefix, uint32_t event,
                           bool including)
{
    const mr_window *w = precedence->window;
    uint32_t thread = w->thread[event];
    const uint32_t *clock =
        including ? precedence->clock[event] : mr_precedence_enabled(precedence, event);
    bool changed = false;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t need = t == thread ? w->position[event] + (including ? 1 : 0) : clock[t];
        if (need > prefix[t]) {
            prefix[t] = need;
            changed = true;
        }
    }
    return changed;
}
