#include "together_parts.h"

#include <string.h>

/* Bounds. A window with more rows or parts is not for this search. */
enum { MOST_PARTS = 512, MOST_ROWS = 1 << 24 };

typedef mr_together_step step;
typedef mr_together_touch touch;
typedef mr_together_whole whole;
typedef mr_together_part part;

/* ---- steps ---- */

static bool is_acquire(const mr_together *t, uint32_t event)
{
    const mr_section *section = mr_window_section(t->window, event);
    return section && section->acquire == event && t->window->locks[section->lock].contended;
}

static bool is_access(const mr_window *w, uint32_t event)
{
    return mr_op_is_access(mr_window_op(w, event)) && w->variables[w->object[event]].shared;
}

/* Must something be before the event that need not be before the one before it? */
static bool looks_back(const mr_together *t, uint32_t event)
{
    const mr_window *w = t->window;
    uint32_t position = w->position[event];
    return !position || t->forced->clock[event] !=
                            t->forced->clock[mr_window_at(w, w->thread[event], position - 1)];
}

/* Does a step end before the event, so that it comes by itself or after acquires? */
static bool stands_alone(const mr_together *t, uint32_t event)
{
    uint8_t op = mr_window_op(t->window, event);
    return is_acquire(t, event) || is_access(t->window, event) || op == MR_OP_FREE ||
           looks_back(t, event);
}

/* The steps of a thread into t->steps from its first state on, when they are there; returns their number. */
static uint32_t make_steps(mr_together *t, uint32_t thread)
{
    const mr_window *w = t->window;
    uint32_t count = 0, length = mr_window_length(w, thread);
    for (uint32_t p = 0; p < length; count++) {
        step s = {.first = p, .part = MR_NONE, .write = MR_NONE, .killer = MR_NONE};
        uint32_t event = mr_window_at(w, thread, p);
        t->state_of[event] = count;
        s.acquires = is_acquire(t, event);
        while (p + 1 < length && is_acquire(t, event)) {
            s.looks_back |= looks_back(t, event);
            event = mr_window_at(w, thread, ++p);
            t->state_of[event] = count;
        }
        s.looks_back |= looks_back(t, event);
        s.main = p++;
        s.event = event;
        if (is_access(w, event)) {
            s.part = t->part_of[w->object[event]];
            s.write = t->write_state[event];
        }
        for (; p < length && !stands_alone(t, mr_window_at(w, thread, p)); p++)
            t->state_of[mr_window_at(w, thread, p)] = count + 1;
        if (t->steps) {
            t->step_of_event[event] = t->parts[thread].first_state + count;
            t->steps[t->step_of_event[event]] = s;
        }
    }
    if (t->steps)
        t->steps[t->parts[thread].first_state + count].event = MR_NONE; /* there is no step */
    return count;
}

/* ---- atomic sections ---- */

static bool reads(const mr_together *t, uint32_t access)
{
    return mr_op_reads(mr_window_op(t->window, access));
}

static void add_touch(mr_together *t, whole *it, const step *s)
{
    uint32_t k = it->first_touch, to = it->end_touch;
    while (k < it->end_touch && t->touches[k].part != s->part)
        k++;
    if (k == it->end_touch) {
        for (; reads(t, s->event) && to > it->first_touch && !reads(t, t->touches[to - 1].access);
             to--)
            t->touches[to] = t->touches[to - 1];
        it->end_touch++;
        t->touches[k = to] =
            (touch){.part = s->part, .access = s->event, .write = MR_NONE, .killer = MR_NONE};
    }
    if (s->write != MR_NONE)
        t->touches[k].write = s->write;
}

