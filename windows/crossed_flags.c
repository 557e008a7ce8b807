#include "crossed_flags.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FLAGS = 64 };

typedef struct flag {
    uint32_t variable;
    uint32_t lock;   /* of the spin locks; MR_NONE: one thread alone writes it */
    uint32_t writer; /* that thread */
    uint32_t free_value;
    uint32_t looks; /* how often others saw the free value, less how often another one */
    /* While the window is gone through. */
    uint32_t up;      /* the thread that is up; MR_NONE: none */
    uint64_t seen;    /* flags that it has read as free since it came up; a bit each */
    uint64_t crossed; /* of all threads so far */
} flag;

typedef struct finder {
    const mr_window *window;
    const mr_value_locks *found;
    flag *flags;
    uint32_t flag_count;
    uint32_t *flag_of; /* one a variable; MR_NONE: it is none */
    uint32_t *lock_of; /* MOST_FLAGS a flag: the lock of the pair; MR_NONE: none */
    uint8_t *held;     /* one a lock: from how many of its two flags its holder crosses */
    mr_crossed_flags *crossed;
} finder;

/* ---- which variables are flags ---- */

/* Does one thread alone write the variable? */
static bool has_one_writer(const mr_window *w, const mr_window_variable *x)
{
    if (!x->shared || x->by_source || x->writes_first == x->writes_end)
        return false;
    for (uint32_t k = x->writes_first + 1; k < x->writes_end; k++)
        if (w->thread[w->writes[k]] != w->thread[w->writes[x->writes_first]])
            return false;
    return true;
}

/* Are all writes of the variable atomic? */
static bool is_atomic(const mr_window *w, const mr_window_variable *x)
{
    for (uint32_t k = x->writes_first; k < x->writes_end; k++)
        if (!mr_op_is_atomic(mr_window_op(w, w->writes[k])))
            return false;
    return true;
}

static void list_flags(finder *f)
{
    const mr_window *w = f->window;
    for (uint32_t v = 0; v < w->variable_count; v++)
        if (has_one_writer(w, &w->variables[v]) && is_atomic(w, &w->variables[v]))
            f->flags[f->flag_count++] =
                (flag){.variable = v,
                       .lock = MR_NONE,
                       .writer = w->thread[w->writes[w->variables[v].writes_first]]};
    for (uint32_t lock = 0; lock < f->found->count; lock++)
        if (f->found->kinds[lock].variable != MR_NONE && !f->found->kinds[lock].counts &&
            is_atomic(w, &w->variables[f->found->kinds[lock].variable]))
            f->flags[f->flag_count++] = (flag){.variable = f->found->kinds[lock].variable,
                                               .lock = lock,
                                               .writer = MR_NONE,
                                               .free_value = f->found->kinds[lock].free_value,
                                               .looks = UINT32_MAX};
}

/* Is the next event of the thread another access of the same variable? */
static bool looks_again(const mr_window *w, uint32_t event)
{
    uint32_t thread = w->thread[event], next = w->position[event] + 1;
    if (next == mr_window_length(w, thread))
        return false;
    uint32_t other = mr_window_at(w, thread, next);
    return mr_op_is_access(mr_window_op(w, other)) && w->object[other] == w->object[event];
}

/* The flag that the event accesses; NULL: none. */
static flag *flag_at(const finder *f, uint32_t event)
{
    const mr_window *w = f->window;
    if (!mr_op_is_access(mr_window_op(w, event)))
        return NULL;
    uint32_t number = f->flag_of[w->object[event]];
    return number == MR_NONE ? NULL : &f->flags[number];
}

/* The free values of the flags with one writer: each look counts for one value and against the others. */
static void choose_free_values(const finder *f)
{
    const mr_window *w = f->window;
    for (uint32_t e = 0; e < w->size; e++) {
        flag *x = flag_at(f, e);
        if (!x || x->lock != MR_NONE || x->writer == w->thread[e] ||
            !mr_op_reads(mr_window_op(w, e)) || looks_again(w, e))
            continue;
        uint32_t value = mr_window_read_value(w, e);
        if (!x->looks)
            x->free_value = value;
        x->looks += x->free_value == value ? 1 : UINT32_MAX;
    }
}

static int most_looks_first(const void *one, const void *two)
{
    const flag *x = one, *y = two;
    if (x->looks != y->looks)
        return x->looks > y->looks ? -1 : 1;
    return (x->variable > y->variable) - (x->variable < y->variable);
}

static void number_flags(const finder *f)
{
    memset(f->flag_of, 0xff, f->window->variable_count * sizeof *f->flag_of);
    for (uint32_t i = 0; i < f->flag_count; i++)
        f->flag_of[f->flags[i].variable] = i;
}

/* False: no memory. */
static bool find_flags(finder *f, mr_arena *arena)
{
    const mr_window *w = f->window;
    f->flags = mr_arena_alloc(arena, w->variable_count, sizeof *f->flags);
    f->flag_of = mr_arena_alloc(arena, w->variable_count, sizeof *f->flag_of);
    if (!f->flags || !f->flag_of)
        return false;
    list_flags(f);
    if (f->flag_count < 2)
        return true;
    number_flags(f);
    choose_free_values(f);
    qsort(f->flags, f->flag_count, sizeof *f->flags, most_looks_first);
    if (f->flag_count > MOST_FLAGS)
        f->flag_count = MOST_FLAGS;
    while (f->flag_count && !f->flags[f->flag_count - 1].looks)
        f->flag_count--;
    number_flags(f);
    return true;
}

