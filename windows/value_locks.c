#include "value_locks.h"

#include "guarded_writes.h"

#include <string.h>

enum { COUNTS = 1 << 20, GUARDED_MOST = 8 };

/* A thread and the variable that is looked at. */
typedef struct user {
    uint32_t look; /* in another one the rest says nothing */
    bool inside;
    bool
        changed; /* it has acquired or released the spin lock, so it is no longer one that may be the holder */
    int64_t units;
    int64_t wrote; /* last, when it is inside */
} user;

typedef struct finder {
    const mr_window *window;
    user *users;        /* one a thread */
    uint32_t *changes;  /* one an entry of window->writes: mr_value_change, or MR_NONE */
    uint32_t *replaced; /* guarded_writes.h */
    uint32_t look;      /* how often a variable was looked at */
    uint32_t holder, sections;
    uint32_t enters; /* a thread that has been inside, or has had units */
    bool several;    /* and another one: it is no lock otherwise, since it keeps nobody apart */
    /* Of a counting lock. */
    uint32_t first;              /* writes before that entry are the initial ones */
    int64_t initial, idle, left; /* left: units that are there at the start */
    bool has_idle, excludes;
    bool counts;         /* the last look was at whether it is a counting lock */
    uint32_t free_value; /* of a spin lock */
} finder;

static void begin(finder *f)
{
    f->look++;
    f->holder = f->enters = MR_NONE;
    f->sections = 0;
    f->several = false;
    f->excludes = false;
}

static user *user_of(finder *f, uint32_t thread, bool *first)
{
    user *u = &f->users[thread];
    *first = u->look != f->look;
    if (*first)
        *u = (user){.look = f->look};
    return u;
}

static void note_inside(finder *f, uint32_t thread)
{
    f->several = f->several || (f->enters != MR_NONE && f->enters != thread);
    f->enters = thread;
}

static void change(finder *f, uint32_t k, mr_value_change how)
{
    f->changes[k] = how;
    if (how == MR_VALUE_RELEASE)
        return;
    f->sections++;
    note_inside(f, f->window->thread[f->window->writes[k]]);
}

static void hold_from_start(finder *f, uint32_t thread)
{
    f->holder = thread;
    note_inside(f, thread);
}

/* Is the write an update, or as one (guarded_writes.h)? Then with the value that it reads or replaces; 0: not known. */
static bool is_update(const finder *f, uint32_t event, uint32_t *read)
{
    bool updates = mr_window_op(f->window, event) == MR_OP_ATOMIC_UPDATE;
    *read = updates ? mr_window_read_value(f->window, event) : 0;
    if (!updates && f->replaced)
        *read = f->replaced[event];
    return updates || *read;
}

/* A thread that is not inside writes something else than the free value. Does it fit? */
static bool write_taken(finder *f, user *u, uint32_t k, uint32_t free_value, bool marks)
{
    const mr_window *w = f->window;
    uint32_t read, e = w->writes[k];
    if (!is_update(f, e, &read) || !read || (read != free_value && !marks))
        return false;
    if (read == free_value) {
        u->inside = u->changed = true;
        change(f, k, MR_VALUE_ACQUIRE);
    }
    return true;
}

/* The same of the free value. */
static bool write_free(finder *f, user *u, uint32_t k, const mr_window_variable *x,
                       uint32_t free_value, bool marks)
{
    const mr_window *w = f->window;
    uint32_t read, e = w->writes[k];
    if (is_update(f, e, &read) && read == free_value && marks)
        return true;
    if (u->changed || f->holder != MR_NONE || x->carried_value == free_value)
        return false;
    hold_from_start(f, w->thread[e]);
    u->changed = true;
    change(f, k, MR_VALUE_RELEASE);
    return true;
}

