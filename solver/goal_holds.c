#include "goal_holds.h"

#include <string.h>

/* What the events leave behind. */
typedef struct state {
    const mr_window *window;
    uint32_t *write;   /* one a variable: its last write; MR_NONE: none of the window */
    uint8_t *unknown;  /* one a variable: a diverged thread wrote it */
    uint8_t *diverged; /* one a thread */
    uint8_t *included; /* one a life: 1 its alloc, 2 its free */
} state;

/* Model branch: does the read see something else than it did? */
static bool diverges(const state *s, uint32_t read)
{
    const mr_window *w = s->window;
    uint32_t v = w->object[read], write = s->write[v];
    const mr_window_variable *variable = &w->variables[v];
    if (w->model != MR_MODEL_BRANCH || !variable->shared)
        return false;
    if (s->unknown[v])
        return true;
    if (variable->by_source)
        return write != w->source[read];
    uint32_t value = write == MR_NONE ? variable->carried_value : mr_window_written_value(w, write);
    return !value || value != mr_window_read_value(w, read);
}

static void access_variable(state *s, uint32_t event)
{
    const mr_window *w = s->window;
    uint32_t v = w->object[event], thread = w->thread[event];
    if (mr_op_reads(mr_window_op(w, event)) && diverges(s, event))
        s->diverged[thread] = 1;
    if (!mr_op_writes(mr_window_op(w, event)))
        return;
    s->write[v] = event;
    s->unknown[v] = s->diverged[thread];
}

static bool last_holds(const state *s, const mr_last_write *last)
{
    uint32_t write = s->write[last->variable];
    if (!last->value)
        return write == last->write;
    if (write == MR_NONE)
        return last->carried;
    return !s->unknown[last->variable] && mr_last_write_fits(s->window, last, write);
}

static bool lives_hold(const mr_goal *goal, const uint8_t *included)
{
    bool freed = !goal->one_freed;
    for (uint32_t i = 0; i < goal->life_count; i++) {
        if (included[i] == 1)
            return false;
        freed |= included[i] >> 1 & 1;
    }
    return freed;
}

bool mr_goal_holds(const mr_window *w, const mr_goal *goal, const uint32_t *events, uint32_t count,
                   bool *holds, mr_arena *arena)
{
    state s = {.window = w};
    *holds = true;
    if (!goal->last && !goal->life_count)
        return true;
    s.write = mr_arena_alloc(arena, w->variable_count, sizeof *s.write);
    s.unknown = mr_arena_zalloc(arena, w->variable_count, 1);
    s.diverged = mr_arena_zalloc(arena, w->thread_count, 1);
    s.included = mr_arena_zalloc(arena, goal->life_count, 1);
    if (!s.write || !s.unknown || !s.diverged || !s.included)
        return false;
    memset(s.write, 0xff, w->variable_count * sizeof *s.write);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t event = events[i];
        if (mr_op_is_access(mr_window_op(w, event)))
            access_variable(&s, event);
        for (uint32_t k = 0; k < goal->life_count; k++)
            s.included[k] |=
                (uint8_t)((event == goal->lives[k].alloc) | (event == goal->lives[k].free) << 1);
    }
    *holds = (!goal->last || last_holds(&s, goal->last)) && lives_hold(goal, s.included);
    return true;
}

bool mr_goal_with(const mr_goal *goal, uint32_t required, mr_goal *more, mr_arena *arena)
{
    *more = *goal;
    if (required == MR_NONE)
        return true;
    uint32_t *events = mr_arena_alloc(arena, (size_t)goal->required_count + 1, sizeof *events);
    if (!events)
        return false;
    for (uint32_t i = 0; i < goal->required_count; i++)
        events[i] = goal->required[i];
    events[goal->required_count] = required;
    more->required = events;
    more->required_count = goal->required_count + 1;
    return true;
}