/* ---- who crosses ---- */

/* The thread of the event crosses from the flag to the other one from now on, or no more. */
static void change(finder *f, uint32_t event, uint32_t from, uint32_t to, bool holds)
{
    mr_crossed_flags *crossed = f->crossed;
    uint32_t lock = f->lock_of ? f->lock_of[from * MOST_FLAGS + to] : MR_NONE;
    if (lock == MR_NONE)
        return;
    /* Whoever else may hold it is the same thread, from the other flag: the trace is a reordering, too. */
    MR_ASSERT(holds ? f->held[lock] < 2 : f->held[lock] > 0);
    bool changes = f->held[lock] == (holds ? 0 : 1);
    f->held[lock] += holds ? 1 : UINT8_MAX;
    if (changes && crossed->changes)
        crossed->changes[crossed->change_count] =
            (mr_crossed_change){.event = event, .lock = lock, .holds = holds};
    crossed->change_count += changes;
}

/* The thread of the event has read flag `to` as free. */
static void see(finder *f, uint32_t event, uint32_t to)
{
    const uint64_t bit = (uint64_t)1 << to;
    for (uint32_t from = 0; from < f->flag_count; from++) {
        flag *x = &f->flags[from];
        if (from == to || x->up != f->window->thread[event] || x->seen & bit)
            continue;
        x->seen |= bit;
        x->crossed |= bit;
        change(f, event, from, to, true);
    }
}

static void go_down(finder *f, uint32_t event, flag *x)
{
    for (uint32_t to = 0; to < f->flag_count; to++)
        if (x->seen >> to & 1)
            change(f, event, (uint32_t)(x - f->flags), to, false);
    x->up = MR_NONE;
    x->seen = 0;
}

/* Does the write bring its thread up, or down? */
static void write_flag(finder *f, uint32_t event, flag *x)
{
    const mr_window *w = f->window;
    const uint32_t *changes = f->found->changes;
    bool comes = false, goes = false;
    if (x->lock == MR_NONE) {
        goes = mr_window_written_value(w, event) == x->free_value;
        comes = !goes;
    } else if (changes[event] != MR_NONE) {
        goes = changes[event] % MR_VALUE_CHANGES == MR_VALUE_RELEASE;
        comes = !goes;
    }
    if (goes && x->up != MR_NONE)
        go_down(f, event, x);
    else if (comes && x->up == MR_NONE)
        x->up = w->thread[event];
}

/* Who is up at the start of the window. */
static uint32_t up_at_start(const finder *f, const flag *x)
{
    uint32_t carried = f->window->variables[x->variable].carried_value;
    if (x->lock != MR_NONE)
        return f->found->holder[x->lock];
    return carried != x->free_value ? x->writer : MR_NONE; /* 0, not known, is no value */
}

static void go_through(finder *f)
{
    const mr_window *w = f->window;
    f->crossed->change_count = 0;
    for (uint32_t i = 0; i < f->flag_count; i++) {
        f->flags[i].up = up_at_start(f, &f->flags[i]);
        f->flags[i].seen = 0;
    }
    if (f->held)
        memset(f->held, 0, f->crossed->count * sizeof *f->held);
    for (uint32_t e = 0; e < w->size; e++) {
        flag *x = flag_at(f, e);
        if (!x)
            continue;
        uint8_t op = mr_window_op(w, e);
        if (mr_op_reads(op) && mr_window_read_value(w, e) == x->free_value)
            see(f, e, (uint32_t)(x - f->flags));
        if (mr_op_writes(op))
            write_flag(f, e, x);
    }
}

/* The pairs of flags from each of which some thread crosses to the other. False: no memory. */
static bool number_locks(finder *f, mr_arena *arena)
{
    uint32_t count = 0;
    f->lock_of = mr_arena_alloc(arena, (size_t)MOST_FLAGS * MOST_FLAGS, sizeof *f->lock_of);
    if (!f->lock_of)
        return false;
    memset(f->lock_of, 0xff, (size_t)MOST_FLAGS * MOST_FLAGS * sizeof *f->lock_of);
    for (uint32_t i = 0; i < f->flag_count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (f->flags[i].crossed >> k & f->flags[k].crossed >> i & 1)
                f->lock_of[i * MOST_FLAGS + k] = f->lock_of[k * MOST_FLAGS + i] = count++;
    f->crossed->count = count;
    f->held = mr_arena_alloc(arena, count, sizeof *f->held);
    return f->held;
}

bool mr_crossed_flags_find(const mr_window *w, const mr_value_locks *found,
                           mr_crossed_flags *crossed, mr_arena *arena)
{
    finder f = {.window = w, .found = found, .crossed = crossed};
    *crossed = (mr_crossed_flags){0};
    if (w->model != MR_MODEL_VALUE)
        return true;
    if (!find_flags(&f, arena))
        return false;
    if (f.flag_count < 2)
        return true;
    go_through(&f); /* who crosses */
    if (!number_locks(&f, arena))
        return false;
    if (!crossed->count)
        return true;
    go_through(&f); /* how many changes there are */
    crossed->changes = mr_arena_alloc(arena, crossed->change_count, sizeof *crossed->changes);
    if (!crossed->changes)
        return false;
    go_through(&f);
    return true;
}
