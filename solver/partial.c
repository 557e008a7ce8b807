#include "partial.h"

#include "base/assert.h"

#include <string.h>

/* ---- is it possible now? ---- */

/* Do the others allow the thread to enter? */
static bool is_free(const mr_partial *r, const mr_section *section)
{
    const mr_window *w = r->window;
    const mr_window_lock *lock = &w->locks[section->lock];
    const mr_partial_lock *state = &r->locks[section->lock];
    if (state->owner != MR_NONE && state->owner != section->thread)
        return false;
    if (section->shared || !state->sharers)
        return true;
    for (uint32_t s = lock->sections_first; s < lock->sections_end; s++)
        if (r->open[s] && w->sections[s].shared && w->sections[s].thread != section->thread)
            return false;
    return true;
}

bool mr_partial_is_consistent(const mr_partial *r, uint32_t read)
{
    const mr_window *w = r->window;
    uint32_t variable = w->object[read];
    return !w->variables[variable].shared ||
           (!r->memory[variable].unknown &&
            mr_partial_is_right(w, read, mr_partial_sees(r, variable)));
}

bool mr_partial_edges_hold(const mr_partial *r, uint32_t event)
{
    const mr_window *w = r->window;
    uint32_t fork = w->threads[w->thread[event]].fork;
    if (!w->position[event] && fork != MR_NONE && !mr_partial_happened(r, fork))
        return false;
    if (!w->barrier_edge_count)
        return true;
    for (size_t k = mr_window_barrier_edges_from(w, event);
         k < w->barrier_edge_count && w->barrier_edges[k].to == event; k++)
        if (!mr_partial_happened(r, w->barrier_edges[k].from))
            return false;
    return true;
}

bool mr_partial_may_stop(const mr_partial *r, uint32_t event)
{
    uint32_t end = mr_window_end_of_life(r->window, event);
    return mr_partial_edges_hold(r, event) && (end == MR_NONE || !mr_partial_happened(r, end));
}

bool mr_partial_order_allows(const mr_partial *r, uint32_t event)
{
    const mr_window *w = r->window;
    uint32_t joined = mr_op_joins(mr_window_op(w, event)) ? w->object[event] : MR_NONE;
    return mr_partial_may_stop(r, event) &&
           (joined == MR_NONE || r->next[joined] == mr_window_length(w, joined));
}

bool mr_partial_allows(const mr_partial *r, uint32_t event, bool *diverges)
{
    const mr_window *w = r->window;
    uint32_t thread = w->thread[event];
    const mr_section *section;
    *diverges = false;
    if (!mr_partial_order_allows(r, event))
        return false;
    switch ((mr_op)mr_window_op(w, event)) {
    case MR_OP_READ:
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_UPDATE:
        *diverges = !mr_partial_is_consistent(r, event);
        return !*diverges ||
               (w->model == MR_MODEL_BRANCH && w->position[event] >= r->bound[thread]);
    case MR_OP_ACQUIRE:
    case MR_OP_SHARED_ACQUIRE:
        section = mr_window_section(w, event);
        return !section || is_free(r, section);
    case MR_OP_WAIT:
        return r->units[w->object[event]] > 0;
    case MR_OP_FORK:
    case MR_OP_CALL_BEGIN:
    case MR_OP_BRANCH:
        return !r->diverged[thread];
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_RELEASE:
    case MR_OP_SHARED_RELEASE:
    case MR_OP_JOIN:
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_POST:
    case MR_OP_CALL_END:
    case MR_OP_ALLOC:
    case MR_OP_FREE:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        break; /* nothing but the order above */
    }
    return true;
}

/* ---- running ---- */

static void write_variable(mr_partial *r, uint32_t event)
{
    const mr_window *w = r->window;
    bool unknown = r->diverged[w->thread[event]];
    r->memory[w->object[event]] =
        (mr_partial_memory){.value = unknown ? 0 : mr_window_written_value(w, event),
                            .write = event,
                            .unknown = unknown};
}

