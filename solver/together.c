#include "together.h"

#include "base/assert.h"
#include "raise.h"
#include "state_set.h"
#include "windows/read_choices.h"

#include <inttypes.h>
#include <string.h>

/* Bounds. A window with more rows or parts is not for this search. */
enum { MOST_PARTS = 512, MOST_ROWS = 1 << 24 };

/* The search gives up when there are more pairs than this for each row that it has come to, beyond the first. */
enum { PAIRS_OF_ROW = 48, FIRST_PAIRS = 1 << 22 };

enum { STEPS_A_LOOK = 256 };

/* A step of a thread: acquires from event `first` of the thread on, then `main`, then events that only give. */
typedef struct step {
    uint32_t first, main; /* positions in the thread */
    uint32_t event;       /* of `main` */
    uint32_t part;        /* of the variable that `main` accesses; MR_NONE: none */
    uint32_t write;       /* the state of that part after it; MR_NONE: it does not write */
    uint32_t killer;      /* the part that made the event impossible the last time */
    bool looks_back; /* something must be before it that need not be before the step before it */
    bool acquires;   /* its first event is a contended acquire */
    bool due, reached;
} step;

/* The states of part j that may be with one state of part i. */
typedef mr_state_set row;

/* The rows of one state while its step is taken: those of part j are `first[j]` and so on, with `at[j + 1] - at[j]` words from
 * `at[j]` on. */
typedef struct frame {
    uint32_t *first, *at;  /* one a part, and the end */
    uint64_t *own;         /* what may be beside the step, but for its variable */
    uint64_t *found, *all; /* with one last write, and with any */
} frame;

typedef struct part {
    uint32_t first_state, state_count;
} part;

struct mr_together {
    const mr_window *window;
    const mr_precedence *hard, *forced;
    uint32_t part_count, thread_count, state_count;
    part *parts;           /* threads, then variables */
    uint32_t *part_of;     /* one a variable; MR_NONE: not shared */
    uint32_t *state_of;    /* one an event: of its thread when it is the next */
    uint32_t *write_state; /* one an event: of its variable after it, when it writes */
    /* one a state; after the last of a thread there is none, and those of variables have a part alone */
    step *steps;
    uint32_t *step_of_event; /* one an event: the step whose `main` it is; MR_NONE */
    uint32_t *grown;         /* states of variables whose rows have new pairs */
    uint32_t grown_count;
    row *rows; /* one a state and part */
    uint64_t *
        *free_section; /* one a lock and thread: states outside exclusive sections; NULL: all */
    mr_state_pool pool;
    frame frame; /* scratch */
    uint64_t pairs, reached, effort, max_effort;
    uint32_t least_due,
        taken; /* since the last time through: the least `event` of a step that became due */
    bool gave_up, out_of_memory;
    mr_arena *arena;
};

/* ---- rows ---- */

static uint32_t lowest_bit(uint64_t bits)
{
    return (uint32_t)__builtin_ctzll(bits);
}

static row *row_of(const mr_together *t, uint32_t i, uint32_t state, uint32_t j)
{
    return &t->rows[(size_t)(t->parts[i].first_state + state) * t->part_count + j];
}

static const uint64_t *words_of(const mr_together *t, const row *r)
{
    return mr_state_set_words(&t->pool, r);
}

static void make_due(mr_together *t, step *s)
{
    s->due = true;
    if (s->event < t->least_due)
        t->least_due = s->event;
}

static void mark_grown(mr_together *t, uint32_t i, uint32_t state)
{
    step *s = &t->steps[t->parts[i].first_state + state];
    if (i < t->thread_count)
        make_due(t, s);
    else if (!s->due) {
        s->due = true;
        t->grown[t->grown_count++] = t->parts[i].first_state + state;
    }
}

/* The new bits of one word: the same pairs from the other side. */
static bool mirror(mr_together *t, uint32_t i, uint32_t state, uint32_t j, uint32_t word,
                   uint64_t bits)
{
    const uint32_t own = state / 64;
    for (; bits; bits &= bits - 1) {
        uint32_t other = word * 64 + lowest_bit(bits);
        row *r = row_of(t, j, other, i);
        if (!mr_state_set_spans(r, own) && !mr_state_set_cover(&t->pool, r, own, own))
            return false;
        mr_state_set_change(&t->pool, r)[own - r->first] |= UINT64_C(1) << state % 64;
        mark_grown(t, j, other);
        t->pairs++;
        t->effort += 4;
    }
    return true;
}