/* Is it a spin lock with this free value? `marks`: marks, and updates that leave it free, are allowed. */
static bool is_spin_lock(finder *f, const mr_window_variable *x, uint32_t free_value, bool marks)
{
    const mr_window *w = f->window;
    begin(f);
    f->counts = false;
    f->free_value = free_value;
    for (uint32_t k = x->writes_first; k < x->writes_end; k++) {
        uint32_t read, e = w->writes[k], written = mr_window_written_value(w, e);
        bool first, fits;
        user *u = user_of(f, w->thread[e], &first);
        f->changes[k] = MR_NONE;
        if (u->inside && written == free_value) {
            u->inside = false;
            change(f, k, MR_VALUE_RELEASE);
            continue;
        }
        if (u->inside)
            fits = marks && written && !(is_update(f, e, &read) && read == free_value);
        else if (written == free_value)
            fits = write_free(f, u, k, x, free_value, marks);
        else
            fits = written && write_taken(f, u, k, free_value, marks);
        if (!fits)
            return false;
    }
    return f->several;
}

/* The values that updates which change the variable read, without doubles, at most `most`. */
static uint32_t list_free_values(const finder *f, const mr_window_variable *x, uint32_t *values,
                                 uint32_t most)
{
    const mr_window *w = f->window;
    uint32_t count = 0, read;
    for (uint32_t k = x->writes_first; k < x->writes_end && count < most; k++) {
        uint32_t i = 0;
        if (!is_update(f, w->writes[k], &read) || !read ||
            read == mr_window_written_value(w, w->writes[k]))
            continue;
        while (i < count && values[i] != read)
            i++;
        if (i == count)
            values[count++] = read;
    }
    return count;
}

/* Without marks: what the first update that changes the variable reads is the free value. */
static bool is_plain_spin_lock(finder *f, const mr_window_variable *x)
{
    uint32_t free_value;
    return list_free_values(f, x, &free_value, 1) && is_spin_lock(f, x, free_value, false);
}

/* With the free value that makes most sections. */
static bool is_marked_spin_lock(finder *f, const mr_window_variable *x)
{
    enum { TRIES = 4 };
    uint32_t values[TRIES], best = 0, sections = 0;
    uint32_t count = list_free_values(f, x, values, TRIES);
    for (uint32_t i = 0; i < count; i++)
        if (is_spin_lock(f, x, values[i], true) && f->sections >= sections) {
            best = values[i];
            sections = f->sections + 1;
        }
    return best && is_spin_lock(f, x, best, true);
}

bool mr_value_is_count(int64_t value)
{
    return value >= 0 && value < COUNTS;
}

static bool is_busy(const finder *f, int64_t value)
{
    return !mr_value_is_count(value) && !(f->has_idle && value == f->idle);
}

/* A thread that is inside writes. */
static void write_inside(finder *f, user *u, uint32_t k, int64_t to)
{
    u->wrote = to;
    if (is_busy(f, to))
        return;
    u->inside = false;
    u->units = mr_value_is_count(to) ? to : 0;
    change(f, k, u->units ? MR_VALUE_DOWNGRADE : MR_VALUE_RELEASE);
}

/* A thread that is not inside has more units now, or less. */
static void set_units(finder *f, user *u, uint32_t k, int64_t units)
{
    if (!u->units != !units)
        change(f, k, units ? MR_VALUE_ACQUIRE_SHARED : MR_VALUE_RELEASE);
    u->units = units;
}

/* An update by a thread that is not inside. Does it fit? */
static bool update_outside(finder *f, user *u, uint32_t k, int64_t from, int64_t to)
{
    if (is_busy(f, from))
        return false;
    if (from == to)
        return true;
    if (mr_value_is_count(from) && mr_value_is_count(to) && to == from + 1) {
        set_units(f, u, k, u->units + 1);
        return true;
    }
    if (mr_value_is_count(from) && mr_value_is_count(to) && to == from - 1) {
        if (u->units)
            set_units(f, u, k, u->units - 1);
        else if (f->left-- <= 0)
            return false;
        return true;
    }
    if (u->units != (mr_value_is_count(from) ? from : 0)) /* others may have units */
        return false;
    if (!is_busy(f, to)) {
        set_units(f, u, k, mr_value_is_count(to) ? to : 0);
        return true;
    }
    change(f, k, u->units ? MR_VALUE_UPGRADE : MR_VALUE_ACQUIRE);
    u->inside = f->excludes = true;
    u->units = 0;
    u->wrote = to;
    return true;
}