void mr_together_make_whole(mr_together *t, uint32_t thread, uint32_t state, uint32_t end)
{
    const uint32_t first = t->parts[thread].first_state + state;
    const step *steps = &t->steps[first];
    whole it = {
        .end = end, .last = steps[end - state - 1].event, .first_touch = first, .end_touch = first};
    for (uint32_t k = 0; k < end - state; k++) {
        it.looks_back |= steps[k].looks_back;
        if (steps[k].part != MR_NONE)
            add_touch(t, &it, &steps[k]);
    }
    t->wholes[first] = it;
    t->steps[first].is_whole = true;
}

/* The section that the step begins, when it is atomic and has further steps. */
static void find_whole(mr_together *t, uint32_t thread, uint32_t state)
{
    const mr_window *w = t->window;
    const step *s = &t->steps[t->parts[thread].first_state + state];
    const mr_section *section =
        s->main > s->first ? mr_window_section(w, mr_window_at(w, thread, s->main - 1)) : NULL;
    if (!section || section->acquire != mr_window_at(w, thread, s->main - 1) ||
        !mr_atomic_sections_has(&t->atomic, w, section))
        return;
    uint32_t end = mr_together_state_after(t, thread, w->position[section->release] + 1);
    if (end >= state + 2)
        mr_together_make_whole(t, thread, state, end);
}

static bool make_wholes(mr_together *t)
{
    const mr_window *w = t->window;
    t->wholes = mr_arena_alloc(t->arena, t->state_count, sizeof *t->wholes);
    t->touches = mr_arena_alloc(t->arena, t->state_count, sizeof *t->touches);
    if (!t->wholes || !t->touches || !mr_atomic_sections_find(&t->atomic, w, t->arena))
        return false;
    for (uint32_t thread = 0; thread < t->thread_count; thread++)
        for (uint32_t state = 0; state + 1 < t->parts[thread].state_count; state++)
            find_whole(t, thread, state);
    return true;
}

/* Takes the section out of the states outside sections of its lock and kind by its thread. */
static bool leave_out_section(mr_together *t, const mr_section *section)
{
    const mr_window *w = t->window;
    const part *p = &t->parts[section->thread];
    uint64_t **all = section->shared ? t->out_of_shared : t->out_of_exclusive;
    uint64_t **outside = &all[(size_t)section->lock * t->thread_count + section->thread];
    size_t words = (size_t)p->state_count / 64 + 1;
    /* Before the acquire, when it waits, and after the release the section is not open. */
    uint32_t from = section->acquire == MR_NONE ? 0 : t->state_of[section->acquire] + 1;
    uint32_t to =
        section->release == MR_NONE
            ? p->state_count
            : mr_together_state_after(t, section->thread, w->position[section->release] + 1);
    if (!*outside) {
        t->pool.bytes += words * sizeof **outside;
        t->gave_up = t->pool.max_bytes && t->pool.bytes > t->pool.max_bytes;
        *outside = t->gave_up ? NULL : mr_arena_alloc(t->arena, words, sizeof **outside);
        if (!*outside)
            return false;
        memset(*outside, 0xff, words * sizeof **outside);
    }
    for (uint32_t state = from; state < to; state++)
        (*outside)[state / 64] &= ~(UINT64_C(1) << state % 64);
    return true;
}

static bool leave_out_sections(mr_together *t)
{
    const mr_window *w = t->window;
    size_t count = (size_t)w->lock_count * t->thread_count;
    t->out_of_exclusive = mr_arena_zalloc(t->arena, count, sizeof *t->out_of_exclusive);
    t->out_of_shared = mr_arena_zalloc(t->arena, count, sizeof *t->out_of_shared);
    if (!t->out_of_exclusive || !t->out_of_shared)
        return false;
    for (uint32_t s = 0; s < w->section_count; s++)
        if (w->locks[w->sections[s].lock].contended && !leave_out_section(t, &w->sections[s]))
            return false;
    return true;
}