static void pass_section(mr_partial *r, uint32_t event, const mr_section *section, bool back)
{
    bool enter = (section->acquire == event) != back;
    mr_partial_lock *state = &r->locks[section->lock];
    uint32_t *open = &r->open[section - r->window->sections];
    MR_ASSERT(*open != enter);
    MR_ASSERT(section->shared || state->owner == (enter ? MR_NONE : section->thread));
    MR_ASSERT(!section->shared || enter || state->sharers);
    *open = enter;
    if (section->shared)
        state->sharers += enter ? 1 : UINT32_MAX;
    else
        state->owner = enter ? section->thread : MR_NONE;
}

static void count_unit(mr_partial *r, uint32_t event, bool back)
{
    uint8_t op = mr_window_op(r->window, event);
    if (!MR_OP_DOES(op, MR_GIVES | MR_TAKES))
        return;
    bool more = mr_op_gives(op) != back;
    MR_ASSERT(more || r->units[r->window->object[event]]);
    r->units[r->window->object[event]] += more ? 1 : UINT32_MAX;
}

void mr_partial_run(mr_partial *r, uint32_t event, bool diverges)
{
    const mr_window *w = r->window;
    const mr_section *section = mr_window_section(w, event);
    MR_ASSERT(w->position[event] == r->next[w->thread[event]]);
    r->diverged[w->thread[event]] |= diverges;
    if (mr_op_writes(mr_window_op(w, event)))
        write_variable(r, event);
    if (section)
        pass_section(r, event, section, false);
    count_unit(r, event, false);
    r->next[w->thread[event]]++;
}

void mr_partial_undo(mr_partial *r, uint32_t event, const mr_partial_memory *seen)
{
    const mr_window *w = r->window;
    const mr_section *section = mr_window_section(w, event);
    MR_ASSERT(w->position[event] + 1 == r->next[w->thread[event]]);
    r->next[w->thread[event]]--;
    if (section)
        pass_section(r, event, section, true);
    count_unit(r, event, true);
    if (mr_op_writes(mr_window_op(w, event)))
        r->memory[w->object[event]] = *seen;
}

/* ---- the start ---- */

bool mr_partial_init(mr_partial *r, const mr_window *w, mr_arena *arena)
{
    r->window = w;
    r->next = mr_arena_alloc(arena, w->thread_count, sizeof *r->next);
    r->bound = mr_arena_alloc(arena, w->thread_count, sizeof *r->bound);
    r->diverged = mr_arena_alloc(arena, w->thread_count, sizeof *r->diverged);
    r->memory = mr_arena_alloc(arena, w->variable_count, sizeof *r->memory);
    r->locks = mr_arena_alloc(arena, w->lock_count, sizeof *r->locks);
    r->units = mr_arena_alloc(arena, w->lock_count, sizeof *r->units);
    r->open = mr_arena_alloc(arena, w->section_count, sizeof *r->open);
    return r->next && r->bound && r->diverged && r->memory && r->locks && r->units && r->open;
}

void mr_partial_reset(mr_partial *r)
{
    const mr_window *w = r->window;
    memset(r->next, 0, w->thread_count * sizeof *r->next);
    memset(r->bound, 0, w->thread_count * sizeof *r->bound);
    memset(r->diverged, 0, w->thread_count * sizeof *r->diverged);
    memset(r->open, 0, w->section_count * sizeof *r->open);
    for (uint32_t v = 0; v < w->variable_count; v++)
        r->memory[v] =
            (mr_partial_memory){.value = w->variables[v].carried_value, .write = MR_NONE};
    for (uint32_t l = 0; l < w->lock_count; l++) {
        r->locks[l] = (mr_partial_lock){.owner = MR_NONE};
        r->units[l] = w->semaphores[l].units;
        for (uint32_t s = w->locks[l].sections_first; s < w->locks[l].carried_end; s++) {
            r->open[s] = 1;
            r->locks[l].sharers += w->sections[s].shared;
            if (!w->sections[s].shared)
                r->locks[l].owner = w->sections[s].thread;
        }
    }
}