/* Does it count as a counting lock does? `f->excludes`: somebody is inside of it at times. */
static bool fits_counting_lock(finder *f, const mr_window_variable *x)
{
    const mr_window *w = f->window;
    const int64_t *values = w->trace->values;
    begin(f);
    f->counts = true;
    f->left = mr_value_is_count(f->initial) ? f->initial : 0;
    for (uint32_t k = f->first; k < x->writes_end; k++) {
        uint32_t e = w->writes[k], written = mr_window_written_value(w, e);
        uint32_t read;
        bool updates = is_update(f, e, &read), first;
        user *u = user_of(f, w->thread[e], &first);
        f->changes[k] = MR_NONE;
        if (!written || (updates && !read))
            return false;
        if (first && updates && f->holder == MR_NONE && is_busy(f, f->initial) &&
            values[read] == f->initial) {
            hold_from_start(f, w->thread[e]);
            u->inside = f->excludes = true;
            u->wrote = f->initial;
        }
        if (u->inside && (!updates || values[read] == u->wrote))
            write_inside(f, u, k, values[written]);
        else if (u->inside || !updates || !update_outside(f, u, k, values[read], values[written]))
            return false;
    }
    return f->several;
}

static bool is_counting_lock(finder *f, const mr_window_variable *x)
{
    return fits_counting_lock(f, x) && f->excludes;
}

/* The value at the start: what is carried in, or what one thread writes before it forks the others that
 * write. */
static bool find_initial(finder *f, const mr_window_variable *x)
{
    const mr_window *w = f->window;
    uint32_t k = x->writes_first, value = x->carried_value, last = w->writes[k], read;
    for (; k < x->writes_end && !is_update(f, w->writes[k], &read) &&
           w->thread[w->writes[k]] == w->thread[last];
         k++) {
        last = w->writes[k];
        value = mr_window_written_value(w, last);
    }
    f->first = k;
    f->initial = w->trace->values[value];
    for (uint32_t i = x->writes_first; i < k; i++)
        f->changes[i] = MR_NONE;
    for (uint32_t i = k; i < x->writes_end && k > x->writes_first; i++)
        if (w->thread[w->writes[i]] != w->thread[last] &&
            !mr_window_begins_after(w, w->thread[w->writes[i]], last))
            return false;
    return value != 0 && k < x->writes_end;
}

/* With one idle value of those that updates read, or with none. */
static bool is_counting_lock_somehow(finder *f, const mr_window_variable *x)
{
    enum { TRIES = 4 };
    const mr_window *w = f->window;
    int64_t tried[TRIES];
    uint32_t count = 0;
    f->has_idle = false;
    if (!find_initial(f, x))
        return false;
    if (is_counting_lock(f, x))
        return true;
    f->has_idle = true;
    for (uint32_t k = f->first; k < x->writes_end && count < TRIES; k++) {
        uint32_t i = 0, read;
        if (!is_update(f, w->writes[k], &read))
            continue;
        f->idle = w->trace->values[read];
        while (i < count && tried[i] != f->idle)
            i++;
        if (mr_value_is_count(f->idle) || i < count)
            continue;
        tried[count++] = f->idle;
        if (is_counting_lock(f, x))
            return true;
    }
    return false;
}

bool mr_value_locks_add(const mr_window *w, mr_value_locks *found, const mr_value_lock_kind *kind,
                        uint32_t holder, uint32_t sections, uint32_t *lock, mr_arena *arena)
{
    if (!found->changes) {
        size_t most = (size_t)w->variable_count + w->lock_count;
        found->changes = mr_arena_alloc(arena, w->size, sizeof *found->changes);
        found->holder = mr_arena_alloc(arena, most, sizeof *found->holder);
        found->kinds = mr_arena_alloc(arena, most, sizeof *found->kinds);
        if (!found->changes || !found->holder || !found->kinds)
            return false;
        memset(found->changes, 0xff, w->size * sizeof *found->changes);
    }
    *lock = found->count++;
    found->holder[*lock] = holder;
    found->kinds[*lock] = *kind;
    found->sections += sections + (holder != MR_NONE);
    return true;
}