/* Adds pairs of a state of part i and states of part j. False: gave up, or no memory. */
static bool add(mr_together *t, uint32_t i, uint32_t state, uint32_t j, uint32_t first,
                uint32_t count, const uint64_t *words)
{
    row *r = row_of(t, i, state, j);
    if (mr_state_set_has_all(&t->pool, r, first, count, words))
        return true;
    while (!words[count - 1])
        count--;
    for (; !*words; count--, words++)
        first++;
    if (!mr_state_set_cover(&t->pool, r, first, first + count - 1))
        return false;
    uint64_t *into = mr_state_set_change(&t->pool, r) + (first - r->first);
    for (uint32_t k = 0; k < count; k++) {
        uint64_t fresh = words[k] & ~into[k];
        into[k] |= fresh;
        if (fresh && !mirror(t, i, state, j, first + k, fresh))
            return false;
    }
    mark_grown(t, i, state);
    return true;
}

static bool add_one(mr_together *t, uint32_t i, uint32_t state, uint32_t j, uint32_t other)
{
    uint64_t bit = UINT64_C(1) << other % 64;
    return add(t, i, state, j, other / 64, 1, &bit);
}

/* ---- one step of a thread ---- */

/* The states of thread `thread` when `count` of its events have happened. */
static uint32_t state_after(const mr_together *t, uint32_t thread, uint32_t count)
{
    const mr_window *w = t->window;
    return count < mr_window_length(w, thread) ? t->state_of[mr_window_at(w, thread, count)]
                                               : t->parts[thread].state_count - 1;
}

/* May the read see the state of its variable? */
static bool may_see(const mr_together *t, uint32_t read, uint32_t state)
{
    const mr_window *w = t->window;
    const mr_window_variable *v = &w->variables[w->object[read]];
    uint32_t write = state ? w->writes[v->writes_first + state - 1] : MR_NONE;
    if (v->by_source)
        return w->source[read] == write;
    uint32_t value = mr_window_read_value(w, read);
    if (!state)
        return value && value == v->carried_value && mr_read_may_see_carried(w, t->hard, read);
    return value && value == mr_window_written_value(w, write) &&
           mr_read_may_see(w, t->hard, read, write);
}

/* Takes out of the frame the states of thread j that come too early for the event, and those in sections of its locks. */
static void restrict_to(mr_together *t, uint32_t thread, const step *s, uint32_t j)
{
    const mr_window *w = t->window;
    uint32_t first = t->frame.first[j], count = t->frame.at[j + 1] - t->frame.at[j];
    uint64_t *words = t->frame.own + t->frame.at[j];
    for (uint32_t p = s->first; s->acquires && p <= s->main; p++) {
        const mr_section *section = mr_window_section(w, mr_window_at(w, thread, p));
        const uint64_t *outside = section && section->acquire == mr_window_at(w, thread, p)
                                      ? t->free_section[(size_t)section->lock * t->thread_count + j]
                                      : NULL;
        for (uint32_t k = 0; outside && k < count; k++)
            words[k] &= outside[first + k];
    }
    if (!s->looks_back)
        return;
    uint32_t main = mr_window_at(w, thread, s->main);
    uint32_t least = state_after(t, j, mr_precedence_count(w, t->forced->clock[main], thread, j));
    for (uint32_t k = 0; k < count && (first + k) * 64 < least; k++) {
        uint32_t below = least - (first + k) * 64;
        words[k] &= below < 64 ? ~UINT64_C(0) << below : 0;
    }
}

/* Is no part that other states must be beside the step? It is not beside its own thread and variable. */
static bool is_passed_over(uint32_t thread, const step *s, uint32_t j)
{
    return j == thread || j == s->part;
}

/* The frame of a step: what may be beside it, whatever the last write of its variable is. False: for some part there is
 * nothing. */
