#include "base/assert.h"
#include "raise.h"
#include "together_parts.h"
#include "windows/read_choices.h"

#include <inttypes.h>
#include <string.h>

/* The search gives up when there are more pairs than this for each row that it has come to, beyond the first; with few parts these may be
 * twice as many, as a pair takes little then. */
enum { PAIRS_OF_ROW = 24, FIRST_PAIRS = 1 << 22, FEW_PARTS = 64 };

enum { STEPS_A_LOOK = 256 };

typedef mr_together_step step;
typedef mr_together_touch touch;
typedef mr_together_whole whole;
typedef mr_together_frame frame;
typedef mr_together_row row;

/* ---- rows ---- */

static uint32_t lowest_bit(uint64_t bits)
{
    return (uint32_t)__builtin_ctzll(bits);
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

/* The row of a state for part j, for a change. NULL: gave up, or no memory. */
static row *reach(mr_together *t, uint32_t i, uint32_t state, uint32_t j)
{
    row **rows = &t->rows[t->parts[i].first_state + state];
    if (!*rows && mr_state_pool_count(&t->pool, t->part_count * sizeof **rows)) {
        *rows = mr_arena_zalloc(t->arena, t->part_count, sizeof **rows);
        t->out_of_memory |= !*rows;
    }
    return *rows ? &(*rows)[j] : NULL;
}

/* The new bits of one word: the same pairs from the other side. */
static bool mirror(mr_together *t, uint32_t i, uint32_t state, uint32_t j, uint32_t word,
                   uint64_t bits)
{
    const uint32_t own = state / 64;
    for (; bits; bits &= bits - 1) {
        uint32_t other = word * 64 + lowest_bit(bits);
        row *r = reach(t, j, other, i);
        if (!r || (!mr_state_set_spans(r, own) && !mr_state_set_cover(&t->pool, r, own, own)))
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
    row *r = reach(t, i, state, j);
    if (!r)
        return false;
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

/* Takes out of the frame the states that are not in the set, of thread j. NULL: all are in it. */
static void keep_outside(mr_together *t, const uint64_t *outside, uint32_t j)
{
    uint32_t count = t->frame.at[j + 1] - t->frame.at[j];
    for (uint32_t k = 0; outside && k < count; k++)
        t->frame.own[t->frame.at[j] + k] &= outside[t->frame.first[j] + k];
}

/* Takes out of the frame the states of thread j that come too early for the event, and those in sections that exclude its own. */
static void restrict_to(mr_together *t, uint32_t thread, const step *s, uint32_t last,
                        bool looks_back, uint32_t j)
{
    const mr_window *w = t->window;
    uint32_t first = t->frame.first[j], count = t->frame.at[j + 1] - t->frame.at[j];
    uint64_t *words = t->frame.own + t->frame.at[j];
    for (uint32_t p = s->first; s->acquires && p <= s->main; p++) {
        const mr_section *section = mr_window_section(w, mr_window_at(w, thread, p));
        if (!section || section->acquire != mr_window_at(w, thread, p))
            continue;
        size_t lock = (size_t)section->lock * t->thread_count + j;
        keep_outside(t, t->out_of_exclusive[lock], j);
        if (!section->shared)
            keep_outside(t, t->out_of_shared[lock], j);
    }
    if (!looks_back)
        return;
    uint32_t least =
        mr_together_state_after(t, j, mr_precedence_count(w, t->forced->clock[last], thread, j));
    for (uint32_t k = 0; k < count && (first + k) * 64 < least; k++) {
        uint32_t below = least - (first + k) * 64;
        words[k] &= below < 64 ? ~UINT64_C(0) << below : 0;
    }
}

/* The frame of a step, or of an atomic section: what may be beside it, whatever the last write of its variable, of part `v`, is, which
 * is not in it. `last` must not come too early. False: for some part there is nothing. */
static bool make_frame(mr_together *t, uint32_t thread, uint32_t state, step *s, uint32_t v,
                       uint32_t last, bool looks_back)
{
    const row *rows = mr_together_rows_of(t, thread, state);
    frame *f = &t->frame;
    uint32_t used = 0;
    for (uint32_t j = 0; j < t->part_count; j++) {
        uint32_t count = j == thread || j == v ? 0 : rows[j].count;
        const uint64_t *words = words_of(t, &rows[j]);
        f->first[j] = rows[j].first;
        f->at[j] = used;
        for (uint32_t k = 0; k < count; k++)
            f->own[used + k] = words[k];
        used += count;
    }
    f->at[t->part_count] = used;
    t->effort += t->part_count + used;
    for (uint32_t j = 0; j < t->thread_count && (s->acquires || looks_back); j++) {
        if (j == thread)
            continue;
        uint64_t any = 0;
        restrict_to(t, thread, s, last, looks_back, j);
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

/* What is beside a step of `thread` with this last write of its variable, of part `v`. False: it is not
 * possible. `*killer`: the part that made it impossible the last time. */
static bool take_with(mr_together *t, uint32_t thread, uint32_t v, uint32_t write, uint32_t *killer)
{
    const row *rows = mr_together_rows_of(t, v, write);
    const frame *f = &t->frame;
    if (*killer != MR_NONE && !meet(t, &rows[*killer], *killer))
        return false;
    t->effort += t->part_count + f->at[t->part_count];
    for (uint32_t j = 0; j < t->part_count; j++)
        if (j != thread && j != v && !meet(t, &rows[j], j)) {
            *killer = j;
            return false;
        }
    return true;
}

/* Adds to what is beside the step with any last write. */
static void join(const mr_together *t, const uint64_t *words)
{
    const frame *f = &t->frame;
    for (uint32_t k = 0; k < f->at[t->part_count]; k++)
        f->all[k] |= words[k];
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

/* ---- an atomic section ---- */

static void take_all_as_own(mr_together *t)
{
    frame *f = &t->frame;
    uint64_t *own = f->own;
    f->own = f->all;
    f->all = own;
}

/* What is beside the section with this last write of one of its variables, that one alone of its states. False: it is not possible. */
static bool touch_with(mr_together *t, uint32_t thread, touch *it, uint32_t write)
{
    const frame *f = &t->frame;
    const uint32_t at = f->at[it->part];
    if ((mr_op_reads(mr_window_op(t->window, it->access)) && !may_see(t, it->access, write)) ||
        !take_with(t, thread, it->part, write, &it->killer))
        return false;
    memset(f->found + at, 0, (f->at[it->part + 1] - at) * sizeof *f->found);
    f->found[at + write / 64 - f->first[it->part]] = UINT64_C(1) << write % 64;
    return true;
}

/* Leaves in the frame what is beside the section with a last write of one of its variables. False: there is none. */
static bool touch_variable(mr_together *t, uint32_t thread, touch *it)
{
    const frame *f = &t->frame;
    bool any = false;
    memset(f->all, 0, f->at[t->part_count] * sizeof *f->all);
    for (uint32_t k = f->at[it->part]; k < f->at[it->part + 1]; k++)
        for (uint64_t bits = f->own[k]; bits; bits &= bits - 1) {
            uint32_t word = f->first[it->part] + k - f->at[it->part];
            if (!touch_with(t, thread, it, word * 64 + lowest_bit(bits)))
                continue;
            any = true;
            join(t, f->found);
        }
    take_all_as_own(t);
    return any;
}

/* Adds to `all` what is beside the section with last writes of the variables that it reads, from number `depth` on. The rest is
 * for touch_variable. */
static bool touch_reads(mr_together *t, uint32_t thread, const whole *it, uint32_t depth)
{
    frame *f = &t->frame;
    uint64_t *const own = f->own;
    touch *read = &t->touches[it->first_touch + depth];
    bool any = false;
    if (depth == MR_TOGETHER_READS || it->first_touch + depth == it->end_touch ||
        !mr_op_reads(mr_window_op(t->window, read->access))) {
        join(t, own);
        return true;
    }
    for (uint32_t k = f->at[read->part]; k < f->at[read->part + 1]; k++)
        for (uint64_t bits = own[k]; bits; bits &= bits - 1) {
            uint32_t word = f->first[read->part] + k - f->at[read->part];
            f->found = f->with[depth];
            if (!touch_with(t, thread, read, word * 64 + lowest_bit(bits)))
                continue;
            f->own = f->found;
            any |= touch_reads(t, thread, it, depth + 1);
            f->own = own;
        }
    return any;
}

/* Leaves in the frame what is beside the section. False: it is not possible. */
static bool touch_all(mr_together *t, uint32_t thread, const whole *it)
{
    frame *f = &t->frame;
    uint64_t *const found = f->found;
    memset(f->all, 0, f->at[t->part_count] * sizeof *f->all);
    bool any = touch_reads(t, thread, it, 0);
    f->found = found;
    take_all_as_own(t);
    for (uint32_t k = it->first_touch; any && k < it->end_touch; k++)
        if (k >= it->first_touch + MR_TOGETHER_READS ||
            !mr_op_reads(mr_window_op(t->window, t->touches[k].access)))
            any = touch_variable(t, thread, &t->touches[k]);
    return any;
}

/* Adds the pairs of the states after the section. */
static bool add_after(mr_together *t, uint32_t thread, const whole *it)
{
    const frame *f = &t->frame;
    for (uint32_t k = it->first_touch; k < it->end_touch; k++) {
        uint32_t v = t->touches[k].part;
        if (t->touches[k].write != MR_NONE)
            memset(f->own + f->at[v], 0, (f->at[v + 1] - f->at[v]) * sizeof *f->own);
    }
    if (!add_all(t, thread, it->end, f->own))
        return false;
    for (uint32_t k = it->first_touch; k < it->end_touch; k++) {
        const touch *own = &t->touches[k];
        if (own->write == MR_NONE)
            continue;
        if (!add_one(t, thread, it->end, own->part, own->write) ||
            !add_all(t, own->part, own->write, f->own))
            return false;
        for (uint32_t i = it->first_touch; i < k; i++)
            if (t->touches[i].write != MR_NONE &&
                !add_one(t, own->part, own->write, t->touches[i].part, t->touches[i].write))
                return false;
    }
    return true;
}

/* May an access of another thread that conflicts with this one and does not hold the lock come while its thread stands at the state? */
static bool is_disturbed(const mr_together *t, uint32_t thread, uint32_t state, uint32_t access)
{
    const mr_window *w = t->window;
    const row *rows = mr_together_rows_of(t, thread, state);
    const uint32_t v = w->object[access];
    const bool writes = mr_op_writes(mr_window_op(w, access));
    for (uint32_t i = t->atomic.first[v]; i < t->atomic.first[v + 1]; i++) {
        uint32_t other = t->atomic.outsiders[i], j = w->thread[other];
        if (j != thread && rows && (writes || mr_op_writes(mr_window_op(w, other))) &&
            mr_state_set_has(&t->pool, &rows[j], t->state_of[other]))
            return true;
    }
    return false;
}

/* Where a part of an atomic section has to end, so that it has one disturbed access at most, and none but its last writes. */
static uint32_t find_end(const mr_together *t, uint32_t thread, uint32_t state, uint32_t end)
{
    const step *steps = &t->steps[t->parts[thread].first_state];
    uint32_t disturbed = MR_NONE;
    for (uint32_t k = state; k < end; k++) {
        if (steps[k].part == MR_NONE || !is_disturbed(t, thread, state, steps[k].event))
            continue;
        if (disturbed != MR_NONE)
            return disturbed + 1;
        if (steps[k].write != MR_NONE)
            return k + 1;
        disturbed = k;
    }
    return end;
}

/* Divides a part of an atomic section when accesses that may come in between make it necessary. */
static void divide(mr_together *t, uint32_t thread, uint32_t state, step *s)
{
    uint32_t end = t->wholes[s - t->steps].end, cut = find_end(t, thread, state, end);
    if (cut == end)
        return;
    s->is_whole = false;
    if (cut > state + 1)
        mr_together_make_whole(t, thread, state, cut);
    if (end > cut + 1)
        mr_together_make_whole(t, thread, cut, end);
}

/* Leaves in the frame what may be beside the state after the steps. False: they are not possible. */
static bool run_whole(mr_together *t, uint32_t thread, uint32_t state, step *s, const whole *it)
{
    return make_frame(t, thread, state, s, MR_NONE, it->last, it->looks_back) &&
           touch_all(t, thread, it);
}

/* Takes the steps from wherever they are possible. False: gave up, or no memory. */
static bool take_whole(mr_together *t, uint32_t thread, uint32_t state, step *s, const whole *it)
{
    return !run_whole(t, thread, state, s, it) || add_after(t, thread, it);
}

/* Takes the step from wherever it is possible. False: gave up, or no memory. */
static bool take(mr_together *t, uint32_t thread, uint32_t state, step *s)
{
    const mr_window *w = t->window;
    const frame *f = &t->frame;
    bool taken = false;
    s->due = false;
    if (s->is_whole)
        divide(t, thread, state, s);
    if (s->is_whole)
        return take_whole(t, thread, state, s, &t->wholes[s - t->steps]);
    if (!make_frame(t, thread, state, s, s->part, s->event, s->looks_back))
        return true;
    if (s->part == MR_NONE)
        return add_all(t, thread, state + 1, f->own);
    uint32_t event = mr_window_at(w, thread, s->main);
    bool reads = mr_op_reads(mr_window_op(w, event));
    const row seen = mr_together_rows_of(t, thread, state)[s->part];
    memset(f->all, 0, f->at[t->part_count] * sizeof *f->all);
    for (uint32_t k = 0; k < seen.count; k++)
        for (uint64_t bits = words_of(t, &seen)[k]; bits; bits &= bits - 1) {
            uint32_t write = (seen.first + k) * 64 + lowest_bit(bits);
            if ((reads && !may_see(t, event, write)) ||
                !take_with(t, thread, s->part, write, &s->killer))
                continue;
            taken = true;
            join(t, f->found);
            if (!add_one(t, thread, state + 1, s->part, s->write == MR_NONE ? write : s->write))
                return false;
        }
    return !taken || (add_all(t, thread, state + 1, f->all) &&
                      (s->write == MR_NONE || add_all(t, s->part, s->write, f->all)));
}

/* ---- until nothing is new ---- */

static bool touches(const mr_together *t, const step *s, uint32_t v)
{
    if (!s->is_whole)
        return s->part == v;
    const whole *it = &t->wholes[s - t->steps];
    for (uint32_t k = it->first_touch; k < it->end_touch; k++)
        if (t->touches[k].part == v)
            return true;
    return false;
}

/* Steps that access a variable beside a state of it that has new pairs are due. */
static void wake(mr_together *t, uint32_t v, uint32_t state)
{
    for (uint32_t thread = 0; thread < t->thread_count; thread++) {
        const row *r = &mr_together_rows_of(t, v, state)[thread];
        for (uint32_t k = 0; k < r->count; k++)
            for (uint64_t bits = words_of(t, r)[k]; bits; bits &= bits - 1) {
                uint32_t other = (r->first + k) * 64 + lowest_bit(bits);
                step *s = &t->steps[t->parts[thread].first_state + other];
                if (!s->due && touches(t, s, v))
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
    t->gave_up |=
        t->effort > t->max_effort || t->pairs > t->first_pairs + t->reached * PAIRS_OF_ROW;
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

/* ---- inside sections ---- */

/* Adds the pairs of a state inside a part of a section with the threads that may disturb its access. False: gave up, or no memory. */
static bool add_inside(mr_together *t, uint32_t thread, uint32_t state, uint32_t inside)
{
    const frame *f = &t->frame;
    step *s = &t->steps[t->parts[thread].first_state + state];
    mr_together_make_whole(t, thread, state, inside);
    if (!run_whole(t, thread, state, s, &t->wholes[s - t->steps]))
        return true;
    for (uint32_t j = 0; j < t->thread_count; j++)
        if (f->at[j + 1] > f->at[j] &&
            !add(t, thread, inside, j, f->first[j], f->at[j + 1] - f->at[j], f->own + f->at[j]))
            return false;
    return true;
}

/* The same for each access that is disturbed, and does not begin its part of a section. */
static bool add_all_inside(mr_together *t)
{
    for (uint32_t thread = 0; thread < t->thread_count; thread++)
        for (uint32_t state = 0; state + 1 < t->parts[thread].state_count; state++) {
            const uint32_t number = t->parts[thread].first_state + state;
            const uint32_t end = t->steps[number].is_whole ? t->wholes[number].end : state;
            for (uint32_t k = state + 1; k < end; k++)
                if (t->steps[number - state + k].part != MR_NONE &&
                    is_disturbed(t, thread, state, t->steps[number - state + k].event) &&
                    !add_inside(t, thread, state, k))
                    return false;
        }
    return true;
}

/* ---- the search ---- */

static bool begin(mr_together *t)
{
    for (uint32_t i = 0; i < t->part_count; i++)
        for (uint32_t j = i + 1; j < t->part_count; j++)
            if (!add_one(t, i, 0, j, 0))
                return false;
    return true;
}

bool mr_together_has_few_parts(const mr_window *w)
{
    uint32_t parts = w->thread_count;
    for (uint32_t v = 0; v < w->variable_count; v++)
        parts += w->variables[v].shared;
    return parts <= FEW_PARTS;
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
    t->first_pairs = mr_together_has_few_parts(window) ? 2 * FIRST_PAIRS : FIRST_PAIRS;
    bool done = mr_together_start(t) && begin(t) && take_all(t) && add_all_inside(t);
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

bool mr_together_is_full(const mr_together *t)
{
    return t->pool.full;
}

void mr_together_move(mr_together *t, const mr_window *window)
{
    MR_REQUIRE(t->window->size == window->size && t->window->thread_count == window->thread_count);
    t->window = window;
    t->hard = t->forced = NULL;
}

bool mr_together_may_be(const mr_together *t, uint32_t a, const uint32_t *events, uint32_t count)
{
    const mr_window *w = t->window;
    uint32_t other = w->thread[events[0]];
    const row *rows = mr_together_rows_of(t, w->thread[a], t->state_of[a]);
    if (!rows)
        return false;
    const row *r = &rows[other];
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
    uint32_t state = mr_together_state_after(t, thread, t->window->position[event] + 1);
    const row *rows = mr_together_rows_of(t, thread, state);
    for (uint32_t j = 0; rows && j < t->thread_count; j++) {
        const row *r = &rows[j];
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
