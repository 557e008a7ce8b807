#include "cone.h"

#include "base/assert.h"
#include "windows/hidden.h"
#include "windows/read_choices.h"
#include "windows/unit_choices.h"

#include <string.h>

static bool contains(const mr_window *w, const uint32_t *prefix, uint32_t event)
{
    return prefix[w->thread[event]] > w->position[event];
}

bool mr_cone_excludes(const mr_window *w, const mr_goal *goal, const uint32_t *prefix)
{
    for (uint32_t i = 0; i < goal->stop_count; i++) {
        uint32_t stop = goal->stops[i].events[0], end = mr_goal_end(w, goal, stop);
        if (contains(w, prefix, stop) || (end != MR_NONE && contains(w, prefix, end)))
            return false;
    }
    for (uint32_t i = 0; i < goal->barred_count; i++)
        if (contains(w, prefix, goal->barred[i]))
            return false;
    return true;
}

bool mr_cone_required(const mr_precedence *precedence, const mr_goal *goal, uint32_t *required)
{
    const mr_window *w = precedence->window;
    memset(required, 0, w->thread_count * sizeof *required);
    for (uint32_t i = 0; i < goal->stop_count; i++)
        mr_precedence_require(precedence, required, goal->stops[i].events[0], false);
    for (uint32_t i = 0; i < goal->required_count; i++)
        mr_precedence_require(precedence, required, goal->required[i], true);
    return mr_cone_excludes(w, goal, required);
}

/* Does the event need the end of the stop? */
static bool needs_end(const mr_precedence *precedence, const mr_goal *goal, uint32_t event,
                      uint32_t stop)
{
    const mr_window *w = precedence->window;
    uint32_t end = mr_goal_end(w, goal, stop);
    if (end == MR_NONE)
        return false;
    return w->thread[end] == w->thread[event] ? w->position[end] < w->position[event]
                                              : mr_precedence_enables(precedence, end, event);
}

/* Drops stops of one list because of another one. */
static bool narrow(const mr_precedence *precedence, const mr_goal *goal, mr_stops *one,
                   const mr_stops *other)
{
    if (mr_precedence_enables(precedence, one->events[0], other->events[0])) {
        one->events++;
        one->count--;
        return true;
    }
    if (!mr_precedence_enables(precedence, mr_stops_last(other), mr_stops_last(one)) &&
        !needs_end(precedence, goal, mr_stops_last(one), mr_stops_last(other)))
        return false;
    one->count--;
    return true;
}

/* Drops stops of a list that a required event needs. */
static bool narrow_by_required(const mr_precedence *precedence, const mr_goal *goal, mr_stops *one)
{
    bool changed = false;
    for (uint32_t i = 0; i < goal->required_count; i++) {
        while (one->count && (one->events[0] == goal->required[i] ||
                              mr_precedes(precedence, one->events[0], goal->required[i]))) {
            one->events++;
            one->count--;
            changed = true;
        }
    }
    return changed;
}

bool mr_cone_narrow(const mr_precedence *precedence, mr_goal *goal)
{
    const mr_window *w = precedence->window;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < goal->stop_count; i++) {
            changed |= narrow_by_required(precedence, goal, &goal->stops[i]);
            for (uint32_t k = 0; k < goal->stop_count; k++) {
                if (!goal->stops[i].count || !goal->stops[k].count)
                    return false;
                if (i == k)
                    continue;
                MR_REQUIRE(w->thread[goal->stops[i].events[0]] !=
                           w->thread[goal->stops[k].events[0]]);
                changed |= narrow(precedence, goal, &goal->stops[i], &goal->stops[k]);
            }
        }
    }
    for (uint32_t i = 0; i < goal->stop_count; i++)
        if (!goal->stops[i].count)
            return false;
    return true;
}

/* Lowers `allowed` to the first event of each thread that is or needs `barred`; later ones of the
 * thread need it too. */