static bool make_frame(mr_together *t, uint32_t thread, uint32_t state, step *s)
{
    const row *rows = row_of(t, thread, state, 0);
    frame *f = &t->frame;
    uint32_t used = 0;
    for (uint32_t j = 0; j < t->part_count; j++) {
        uint32_t count = is_passed_over(thread, s, j) ? 0 : rows[j].count;
        const uint64_t *words = words_of(t, &rows[j]);
        f->first[j] = rows[j].first;
        f->at[j] = used;
        for (uint32_t k = 0; k < count; k++)
            f->own[used + k] = words[k];
        used += count;
    }
    f->at[t->part_count] = used;
    t->effort += t->part_count + used;
    for (uint32_t j = 0; j < t->thread_count && (s->acquires || s->looks_back); j++) {
        if (is_passed_over(thread, s, j))
            continue;
        uint64_t any = 0;
        restrict_to(t, thread, s, j);
        for (uint32_t k = f->at[j]; k < f->at[j + 1]; k++)
            any |= f->own[k];
        if (!any)
            return false;
    }
    return true;
}

/* What of the frame is beside a last write of the variable, of part j. False: nothing. */
static bool meet(mr_together *t, const row *with, uint32_t j)
{
    const frame *f = &t->frame;
    uint32_t first = f->first[j], at = f->at[j], count = f->at[j + 1] - at;
    const uint64_t *words = words_of(t, with);
    uint64_t any = 0;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t word = first + k - with->first;
        f->found[at + k] = word < with->count ? f->own[at + k] & words[word] : 0;
        any |= f->found[at + k];
    }
    return any;
}

/* The step with this last write of its variable: adds to what is beside it with any. False: it is not possible. */
static bool take_with(mr_together *t, uint32_t thread, step *s, uint32_t write)
{
    const row *rows = row_of(t, s->part, write, 0);
    const frame *f = &t->frame;
    if (s->killer != MR_NONE && !meet(t, &rows[s->killer], s->killer))
        return false;
    t->effort += t->part_count + f->at[t->part_count];
    for (uint32_t j = 0; j < t->part_count; j++)
        if (!is_passed_over(thread, s, j) && !meet(t, &rows[j], j)) {
            s->killer = j;
            return false;
        }
    for (uint32_t k = 0; k < f->at[t->part_count]; k++)
        f->all[k] |= f->found[k];
    return true;
}

/* Adds pairs of the state of a part after the step and what is beside it. */
static bool add_all(mr_together *t, uint32_t i, uint32_t state, const uint64_t *words)
{
    const frame *f = &t->frame;
    for (uint32_t j = 0; j < t->part_count; j++)
        if (f->at[j + 1] > f->at[j] &&
            !add(t, i, state, j, f->first[j], f->at[j + 1] - f->at[j], words + f->at[j]))
            return false;
    return true;
}

/* Takes the step from wherever it is possible. False: gave up, or no memory. */
static bool take(mr_together *t, uint32_t thread, uint32_t state, step *s)
{
    const mr_window *w = t->window;
    const frame *f = &t->frame;
    bool taken = false;
    s->due = false;
    if (!make_frame(t, thread, state, s))
        return true;
    if (s->part == MR_NONE)
        return add_all(t, thread, state + 1, f->own);
    uint32_t event = mr_window_at(w, thread, s->main);
    bool reads = mr_op_reads(mr_window_op(w, event));
    const row seen = *row_of(t, thread, state, s->part);
    memset(f->all, 0, f->at[t->part_count] * sizeof *f->all);
    for (uint32_t k = 0; k < seen.count; k++)
        for (uint64_t bits = words_of(t, &seen)[k]; bits; bits &= bits - 1) {
            uint32_t write = (seen.first + k) * 64 + lowest_bit(bits);
            if ((reads && !may_see(t, event, write)) || !take_with(t, thread, s, write))
                continue;
            taken = true;
            if (!add_one(t, thread, state + 1, s->part, s->write == MR_NONE ? write : s->write))
                return false;
        }
    return !taken || (add_all(t, thread, state + 1, f->all) &&
                      (s->write == MR_NONE || add_all(t, s->part, s->write, f->all)));
}

/* ---- until nothing is new ---- */

/* Steps that access a variable beside a state of it that has new pairs are due. */
static void wake(mr_together *t, uint32_t v, uint32_t state)
{
    for (uint32_t thread = 0; thread < t->thread_count; thread++) {
        const row *r = row_of(t, v, state, thread);
        for (uint32_t k = 0; k < r->count; k++)
            for (uint64_t bits = words_of(t, r)[k]; bits; bits &= bits - 1) {
                uint32_t other = (r->first + k) * 64 + lowest_bit(bits);
                step *s = &t->steps[t->parts[thread].first_state + other];
                if (s->part == v && !s->due)
                    make_due(t, s);
            }
    }
}

