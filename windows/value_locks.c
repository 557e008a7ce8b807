#include "value_locks.h"

#include <string.h>

typedef struct finder {
    const mr_window *window;
    uint32_t *writer; /* one a thread: variable + 1 of its last write that was looked at */
    bool *inside;     /* … which acquired */
} finder;

static bool acquires(const mr_window *w, uint32_t event, uint32_t free_value)
{
    uint32_t written = mr_window_written_value(w, event);
    return mr_window_op(w, event) == MR_OP_ATOMIC_UPDATE && written && written != free_value &&
           mr_window_read_value(w, event) == free_value;
}

/* What the first update that changes the variable reads; 0: there is none. */
static uint32_t free_value_of(const mr_window *w, const mr_window_variable *x)
{
    for (uint32_t k = x->writes_first; k < x->writes_end; k++) {
        uint32_t e = w->writes[k];
        if (mr_window_op(w, e) == MR_OP_ATOMIC_UPDATE &&
            mr_window_read_value(w, e) != mr_window_written_value(w, e))
            return mr_window_read_value(w, e);
    }
    return 0;
}

/* Is the variable a lock? Then *holder is set. */
static bool is_lock(finder *f, uint32_t variable, uint32_t *holder)
{
    const mr_window *w = f->window;
    const mr_window_variable *x = &w->variables[variable];
    uint32_t free_value = x->shared && !x->by_source ? free_value_of(w, x) : 0;
    *holder = MR_NONE;
    for (uint32_t k = x->writes_first; free_value && k < x->writes_end; k++) {
        uint32_t e = w->writes[k], t = w->thread[e];
        bool first = f->writer[t] != variable + 1, acquire = acquires(w, e, free_value);
        if (!acquire && mr_window_written_value(w, e) != free_value)
            return false;
        if (first && !acquire) {
            if (*holder != MR_NONE || x->carried_value == free_value)
                return false;
            *holder = t;
        } else if (!first && f->inside[t] == acquire) {
            return false;
        }
        f->writer[t] = variable + 1;
        f->inside[t] = acquire;
    }
    return free_value != 0;
}

static bool add(const mr_window *w, uint32_t variable, uint32_t holder, mr_value_locks *found,
                mr_arena *arena)
{
    if (!found->changes) {
        found->changes = mr_arena_alloc(arena, w->size, sizeof *found->changes);
        found->holder = mr_arena_alloc(arena, w->variable_count, sizeof *found->holder);
        if (!found->changes || !found->holder)
            return false;
        memset(found->changes, 0xff, w->size * sizeof *found->changes);
    }
    const mr_window_variable *x = &w->variables[variable];
    uint32_t lock = found->count++, free_value = free_value_of(w, x);
    found->holder[lock] = holder;
    found->sections += holder != MR_NONE;
    for (uint32_t k = x->writes_first; k < x->writes_end; k++) {
        bool acquire = acquires(w, w->writes[k], free_value);
        found->changes[w->writes[k]] = 2 * lock + acquire;
        found->sections += acquire;
    }
    return true;
}

bool mr_value_locks_find(const mr_window *w, mr_value_locks *found, mr_arena *arena)
{
    *found = (mr_value_locks){0};
    if (w->model != MR_MODEL_VALUE)
        return true;
    finder f = {.window = w,
                .writer = mr_arena_zalloc(arena, w->thread_count, sizeof *f.writer),
                .inside = mr_arena_zalloc(arena, w->thread_count, sizeof *f.inside)};
    if (!f.writer || !f.inside)
        return false;
    for (uint32_t v = 0; v < w->variable_count; v++) {
        uint32_t holder;
        if (is_lock(&f, v, &holder) && !add(w, v, holder, found, arena))
            return false;
    }
    return true;
}