static void bar(const mr_precedence *precedence, uint32_t barred, uint32_t *allowed)
{
    const mr_window *w = precedence->window;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t low = 0, high = allowed[t];
        while (low < high) {
            uint32_t middle = low + (high - low) / 2, event = mr_window_at(w, t, middle);
            if (event == barred || mr_precedes(precedence, barred, event))
                high = middle;
            else
                low = middle + 1;
        }
        allowed[t] = low;
    }
}

void mr_cone_allowed(const mr_precedence *precedence, const mr_goal *goal, uint32_t *allowed)
{
    const mr_window *w = precedence->window;
    for (uint32_t t = 0; t < w->thread_count; t++)
        allowed[t] = mr_window_length(w, t);
    for (uint32_t i = 0; i < goal->stop_count; i++) {
        uint32_t stop = mr_stops_last(&goal->stops[i]), end = mr_goal_end(w, goal, stop);
        bar(precedence, stop, allowed);
        if (end != MR_NONE)
            bar(precedence, end, allowed);
    }
    for (uint32_t i = 0; i < goal->barred_count; i++)
        bar(precedence, goal->barred[i], allowed);
}

bool mr_cone_drop_unreached(const mr_precedence *precedence, mr_goal *goal, uint32_t *allowed)
{
    const mr_window *w = precedence->window;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < goal->stop_count; i++) {
            mr_stops *stops = &goal->stops[i];
            while (stops->count &&
                   w->position[mr_stops_last(stops)] > allowed[w->thread[mr_stops_last(stops)]]) {
                stops->count--;
                changed = true;
            }
            if (!stops->count)
                return false;
        }
        if (changed)
            mr_cone_allowed(precedence, goal, allowed);
    }
    return true;
}

typedef struct closer {
    const mr_window *window;
    const mr_precedence *hard, *forced;
    const uint32_t *allowed;
    uint32_t *cone;
    uint8_t *lock_seen; /* one a lock: 1 an exclusive acquire is in C, 2 a shared one */
    /* Model branch, one a thread: how many events of C whose reads must perhaps be consistent. */
    uint32_t *constrained;
    /* One a place in window->writes_by_value and window->posts: the next place from there on that
     * may still add something. What is in C, or not allowed, is passed over for good, so that many
     * reads of a value and many writes of it do not cost their product. */
    uint32_t *next_write, *next_post;
} closer;

static uint32_t *all_places(uint32_t count, mr_arena *arena)
{
    uint32_t *next = mr_arena_alloc(arena, (size_t)count + 1, sizeof *next);
    for (uint32_t k = 0; next && k <= count; k++)
        next[k] = k;
    return next;
}

/* The next place from `k` on; shortens the way to it. */
static uint32_t from_place(uint32_t *next, uint32_t k)
{
    while (next[k] != k)
        k = next[k] = next[next[k]];
    return k;
}

static bool is_allowed(const closer *c, uint32_t event)
{
    return c->window->position[event] < c->allowed[c->window->thread[event]];
}

static void help(closer *c, uint32_t event)
{
    const mr_window *w = c->window;
    if (event == MR_NONE || w->position[event] < c->cone[w->thread[event]])
        return; /* what it needs is added in its turn */
    if (w->position[event] < c->allowed[w->thread[event]])
        mr_precedence_require(c->forced, c->cone, event, true);
}

static void close_acquire(closer *c, const mr_section *section)
{
    const mr_window_lock *lock = &c->window->locks[section->lock];
    if (!lock->contended)
        return;
    help(c, section->release);
    uint8_t kind = section->shared ? 2 : 1;
    if (c->lock_seen[section->lock] & kind)
        return;
    c->lock_seen[section->lock] |= kind;
    for (uint32_t s = lock->sections_first; s < lock->carried_end; s++)
        if (!section->shared || !c->window->sections[s].shared)
            help(c, c->window->sections[s].release);
}

