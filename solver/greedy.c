#include "greedy.h"

#include "base/assert.h"

#include <string.h>

/* What a read of a variable would see. */
typedef struct memory {
    uint32_t value; /* index; 0: unknown */
    uint32_t write; /* window event; MR_NONE: none of the window, or of a thread that diverged */
    bool unknown;   /* a diverged thread wrote it */
} memory;

typedef struct lock_state {
    uint32_t owner; /* thread; MR_NONE: nobody holds it exclusively */
    uint32_t sharers;
} lock_state;

/* An entry of the memory as it was. */
typedef struct undo {
    uint32_t variable;
    memory old;
} undo;

typedef struct runner {
    const mr_window *window;
    const mr_greedy_question *question;
    uint32_t *stop;    /* one a thread: where it stops; MR_NONE: nowhere */
    uint32_t *next;    /* one a thread: position of its next event */
    uint32_t *bound;   /* one a thread: reads before this position must be consistent */
    bool *diverged;    /* one a thread */
    memory *memory;    /* one a variable */
    lock_state *locks; /* one a lock */
    uint32_t *units;   /* one a lock */
    uint32_t *open;    /* one a section: 1 while its thread is in it */
    uint32_t *left;    /* events of C that have not run, in trace order */
    uint32_t left_count;
    uint32_t *events, count; /* those that have */
    uint32_t required_left;
    undo *undone;
    uint64_t effort, max_effort;
    mr_arena *arena;
} runner;

static bool is_required(const runner *r, uint32_t event)
{
    const mr_window *w = r->window;
    return w->position[event] < r->question->required[w->thread[event]];
}

static bool happened(const runner *r, uint32_t event)
{
    return r->window->position[event] < r->next[r->window->thread[event]];
}

/* ---- is it possible now? ---- */

/* Do the others allow the thread to enter? */
static bool is_free(const runner *r, const mr_section *section)
{
    const mr_window *w = r->window;
    const mr_window_lock *lock = &w->locks[section->lock];
    const lock_state *state = &r->locks[section->lock];
    if (state->owner != MR_NONE && state->owner != section->thread)
        return false;
    if (section->shared || !state->sharers)
        return true;
    for (uint32_t s = lock->sections_first; s < lock->sections_end; s++)
        if (r->open[s] && w->sections[s].shared && w->sections[s].thread != section->thread)
            return false;
    return true;
}

static bool is_consistent(const runner *r, uint32_t read)
{
    const mr_window *w = r->window;
    const mr_window_variable *variable = &w->variables[w->object[read]];
    const memory *now = &r->memory[w->object[read]];
    if (!variable->shared)
        return true;
    if (now->unknown)
        return false;
    return variable->by_source ? now->write == w->source[read]
                               : now->value && now->value == mr_window_read_value(w, read);
}

/* Rule 7: has the object of the access been freed? */
static bool is_too_late(const runner *r, uint32_t event)
{
    uint32_t end = mr_window_end_of_life(r->window, event);
    return end != MR_NONE && happened(r, end);
}

static bool edges_hold(const runner *r, uint32_t event)
{
    const mr_window *w = r->window;
    uint32_t fork = w->threads[w->thread[event]].fork;
    if (!w->position[event] && fork != MR_NONE && !happened(r, fork))
        return false;
    if (!w->barrier_edge_count)
        return true;
    for (size_t k = mr_window_barrier_edges_from(w, event);
         k < w->barrier_edge_count && w->barrier_edges[k].to == event; k++)
        if (!happened(r, w->barrier_edges[k].from))
            return false;
    return true;
}

/* Does docs/semantics.md 2 allow the event, which is the next of its thread? `*diverges`: it is a
 * read that sees something else. */