/* Is it a lock by writes that a mutex guards? */
static bool is_guarded(const finder *f, const mr_window_variable *x)
{
    for (uint32_t k = x->writes_first; f->replaced && k < x->writes_end; k++)
        if (f->replaced[f->window->writes[k]])
            return true;
    return false;
}

/* Data that a mutex guards may fit by chance. A flag is set and reset again and again. */
static bool is_used_as_lock(const finder *f, const mr_window_variable *x)
{
    uint32_t releases = 0, changes = 0;
    for (uint32_t k = x->writes_first; k < x->writes_end; k++) {
        releases += f->changes[k] == MR_VALUE_RELEASE;
        changes += f->changes[k] != MR_NONE;
    }
    return releases >= 2 && 2 * changes >= x->writes_end - x->writes_first;
}

static bool add(const finder *f, const mr_window_variable *x, mr_value_locks *found,
                mr_arena *arena)
{
    const mr_window *w = f->window;
    uint32_t lock;
    const mr_value_lock_kind kind = {.variable = (uint32_t)(x - w->variables),
                                     .keeps_apart = !f->counts || f->excludes,
                                     .counts = f->counts,
                                     .begins_late = f->counts && f->first > x->writes_first,
                                     .has_idle = f->has_idle,
                                     .idle = f->idle,
                                     .free_value = f->free_value};
    if (!mr_value_locks_add(w, found, &kind, f->holder, f->sections, &lock, arena))
        return false;
    for (uint32_t k = x->writes_first; k < x->writes_end; k++)
        if (f->changes[k] != MR_NONE)
            found->changes[w->writes[k]] = MR_VALUE_CHANGES * lock + f->changes[k];
    return true;
}

static bool is_lock(finder *f, const mr_window_variable *x)
{
    return x->shared && !x->by_source && x->writes_first < x->writes_end &&
           (is_plain_spin_lock(f, x) || is_counting_lock_somehow(f, x) ||
            is_marked_spin_lock(f, x));
}

/* Does it only count, up and down again, by updates? */
static bool is_count_alone(finder *f, const mr_window_variable *x)
{
    if (!x->shared || x->by_source || x->writes_first == x->writes_end || is_guarded(f, x))
        return false;
    f->has_idle = false;
    return find_initial(f, x) && fits_counting_lock(f, x) && is_used_as_lock(f, x);
}

bool mr_value_locks_find(const mr_window *w, mr_value_locks *found, mr_arena *arena)
{
    *found = (mr_value_locks){0};
    if (w->model != MR_MODEL_VALUE)
        return true;
    finder f = {.window = w,
                .users = mr_arena_zalloc(arena, w->thread_count, sizeof *f.users),
                .changes = mr_arena_alloc(arena, w->size, sizeof *f.changes)};
    if (!f.users || !f.changes || !mr_guarded_writes_find(w, &f.replaced, arena))
        return false;
    /* Flags that a mutex guards come last, and only where they are few: many are data that fit by chance,
     * which keep nobody apart whom the mutex does not, and only make the lock sets long. */
    uint32_t guarded[GUARDED_MOST], guarded_count = 0;
    for (uint32_t v = 0; v < w->variable_count; v++) {
        const mr_window_variable *x = &w->variables[v];
        if (!is_lock(&f, x) && !is_count_alone(&f, x))
            continue;
        if (!is_guarded(&f, x)) {
            if (!add(&f, x, found, arena))
                return false;
        } else if (is_used_as_lock(&f, x)) {
            if (guarded_count < GUARDED_MOST)
                guarded[guarded_count] = v;
            guarded_count++;
        }
    }
    for (uint32_t i = 0; guarded_count <= GUARDED_MOST && i < guarded_count; i++) {
        const mr_window_variable *x = &w->variables[guarded[i]];
        if (is_lock(&f, x) && !add(&f, x, found, arena))
            return false;
    }
    return true;
}