static void wake_all(mr_together *t)
{
    for (uint32_t i = 0; i < t->grown_count; i++) {
        step *s = &t->steps[t->grown[i]];
        s->due = false;
        wake(t, s->part, t->grown[i] - t->parts[s->part].first_state);
    }
    t->grown_count = 0;
}

/* Takes a step that is due. False: gave up, or no memory. */
static bool take_due(mr_together *t, uint32_t number, step *s)
{
    uint32_t thread = t->window->thread[s->event];
    t->reached += s->reached ? 0 : t->part_count;
    s->reached = true;
    if (!take(t, thread, number - t->parts[thread].first_state, s))
        return false;
    t->out_of_memory |= ++t->taken % STEPS_A_LOOK == 0 && mr_arena_is_halted(t->arena);
    t->gave_up |= t->effort > t->max_effort || t->pairs > FIRST_PAIRS + t->reached * PAIRS_OF_ROW;
    return !t->out_of_memory && !t->gave_up;
}

/* Once through the events of the window from `from` on, in its order. */
static bool pass(mr_together *t, uint32_t from)
{
    t->least_due = MR_NONE;
    for (uint32_t event = from; event < t->window->size; event++) {
        uint32_t number = t->step_of_event[event];
        if (number != MR_NONE && t->steps[number].due && !take_due(t, number, &t->steps[number]))
            return false;
    }
    wake_all(t);
    return true;
}

/* Until no step is due. */
static bool take_all(mr_together *t)
{
    for (uint32_t from = 0; from != MR_NONE; from = t->least_due)
        if (!pass(t, from))
            return false;
    return true;
}

/* ---- the start ---- */

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

/* The states outside the exclusive sections of one lock and thread. */
static bool leave_out_section(mr_together *t, const mr_section *section)
{
    const mr_window *w = t->window;
    const part *p = &t->parts[section->thread];
    uint64_t **free = &t->free_section[(size_t)section->lock * t->thread_count + section->thread];
    size_t words = (size_t)p->state_count / 64 + 1;
    /* Before the acquire, when it waits, and after the release the section is not open. */
    uint32_t from = section->acquire == MR_NONE ? 0 : t->state_of[section->acquire] + 1;
    uint32_t to = section->release == MR_NONE
                      ? p->state_count
                      : state_after(t, section->thread, w->position[section->release] + 1);
    if (!*free) {
        t->pool.bytes += words * sizeof **free;
        t->gave_up = t->pool.max_bytes && t->pool.bytes > t->pool.max_bytes;
        *free = t->gave_up ? NULL : mr_arena_alloc(t->arena, words, sizeof **free);
        if (!*free)
            return false;
        memset(*free, 0xff, words * sizeof **free);
    }
    for (uint32_t state = from; state < to; state++)
        (*free)[state / 64] &= ~(UINT64_C(1) << state % 64);
    return true;
}

static bool leave_out_sections(mr_together *t)
{
    const mr_window *w = t->window;
    for (uint32_t s = 0; s < w->section_count; s++)
        if (!w->sections[s].shared && w->locks[w->sections[s].lock].contended &&
            !leave_out_section(t, &w->sections[s]))
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
    t->frame = (frame){.first = mr_arena_alloc(t->arena, t->part_count, sizeof(uint32_t)),
                       .at = mr_arena_alloc(t->arena, (size_t)t->part_count + 1, sizeof(uint32_t)),
                       .own = mr_arena_alloc(t->arena, words, sizeof(uint64_t)),
                       .found = mr_arena_alloc(t->arena, words, sizeof(uint64_t)),
                       .all = mr_arena_alloc(t->arena, words, sizeof(uint64_t))};
    return t->frame.first && t->frame.at && t->frame.own && t->frame.found && t->frame.all;
}