static bool is_possible(const runner *r, uint32_t event, bool *diverges)
{
    const mr_window *w = r->window;
    uint32_t thread = w->thread[event], object = w->object[event];
    const mr_section *section;
    *diverges = false;
    if (!edges_hold(r, event) || is_too_late(r, event))
        return false;
    switch ((mr_op)mr_window_op(w, event)) {
    case MR_OP_READ:
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_UPDATE:
        *diverges = !is_consistent(r, event);
        return !*diverges ||
               (w->model == MR_MODEL_BRANCH && w->position[event] >= r->bound[thread]);
    case MR_OP_ACQUIRE:
    case MR_OP_SHARED_ACQUIRE:
        section = mr_window_section(w, event);
        return !section || is_free(r, section);
    case MR_OP_JOIN:
        return object == MR_NONE || r->next[object] == mr_window_length(w, object);
    case MR_OP_WAIT:
        return r->units[object] > 0;
    case MR_OP_FORK:
    case MR_OP_CALL_BEGIN:
    case MR_OP_BRANCH:
        return !r->diverged[thread];
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_RELEASE:
    case MR_OP_SHARED_RELEASE:
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_POST:
    case MR_OP_CALL_END:
    case MR_OP_ALLOC:
    case MR_OP_FREE:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        break; /* nothing but program order and the edges of calls */
    }
    return true;
}

/* ---- running ---- */

static void write_variable(runner *r, uint32_t event)
{
    const mr_window *w = r->window;
    bool unknown = r->diverged[w->thread[event]];
    r->memory[w->object[event]] = (memory){.value = unknown ? 0 : mr_window_written_value(w, event),
                                           .write = event,
                                           .unknown = unknown};
}