/* Can the write add nothing (more) to C? */
static bool is_spent(const closer *c, uint32_t write)
{
    const mr_window *w = c->window;
    uint32_t thread = w->thread[write], position = w->position[write];
    if (!is_allowed(c, write))
        return true;
    return position < c->cone[thread] &&
           (w->model != MR_MODEL_BRANCH || position < c->constrained[thread]);
}

/* A write that a read of C may see. In model branch it must be clean to be seen, so the reads
 * before it are constrained too. */
static void help_read(closer *c, uint32_t write)
{
    const mr_window *w = c->window;
    if (write == MR_NONE || !is_allowed(c, write))
        return;
    help(c, write);
    if (c->constrained[w->thread[write]] <= w->position[write])
        c->constrained[w->thread[write]] = w->position[write] + 1;
}

/* How many writes a read leaves out of C because they are hidden from it (windows/hidden.h). The next one
 * is taken, which is right, too: so reads do not look at the same hidden writes again and again. */
enum { HIDDEN_LEFT_OUT = 64 };

static void close_read(closer *c, uint32_t read)
{
    const mr_window *w = c->window;
    const mr_window_variable *variable = &w->variables[w->object[read]];
    if (!variable->shared)
        return;
    if (variable->by_source) {
        help_read(c, w->source[read]);
        return;
    }
    uint32_t first, end, hidden = 0;
    mr_read_same_value_writes(w, read, &first, &end);
    for (uint32_t k = first; (k = from_place(c->next_write, k)) < end; k++) {
        uint32_t write = w->writes_by_value[k];
        if (is_spent(c, write))
            c->next_write[k] = k + 1;
        else if (mr_write_is_hidden(w, write, read) ? ++hidden > HIDDEN_LEFT_OUT
                                                    : mr_read_may_see(w, c->hard, read, write))
            help_read(c, write);
    }
}

/*
 * Adds what an event of C needs, as far as it is in U. Precedence is no closure everywhere: what
 * all writes need that a read may see may itself need more, which shows in its own clock only. What
 * is left out needs a or b, and then so does the event.
 */
static void close_event(closer *c, uint32_t event)
{
    const mr_window *w = c->window;
    uint32_t thread = w->thread[event], position = w->position[event];
    const uint32_t *clock = c->forced->clock[event];
    if (position && c->forced->clock[mr_window_at(w, thread, position - 1)] == clock)
        return;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t need = mr_precedence_count(w, clock, thread, t);
        need = need < c->allowed[t] ? need : c->allowed[t];
        if (t != thread && need > c->cone[t])
            c->cone[t] = need;
    }
}

/* The reads of thread t that are to be closed, as far as `closed` does not have them. */
static bool close_reads(closer *c, uint32_t t, uint32_t *closed)
{
    const mr_window *w = c->window;
    uint32_t end = w->model == MR_MODEL_BRANCH ? c->constrained[t] : c->cone[t];
    bool changed = *closed < end;
    for (; *closed < end; (*closed)++) {
        uint32_t event = mr_window_at(w, t, *closed);
        if (mr_op_reads(mr_window_op(w, event)))
            close_read(c, event);
    }
    return changed;
}

static void close_wait(closer *c, uint32_t wait)
{
    const mr_window *w = c->window;
    const mr_window_semaphore *s = &w->semaphores[w->object[wait]];
    if (!s->shared)
        return;
    for (uint32_t k = s->posts_first; (k = from_place(c->next_post, k)) < s->posts_end; k++) {
        uint32_t post = w->posts[k];
        if (!is_allowed(c, post) || w->position[post] < c->cone[w->thread[post]])
            c->next_post[k] = k + 1;
        else if (mr_wait_may_take(c->forced, wait, post))
            help(c, post);
    }
}