static bool make_rows(mr_together *t)
{
    const mr_window *w = t->window;
    size_t rows = (size_t)t->state_count * t->part_count;
    t->pool.bytes = rows * sizeof *t->rows;
    if (rows > MOST_ROWS || (t->pool.max_bytes && t->pool.bytes > t->pool.max_bytes)) {
        t->gave_up = true;
        return false;
    }
    t->rows = mr_arena_zalloc(t->arena, rows, sizeof *t->rows);
    t->steps = mr_arena_zalloc(t->arena, t->state_count, sizeof *t->steps);
    t->grown = mr_arena_alloc(t->arena, t->state_count, sizeof *t->grown);
    t->free_section =
        mr_arena_zalloc(t->arena, (size_t)w->lock_count * t->thread_count, sizeof(uint64_t *));
    if (!t->rows || !t->steps || !t->grown || !t->free_section || !make_scratch(t))
        return false;
    for (uint32_t thread = 0; thread < t->thread_count; thread++)
        make_steps(t, thread);
    for (uint32_t v = t->thread_count; v < t->part_count; v++)
        for (uint32_t state = 0; state < t->parts[v].state_count; state++)
            t->steps[t->parts[v].first_state + state].part = v;
    return leave_out_sections(t);
}

static bool begin(mr_together *t)
{
    for (uint32_t i = 0; i < t->part_count; i++)
        for (uint32_t j = i + 1; j < t->part_count; j++)
            if (!add_one(t, i, 0, j, 0))
                return false;
    return true;
}

static bool run(mr_together *t)
{
    if (!make_parts(t))
        return false;
    if (t->part_count > MOST_PARTS) {
        t->gave_up = true;
        return false;
    }
    number_states(t);
    return make_rows(t) && begin(t) && take_all(t);
}

mr_explored mr_together_search(const mr_window *window, const mr_precedence *hard,
                               const mr_precedence *forced, const mr_explore_limits *limits,
                               uint64_t *spent, const mr_debug *debug, mr_arena *arena,
                               mr_together **together)
{
    MR_ASSERT(window->model != MR_MODEL_BRANCH);
    mr_together *t = mr_arena_zalloc(arena, 1, sizeof *t);
    if (!t)
        return MR_EXPLORED_NO_MEMORY;
    *t = (mr_together){.window = window,
                       .hard = hard,
                       .forced = forced,
                       .max_effort = limits->effort,
                       .pool = {.arena = arena, .max_bytes = limits->memory_bytes},
                       .arena = arena};
    bool done = run(t);
    *spent += t->effort;
    mr_explored result = done                         ? MR_EXPLORED_ALL
                         : t->gave_up || t->pool.full ? MR_EXPLORED_OUT_OF_EFFORT
                                                      : MR_EXPLORED_NO_MEMORY;
    *together = t;
    MR_DEBUG(debug, SEARCH,
             "together=%s parts=%" PRIu32 " states=%" PRIu32 " pairs=%" PRIu64 " reached=%" PRIu64
             " effort=%" PRIu64,
             mr_explored_name(result), t->part_count, t->state_count, t->pairs, t->reached,
             t->effort);
    return result;
}

bool mr_together_may_be(const mr_together *t, uint32_t a, const uint32_t *events, uint32_t count)
{
    const mr_window *w = t->window;
    uint32_t other = w->thread[events[0]];
    const row *r = row_of(t, w->thread[a], t->state_of[a], other);
    uint32_t k = 0, end = count;
    while (k < end) { /* the first event that the row has a word for */
        uint32_t middle = k + (end - k) / 2;
        if (t->state_of[events[middle]] / 64 < r->first)
            k = middle + 1;
        else
            end = middle;
    }
    for (; k < count && t->state_of[events[k]] / 64 < r->first + (uint32_t)r->count; k++)
        if (mr_state_set_has(&t->pool, r, t->state_of[events[k]]))
            return true;
    return false;
}

/* mr_raise: the step before the first state of each other thread. */
static void tell_states(void *context, mr_raiser *raiser, uint32_t event)
{
    const mr_together *t = context;
    uint32_t thread = t->window->thread[event];
    uint32_t state = state_after(t, thread, t->window->position[event] + 1);
    for (uint32_t j = 0; j < t->thread_count; j++) {
        const row *r = row_of(t, thread, state, j);
        uint32_t k = 0;
        while (k < r->count && !words_of(t, r)[k])
            k++;
        if (k == r->count) /* its own row */
            continue;
        uint32_t least = (r->first + k) * 64 + lowest_bit(words_of(t, r)[k]);
        if (least)
            mr_raise_by(raiser, t->steps[t->parts[j].first_state + least - 1].event, event);
    }
}

bool mr_together_raise(const mr_together *t, mr_precedence *forced, mr_arena *arena)
{
    MR_ASSERT(forced->window == t->window);
    return mr_raise(forced, tell_states, (void *)t, arena, arena);
}