/* Numbers the parts and the states of variables. */
static bool make_parts(mr_together *t)
{
    const mr_window *w = t->window;
    t->thread_count = t->part_count = w->thread_count;
    t->part_of = mr_arena_alloc(t->arena, w->variable_count, sizeof *t->part_of);
    t->write_state = mr_arena_alloc(t->arena, w->size, sizeof *t->write_state);
    t->state_of = mr_arena_alloc(t->arena, w->size, sizeof *t->state_of);
    t->step_of_event = mr_arena_alloc(t->arena, w->size, sizeof *t->step_of_event);
    if (!t->part_of || !t->write_state || !t->state_of || !t->step_of_event)
        return false;
    memset(t->write_state, 0xff, w->size * sizeof *t->write_state);
    memset(t->step_of_event, 0xff, w->size * sizeof *t->step_of_event);
    for (uint32_t v = 0; v < w->variable_count; v++) {
        const mr_window_variable *variable = &w->variables[v];
        t->part_of[v] = variable->shared ? t->part_count++ : MR_NONE;
        for (uint32_t k = variable->writes_first; k < variable->writes_end; k++)
            if (variable->shared)
                t->write_state[w->writes[k]] = k - variable->writes_first + 1;
    }
    t->parts = mr_arena_alloc(t->arena, t->part_count, sizeof *t->parts);
    return t->parts;
}

static void number_states(mr_together *t)
{
    const mr_window *w = t->window;
    for (uint32_t thread = 0; thread < t->thread_count; thread++) {
        t->parts[thread] = (part){t->state_count, make_steps(t, thread) + 1};
        t->state_count += t->parts[thread].state_count;
    }
    for (uint32_t v = 0; v < w->variable_count; v++)
        if (t->part_of[v] != MR_NONE) {
            uint32_t writes = w->variables[v].writes_end - w->variables[v].writes_first;
            t->parts[t->part_of[v]] = (part){t->state_count, writes + 1};
            t->state_count += writes + 1;
        }
}

static bool make_scratch(mr_together *t)
{
    size_t words = (size_t)t->part_count * MR_STATE_MOST_WORDS;
    t->frame = (mr_together_frame){
        .first = mr_arena_alloc(t->arena, t->part_count, sizeof(uint32_t)),
        .at = mr_arena_alloc(t->arena, (size_t)t->part_count + 1, sizeof(uint32_t)),
        .own = mr_arena_alloc(t->arena, words, sizeof(uint64_t)),
        .found = mr_arena_alloc(t->arena, words, sizeof(uint64_t)),
        .all = mr_arena_alloc(t->arena, words, sizeof(uint64_t))};
    for (size_t k = 0; k < MR_TOGETHER_READS; k++)
        if (!(t->frame.with[k] = mr_arena_alloc(t->arena, words, sizeof(uint64_t))))
            return false;
    return t->frame.first && t->frame.at && t->frame.own && t->frame.found && t->frame.all;
}

static bool make_rows(mr_together *t)
{
    if ((size_t)t->state_count * t->part_count > MOST_ROWS) {
        t->gave_up = true;
        return false;
    }
    t->rows = mr_arena_zalloc(t->arena, t->state_count, sizeof *t->rows);
    t->steps = mr_arena_zalloc(t->arena, t->state_count, sizeof *t->steps);
    t->grown = mr_arena_alloc(t->arena, t->state_count, sizeof *t->grown);
    if (!t->rows || !t->steps || !t->grown || !make_scratch(t))
        return false;
    for (uint32_t thread = 0; thread < t->thread_count; thread++)
        make_steps(t, thread);
    for (uint32_t v = t->thread_count; v < t->part_count; v++)
        for (uint32_t state = 0; state < t->parts[v].state_count; state++)
            t->steps[t->parts[v].first_state + state].part = v;
    return make_wholes(t) && leave_out_sections(t);
}

bool mr_together_start(mr_together *t)
{
    if (!make_parts(t))
        return false;
    if (t->part_count > MOST_PARTS) {
        t->gave_up = true;
        return false;
    }
    number_states(t);
    return make_rows(t);
}