/* What the operation of the event may need of other threads; reads are closed by close_reads. */
static void close_operation(closer *c, uint32_t event)
{
    const mr_window *w = c->window;
    uint32_t *constrained = &c->constrained[w->thread[event]];
    switch ((mr_op)mr_window_op(w, event)) {
    case MR_OP_ACQUIRE:
    case MR_OP_SHARED_ACQUIRE:
        if (mr_window_section(w, event))
            close_acquire(c, mr_window_section(w, event));
        break;
    case MR_OP_WAIT:
        close_wait(c, event);
        break;
    case MR_OP_FORK:
    case MR_OP_CALL_BEGIN:
    case MR_OP_BRANCH:
        if (*constrained <= w->position[event])
            *constrained = w->position[event] + 1;
        break;
    case MR_OP_READ:
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
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
        break;
    }
}

static uint32_t post_count(const mr_window *w)
{
    uint32_t count = 0;
    for (uint32_t l = 0; l < w->lock_count; l++)
        if (w->semaphores[l].posts_end > count)
            count = w->semaphores[l].posts_end;
    return count;
}

/* Is C closed under FORCED, as far as U goes? For costly checks. */
static bool is_closed(const closer *c)
{
    const mr_window *w = c->window;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        if (!c->cone[t])
            continue;
        const uint32_t *clock = c->forced->clock[mr_window_at(w, t, c->cone[t] - 1)];
        for (uint32_t u = 0; u < w->thread_count; u++)
            if (u != t && mr_precedence_count(w, clock, t, u) > c->cone[u] &&
                c->allowed[u] > c->cone[u])
                return false;
    }
    return true;
}

/* What can help the goal itself. */
static void close_goal(closer *c, const mr_goal *goal)
{
    const mr_window *w = c->window;
    for (uint32_t i = 0; i < goal->stop_count; i++) {
        uint32_t stop = mr_stops_last(&goal->stops[i]);
        if (w->position[stop] <= c->allowed[w->thread[stop]])
            mr_precedence_require(c->forced, c->cone, stop, false);
    }
    for (uint32_t i = 0; i < goal->life_count; i++)
        help(c, goal->lives[i].free);
    if (!goal->last || !goal->last->value)
        return; /* a write is required */
    const mr_window_variable *variable = &w->variables[goal->last->variable];
    for (uint32_t k = variable->writes_first; k < variable->writes_end; k++)
        if (mr_last_write_fits(w, goal->last, w->writes[k]))
            help_read(c, w->writes[k]);
}

bool mr_cone_close(const mr_precedence *hard, const mr_precedence *forced, const uint32_t *required,
                   const uint32_t *allowed, const mr_goal *goal, uint32_t *cone, mr_arena *arena)
{
    const mr_window *w = hard->window;
    closer c = {.window = w, .hard = hard, .forced = forced, .allowed = allowed, .cone = cone};
    c.lock_seen = mr_arena_zalloc(arena, w->lock_count, sizeof *c.lock_seen);
    c.constrained = mr_arena_zalloc(arena, w->thread_count, sizeof *c.constrained);
    uint32_t *done = mr_arena_zalloc(arena, w->thread_count, sizeof *done);
    uint32_t *closed = mr_arena_zalloc(arena, w->thread_count, sizeof *closed);
    uint32_t writes = w->variable_count ? w->variables[w->variable_count - 1].writes_end : 0;
    c.next_write = all_places(writes, arena);
    c.next_post = all_places(post_count(w), arena);
    if (!c.lock_seen || !c.constrained || !done || !closed || !c.next_write || !c.next_post)
        return false;
    memcpy(cone, required, w->thread_count * sizeof *cone);
    close_goal(&c, goal);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t t = 0; t < w->thread_count; t++) {
            for (; done[t] < cone[t]; done[t]++) {
                uint32_t event = mr_window_at(w, t, done[t]);
                changed = true;
                close_event(&c, event);
                close_operation(&c, event);
            }
            changed |= close_reads(&c, t, &closed[t]);
        }
    }
    for (uint32_t t = 0; t < w->thread_count; t++)
        MR_ASSERT(required[t] <= cone[t]);
    for (uint32_t i = 0; i < goal->stop_count; i++)
        MR_ASSERT(!contains(w, cone, mr_stops_last(&goal->stops[i])));
    MR_ASSERT_COSTLY(is_closed(&c));
    return true;
}