static void pass_section(runner *r, uint32_t event, const mr_section *section, bool back)
{
    bool enter = (section->acquire == event) != back;
    lock_state *state = &r->locks[section->lock];
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

static void count_unit(runner *r, uint32_t event, bool back)
{
    uint8_t op = mr_window_op(r->window, event);
    if (!MR_OP_DOES(op, MR_GIVES | MR_TAKES))
        return;
    bool more = mr_op_gives(op) != back;
    MR_ASSERT(more || r->units[r->window->object[event]]);
    r->units[r->window->object[event]] += more ? 1 : UINT32_MAX;
}

static void run_event(runner *r, uint32_t event, bool diverges)
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

/* ---- what greed should not do ---- */

/* Can the thread, alone, go on from the acquire to the release? The state is as before afterwards.
 */
static bool can_pass(runner *r, const mr_section *section)
{
    const mr_window *w = r->window;
    uint32_t thread = section->thread, from = r->next[thread], writes = 0;
    bool possible = true, diverges;
    while (possible && r->next[thread] <= w->position[section->release]) {
        uint32_t event = mr_window_at(w, thread, r->next[thread]);
        r->effort++;
        possible = is_possible(r, event, &diverges) && !diverges;
        if (!possible)
            break;
        if (mr_op_writes(mr_window_op(w, event)))
            r->undone[writes++] = (undo){w->object[event], r->memory[w->object[event]]};
        run_event(r, event, false);
    }
    while (writes-- > 0)
        r->memory[r->undone[writes].variable] = r->undone[writes].old;
    while (r->next[thread] > from) {
        uint32_t event = mr_window_at(w, thread, --r->next[thread]);
        const mr_section *other = mr_window_section(w, event);
        if (other)
            pass_section(r, event, other, true);
        count_unit(r, event, true);
    }
    return possible;
}

static bool is_known_first(const runner *r, uint32_t event)
{
    const mr_window *w = r->window;
    const mr_known *known = r->question->known;
    if (!known)
        return true;
    uint32_t slot = known->slot_of[w->thread[event]];
    uint32_t rank = mr_known_rows(known, slot, w->position[event] + 1);
    if (!rank)
        return true;
    const uint32_t *clock = mr_known_clock(known, known->row_first[slot] + rank - 1);
    for (uint32_t s = 0; s < known->slot_count; s++)
        if (s != slot && mr_known_rows(known, s, r->next[known->thread_of[s]]) < clock[s])
            return false;
    return true;
}

static bool is_wise(runner *r, uint32_t event, bool diverges)
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

static bool takes_part(const runner *r, uint32_t event, pass_kind kind, bool all)
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
static bool pass(runner *r, pass_kind kind, bool all)
{
    const mr_window *w = r->window;
    uint32_t kept = 0;
    bool moved = false;
    for (uint32_t i = 0; i < r->left_count; i++) {
        uint32_t event = r->left[i];
        bool diverges,
            ready = w->position[event] == r->next[w->thread[event]] && r->required_left &&
                    (kind != UNWISE || !moved) && w->position[event] < r->stop[w->thread[event]] &&
                    takes_part(r, event, kind, all) && is_possible(r, event, &diverges) &&
                    is_known_first(r, event) && (kind == UNWISE || is_wise(r, event, diverges));
        r->effort++;
        if (!ready) {
            r->left[kept++] = event;
            continue;
        }
        r->required_left -= is_required(r, event);
        run_event(r, event, diverges);
        r->events[r->count++] = event;
        moved = true;
    }
    r->left_count = kept;
    return moved;
}

static bool run(runner *r, bool all)
{
    while (r->required_left && r->effort < r->max_effort && !mr_arena_is_halted(r->arena))
        if (!pass(r, WISE, all) && (all || !pass(r, OPTIONAL, all)) && !pass(r, UNWISE, all))
            return false;
    return !r->required_left;
}

/* ---- the start ---- */

static bool allocate(runner *r, mr_arena *arena)
{
    const mr_window *w = r->window;
    uint32_t events = 0;
    for (uint32_t t = 0; t < w->thread_count; t++)
        events += r->question->cone[t];
    r->next = mr_arena_alloc(arena, w->thread_count, sizeof *r->next);
    r->stop = mr_arena_alloc(arena, w->thread_count, sizeof *r->stop);
    r->bound = mr_arena_zalloc(arena, w->thread_count, sizeof *r->bound);
    r->diverged = mr_arena_alloc(arena, w->thread_count, sizeof *r->diverged);
    r->memory = mr_arena_alloc(arena, w->variable_count, sizeof *r->memory);
    r->locks = mr_arena_alloc(arena, w->lock_count, sizeof *r->locks);
    r->units = mr_arena_alloc(arena, w->lock_count, sizeof *r->units);
    r->open = mr_arena_alloc(arena, w->section_count, sizeof *r->open);
    r->left = mr_arena_alloc(arena, events, sizeof *r->left);
    r->events = mr_arena_alloc(arena, events, sizeof *r->events);
    r->undone = mr_arena_alloc(arena, events, sizeof *r->undone);
    return r->next && r->stop && r->bound && r->diverged && r->memory && r->locks && r->units &&
           r->open && r->left && r->events && r->undone;
}

static void reset(runner *r)
{
    const mr_window *w = r->window;
    const mr_greedy_question *q = r->question;
    uint32_t events = 0;
    memset(r->next, 0, w->thread_count * sizeof *r->next);
    memset(r->diverged, 0, w->thread_count * sizeof *r->diverged);
    memset(r->open, 0, w->section_count * sizeof *r->open);
    r->left_count = r->count = r->required_left = 0;
    for (uint32_t v = 0; v < w->variable_count; v++)
        r->memory[v] = (memory){.value = w->variables[v].carried_value, .write = MR_NONE};
    for (uint32_t l = 0; l < w->lock_count; l++) {
        r->locks[l] = (lock_state){.owner = MR_NONE};
        r->units[l] = w->semaphores[l].units;
        for (uint32_t s = w->locks[l].sections_first; s < w->locks[l].carried_end; s++) {
            r->open[s] = 1;
            r->locks[l].sharers += w->sections[s].shared;
            if (!w->sections[s].shared)
                r->locks[l].owner = w->sections[s].thread;
        }
    }
    for (uint32_t t = 0; t < w->thread_count; t++) {
        events += q->cone[t];
        r->required_left += q->required[t];
        r->bound[t] = q->required[t];
        while (r->bound[t] && !mr_binds_reads(w, mr_window_at(w, t, r->bound[t] - 1)))
            r->bound[t]--;
    }
    for (uint32_t i = 0; r->left_count < events; i++)
        if (w->position[i] < q->cone[w->thread[i]])
            r->left[r->left_count++] = i;
}

static void set_stops(runner *r)
{
    const mr_window *w = r->window;
    const mr_goal *goal = r->question->goal;
    memset(r->stop, 0xff, w->thread_count * sizeof *r->stop);
    for (uint32_t i = 0; i < goal->stop_count; i++)
        r->stop[w->thread[goal->stops[i].events[0]]] = w->position[goal->stops[i].events[0]];
}

static bool stops_hold(const runner *r)
{
    const mr_goal *goal = r->question->goal;
    for (uint32_t i = 0; i < goal->stop_count; i++)
        if (!edges_hold(r, goal->stops[i].events[0]))
            return false;
    return true;
}

mr_greedy mr_greedy_run(const mr_greedy_question *question, uint32_t max_passes, uint32_t **events,
                        uint32_t *count, mr_arena *arena)
{
    runner r = {.window = question->precedence->window, .question = question, .arena = arena};
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
