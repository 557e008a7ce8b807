#include "guarded_writes.h"

#include "held.h"

/* Locks that guard a variable are looked for among so many of its first write, and the access that a write
 * follows among so many events before it. */
enum { LOCKS = 4, LOOK_BACK = 64 };

typedef struct guards {
    uint32_t locks[LOCKS];
    uint32_t count;
} guards;

/* Is the thread in an exclusive section of the lock at the event? */
static bool holds(const mr_window *w, uint32_t event, uint32_t lock)
{
    const mr_held_entry *entries = w->held->entries;
    uint32_t length = w->position[event];
    for (uint32_t i = mr_held_at(w->held, w->thread[event], length); i != MR_NONE;
         i = entries[i].next) {
        const mr_section *section = &w->sections[entries[i].section];
        if (section->lock == lock && !section->shared && !mr_held_is_left(w, section, length))
            return true;
    }
    return false;
}

/* The locks that are held exclusively at the event. */
static guards held_at(const mr_window *w, uint32_t event)
{
    const mr_held_entry *entries = w->held->entries;
    uint32_t length = w->position[event];
    guards found = {.count = 0};
    for (uint32_t i = mr_held_at(w->held, w->thread[event], length);
         i != MR_NONE && found.count < LOCKS; i = entries[i].next) {
        const mr_section *section = &w->sections[entries[i].section];
        if (!section->shared && !mr_held_is_left(w, section, length))
            found.locks[found.count++] = section->lock;
    }
    return found;
}

/* The entry of window->writes after the initial ones: without a lock, by one thread, which then forks all
 * others that write the variable. */
static uint32_t initial_end(const mr_window *w, const mr_window_variable *x)
{
    uint32_t k = x->writes_first, first = w->thread[w->writes[k]];
    while (k < x->writes_end && w->thread[w->writes[k]] == first &&
           !mr_op_updates(mr_window_op(w, w->writes[k])) && !held_at(w, w->writes[k]).count)
        k++;
    for (uint32_t i = k; i < x->writes_end && k > x->writes_first; i++)
        if (w->thread[w->writes[i]] != first &&
            !mr_window_begins_after(w, w->thread[w->writes[i]], w->writes[k - 1]))
            return x->writes_first;
    return k;
}

/* A lock that guards the variable. MR_NONE: there is none. */
static uint32_t guard_of(const mr_window *w, const mr_window_variable *x, uint32_t initial)
{
    guards left = {.count = 0};
    if (initial < x->writes_end)
        left = held_at(w, w->writes[initial]);
    for (uint32_t k = initial + 1; k < x->writes_end && left.count; k++) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < left.count; i++)
            if (holds(w, w->writes[k], left.locks[i]))
                left.locks[kept++] = left.locks[i];
        left.count = kept;
    }
    return left.count ? left.locks[0] : MR_NONE;
}

/* The value of the last access of the variable before the write, in the same section of the lock. When that
 * section is carried in, and has none, the value is carried in, too. 0: not known. */
static uint32_t value_before(const mr_window *w, uint32_t write, uint32_t lock)
{
    uint32_t thread = w->thread[write], position = w->position[write];
    for (uint32_t steps = 0; position-- > 0; steps++) {
        if (steps == LOOK_BACK)
            return 0;
        uint32_t e = mr_window_at(w, thread, position);
        uint8_t op = mr_window_op(w, e);
        const mr_section *section = mr_window_section(w, e);
        if (section && section->lock == lock)
            return 0;
        if (mr_op_is_access(op) && w->object[e] == w->object[write])
            return mr_op_writes(op) ? mr_window_written_value(w, e) : mr_window_read_value(w, e);
    }
    return w->variables[w->object[write]].carried_value;
}

bool mr_guarded_writes_find(const mr_window *w, uint32_t **replaced, mr_arena *arena)
{
    *replaced = NULL;
    for (uint32_t v = 0; v < w->variable_count; v++) {
        const mr_window_variable *x = &w->variables[v];
        if (!x->shared || x->by_source || x->writes_first == x->writes_end)
            continue;
        uint32_t initial = initial_end(w, x), lock = guard_of(w, x, initial);
        for (uint32_t k = initial; lock != MR_NONE && k < x->writes_end; k++) {
            uint32_t e = w->writes[k];
            uint32_t value = mr_op_updates(mr_window_op(w, e)) ? 0 : value_before(w, e, lock);
            if (value && !*replaced &&
                !(*replaced = mr_arena_zalloc(arena, w->size, sizeof **replaced)))
                return false;
            if (value)
                (*replaced)[e] = value;
        }
    }
    return true;
}
