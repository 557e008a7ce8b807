#include "greedy.h"

#include "partial.h"

#include <string.h>

typedef struct greed {
    const mr_window *window;
    const mr_greedy_question *question;
    mr_partial state;
    uint32_t *stop; /* one a thread: where it stops; MR_NONE: nowhere */
    uint32_t *left; /* events of C that have not run, in trace order */
    uint32_t left_count;
    uint32_t *events, count; /* those that have */
    uint32_t required_left;
    mr_partial_memory *undone; /* memory before the writes of a thread that is tried */
    uint64_t effort, max_effort;
    mr_arena *arena;
} greed;

static bool is_required(const greed *r, uint32_t event)
{
    const mr_window *w = r->window;
    return w->position[event] < r->question->required[w->thread[event]];
}

/* ---- what greed should not do ---- */

/* Can the thread, alone, go on from the acquire to the release? The state is as before afterwards.
 */
static bool can_pass(greed *r, const mr_section *section)
{
    const mr_window *w = r->window;
    mr_partial *state = &r->state;
    uint32_t thread = section->thread, from = state->next[thread], writes = 0;
    bool possible = true, diverges;
    while (possible && state->next[thread] <= w->position[section->release]) {
        uint32_t event = mr_window_at(w, thread, state->next[thread]);
        r->effort++;
        possible = mr_partial_allows(state, event, &diverges) && !diverges;
        if (!possible)
            break;
        if (mr_op_writes(mr_window_op(w, event)))
            r->undone[writes++] = state->memory[w->object[event]];
        mr_partial_run(state, event, false);
    }
    while (state->next[thread] > from) {
        uint32_t event = mr_window_at(w, thread, state->next[thread] - 1);
        writes -= mr_op_writes(mr_window_op(w, event));
        mr_partial_undo(state, event, &r->undone[writes]);
    }
    return possible;
}

static bool is_wise(greed *r, uint32_t event, bool diverges)
{
    const mr_window *w = r->window;
    const mr_section *section = mr_window_section(w, event);
    if (diverges)
        return false;
    if (!section || section->acquire != event || !w->locks[section->lock].contended)
        return true;
    uint32_t release = section->release;
    return release != MR_NONE && w->position[release] < r->question->cone[section->thread] &&
           can_pass(r, section);
}

/* ---- passes ---- */

typedef enum pass_kind {
    WISE,     /* as the rules say */
    UNWISE,   /* the first of L that can run */
    OPTIONAL, /* what is not in L, as the rules say */
} pass_kind;

static bool takes_part(const greed *r, uint32_t event, pass_kind kind, bool all)
{
    switch (kind) {
    case WISE:
        return all || is_required(r, event);
    case UNWISE:
        return is_required(r, event);
    case OPTIONAL:
        break;
    }
    return true;
}

/* One pass; true: something has run. */
static bool pass(greed *r, pass_kind kind, bool all)
{
    const mr_window *w = r->window;
    uint32_t kept = 0;
    bool moved = false;
    for (uint32_t i = 0; i < r->left_count; i++) {
        uint32_t event = r->left[i];
        bool diverges, ready = w->position[event] == r->state.next[w->thread[event]] &&
                               r->required_left && (kind != UNWISE || !moved) &&
                               w->position[event] < r->stop[w->thread[event]] &&
                               takes_part(r, event, kind, all) &&
                               mr_partial_allows(&r->state, event, &diverges) &&
                               mr_known_first(r->question->known, r->state.next, event) &&
                               (kind == UNWISE || is_wise(r, event, diverges));
        r->effort++;
        if (!ready) {
            r->left[kept++] = event;
            continue;
        }
        r->required_left -= is_required(r, event);
        mr_partial_run(&r->state, event, diverges);
        r->events[r->count++] = event;
        moved = true;
    }
    r->left_count = kept;
    return moved;
}

static bool run(greed *r, bool all)
{
    while (r->required_left && r->effort < r->max_effort && !mr_arena_is_halted(r->arena))
        if (!pass(r, WISE, all) && (all || !pass(r, OPTIONAL, all)) && !pass(r, UNWISE, all))
            return false;
    return !r->required_left;
}

/* ---- the start ---- */

static bool allocate(greed *r, mr_arena *arena)
{
    const mr_window *w = r->window;
    uint32_t events = 0;
    for (uint32_t t = 0; t < w->thread_count; t++)
        events += r->question->cone[t];
    r->stop = mr_arena_alloc(arena, w->thread_count, sizeof *r->stop);
    r->left = mr_arena_alloc(arena, events, sizeof *r->left);
    r->events = mr_arena_alloc(arena, events, sizeof *r->events);
    r->undone = mr_arena_alloc(arena, events, sizeof *r->undone);
    return r->stop && r->left && r->events && r->undone && mr_partial_init(&r->state, w, arena);
}

static void reset(greed *r)
{
    const mr_window *w = r->window;
    const mr_greedy_question *q = r->question;
    uint32_t events = 0;
    mr_partial_reset(&r->state);
    r->left_count = r->count = r->required_left = 0;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        events += q->cone[t];
        r->required_left += q->required[t];
        r->state.bound[t] = q->required[t];
        while (r->state.bound[t] && !mr_binds_reads(w, mr_window_at(w, t, r->state.bound[t] - 1)))
            r->state.bound[t]--;
    }
    for (uint32_t i = 0; r->left_count < events; i++)
        if (w->position[i] < q->cone[w->thread[i]])
            r->left[r->left_count++] = i;
}

static void set_stops(greed *r)
{
    const mr_window *w = r->window;
    const mr_goal *goal = r->question->goal;
    memset(r->stop, 0xff, w->thread_count * sizeof *r->stop);
    for (uint32_t i = 0; i < goal->stop_count; i++)
        r->stop[w->thread[goal->stops[i].events[0]]] = w->position[goal->stops[i].events[0]];
}

static bool stops_hold(const greed *r)
{
    const mr_goal *goal = r->question->goal;
    for (uint32_t i = 0; i < goal->stop_count; i++)
        if (!mr_partial_edges_hold(&r->state, goal->stops[i].events[0]))
            return false;
    return true;
}

mr_greedy mr_greedy_run(const mr_greedy_question *question, uint32_t max_passes, uint32_t **events,
                        uint32_t *count, mr_arena *arena)
{
    greed r = {.window = question->precedence->window, .question = question, .arena = arena};
    if (!allocate(&r, arena))
        return MR_GREEDY_NO_MEMORY;
    set_stops(&r);
    for (int mode = 0; mode < 2; mode++) {
        reset(&r);
        r.max_effort = r.effort + (uint64_t)max_passes * r.left_count;
        if (run(&r, mode == 0) && stops_hold(&r)) {
            *events = r.events;
            *count = r.count;
            return MR_GREEDY_FOUND;
        }
    }
    return MR_GREEDY_NOT_FOUND;
}
