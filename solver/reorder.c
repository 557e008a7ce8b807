#include "reorder.h"

#include "base/assert.h"
#include "cone.h"
#include "windows/held.h"
#include "windows/read_choices.h"

#include <string.h>

enum { MOST_HOLDS = 12, MOST_PASSES = 100, WRITES_LOOKED_AT = 16 };

typedef struct reorderer {
    const mr_precedence *forced, *source;
    const mr_foreign_reads *foreign;
    const mr_window *window;
    uint32_t a, b;
    uint32_t ends[2], end_count; /* of the two accesses (cone.h) */
    uint32_t *prefix;            /* one a thread: what is needed */
    uint32_t *seen;              /* one a thread: whose reads have been looked at */
    uint32_t *late;              /* one a thread: from here on it is held back */
    uint32_t passes;
    uint32_t *early; /* one a thread: what is needed and not held back, while playing */
    uint32_t *last_write, *owner, *shares, *units; /* while playing */
    /* While playing: the write that a read should not have seen, or the free that an access should
     * not have come after; MR_NONE: none. */
    uint32_t spoiler;
    mr_arena *arena;
} reorderer;

typedef enum closed {
    CLOSED,
    HELD_BACK, /* another section: start again */
    NO_WAY,
} closed;

static bool is_late(const reorderer *r, uint32_t event)
{
    const mr_window *w = r->window;
    return w->position[event] >= r->late[w->thread[event]];
}

static bool is_in(const reorderer *r, uint32_t event)
{
    const mr_window *w = r->window;
    return w->position[event] < r->prefix[w->thread[event]];
}

/* Is one of the accesses needed, or one of their ends (cone.h)? */
static bool has_access(const reorderer *r)
{
    if (is_in(r, r->a) || is_in(r, r->b))
        return true;
    for (uint32_t i = 0; i < r->end_count; i++)
        if (is_in(r, r->ends[i]))
            return true;
    return false;
}

/* Holds back a thread from an event on, and what needs that. */
static void hold(reorderer *r, uint32_t from)
{
    const mr_window *w = r->window;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t low = 0, high = r->late[t];
        while (low < high) { /* the first event that is or needs `from` */
            uint32_t middle = low + (high - low) / 2, event = mr_window_at(w, t, middle);
            if (event == from || mr_precedes(r->forced, from, event))
                high = middle;
            else
                low = middle + 1;
        }
        r->late[t] = low;
    }
}

/* Is the event `other`, or does it need that? */
static inline bool needs(const reorderer *r, uint32_t event, uint32_t other)
{
    return event == other || mr_precedes(r->forced, other, event);
}

/* Can it happen before the accesses at all, and before the ends of their objects? */
static bool is_possible(const reorderer *r, uint32_t event)
{
    if (needs(r, event, r->a) || needs(r, event, r->b))
        return false;
    for (uint32_t i = 0; i < r->end_count; i++)
        if (needs(r, event, r->ends[i]))
            return false;
    return true;
}

/* Requires, for a read whose own write cannot come first, the nearest write before it that can and
 * wrote the same. */
static void require_other(reorderer *r, uint32_t read)
{
    const mr_window *w = r->window;
    const mr_window_variable *variable = &w->variables[w->object[read]];
    uint32_t first, end;
    if (variable->by_source || variable->carried_value == mr_window_read_value(w, read))
        return;
    mr_read_same_value_writes(w, read, &first, &end);
    uint32_t low = first, high = end;
    while (low < high) { /* the first one that is after the read */
        uint32_t middle = low + (high - low) / 2;
        if (w->writes_by_value[middle] < read)
            low = middle + 1;
        else
            high = middle;
    }
    for (uint32_t k = 0; low > first && k < WRITES_LOOKED_AT; k++) {
        uint32_t write = w->writes_by_value[--low];
        if (is_possible(r, write)) {
            mr_precedence_require(r->forced, r->prefix, write, true);
            return;
        }
    }
}

/* Is the source of some read among the events of its thread up to this one not in `set`, one prefix a
 * thread? That may be said in vain, but a no is right. */
static bool lacks_source(const reorderer *r, uint32_t event, const uint32_t *set)
{
    const mr_window *w = r->window;
    for (uint32_t t = 0; t < w->thread_count; t++)
        if (t != w->thread[event] &&
            mr_precedence_count(w, r->source->clock[event], w->thread[event], t) > set[t])
            return true;
    return false;
}

/* The first of the events `low` … `high` - 1 of a thread that lacks a source; `high`: none does. Clocks grow along
 * a thread. In model branch SOURCE has not the sources of all reads, so there each may lack one. */
static uint32_t first_lack(const reorderer *r, uint32_t thread, uint32_t low, uint32_t high,
                           const uint32_t *set)
{
    const mr_window *w = r->window;
    if (w->model == MR_MODEL_BRANCH)
        return low;
    if (low < high && !lacks_source(r, mr_window_at(w, thread, high - 1), set))
        return high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (lacks_source(r, mr_window_at(w, thread, middle), set))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Requires the write that a needed read saw, or another one, where it can come first. */
static void close_read(reorderer *r, uint32_t read)
{
    uint32_t source = r->window->source[read];
    if (source == MR_NONE || is_in(r, source))
        return;
    if (!is_possible(r, source))
        require_other(r, read);
    else if (is_late(r, read) || !is_late(r, source))
        mr_precedence_require(r->forced, r->prefix, source, true);
}

/* The first read of the thread in the list that is at this position or behind it. */
static uint32_t foreign_from(const reorderer *r, uint32_t thread, uint32_t position)
{
    uint32_t low = r->foreign->first[thread], high = r->foreign->first[thread + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r->window->position[r->foreign->events[middle]] < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The same for all needed reads. */
static void close_reads(reorderer *r)
{
    const mr_window *w = r->window;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t t = 0; t < w->thread_count; t++) {
            uint32_t from = r->seen[t], end = r->prefix[t];
            if (from == end)
                continue;
            changed = true;
            r->seen[t] = end;
            from = first_lack(r, t, from, end, r->prefix);
            for (uint32_t k = foreign_from(r, t, from);
                 k < r->foreign->first[t + 1] && w->position[r->foreign->events[k]] < end; k++)
                close_read(r, r->foreign->events[k]);
        }
    }
}

/* ---- sections ---- */

/* In the new order a lock has its sections that are not held back, then the others; both in trace order. They are
 * gone through from the last to the first, lock by lock. The number of a section in this order. */
static uint64_t turn_of(const reorderer *r, uint32_t number, bool *late)
{
    const mr_section *section = &r->window->sections[number];
    *late = section->acquire != MR_NONE && is_late(r, section->acquire);
    return (uint64_t)section->lock << 33 | (uint64_t) !*late << 32 | (UINT32_MAX - number);
}

/* Lowers `*best`, the number of a turn, to that of a section that the thread is in after so many events, if that
 * is not below `least`. */
static void look_at_open(const reorderer *r, uint32_t thread, uint32_t length, uint64_t least,
                         uint64_t *best)
{
    const mr_window *w = r->window;
    const mr_held_entry *entries = w->held->entries;
    for (uint32_t e = mr_held_at(w->held, thread, length); e != MR_NONE; e = entries[e].next) {
        bool late;
        uint64_t turn = turn_of(r, entries[e].section, &late);
        if (turn >= least && turn < *best &&
            !mr_held_is_left(w, &w->sections[entries[e].section], length))
            *best = turn;
    }
}

/* The next section that may have to be left: one that is open after the needed events, or one that is not
 * held back with a release that is. The others are left in time. False: there is none any more. */
static bool next_open(const reorderer *r, uint64_t *least, uint32_t *number)
{
    uint64_t best = UINT64_MAX;
    for (uint32_t t = 0; t < r->window->thread_count; t++) {
        look_at_open(r, t, r->prefix[t], *least, &best);
        if (r->late[t] < r->prefix[t])
            look_at_open(r, t, r->late[t], *least, &best);
    }
    *least = best + 1;
    *number = UINT32_MAX - (uint32_t)best;
    return best != UINT64_MAX;
}

/* Which needed sections of the lock that exclude one come later than that in the new order. */
typedef struct later {
    bool some;
    bool early; /* some that is not held back */
} later;

/* The first section of `user` that is not entered within the first `length` events of its thread. */
static uint32_t entered_end(const mr_window *w, const mr_lock_user *user, uint32_t length)
{
    uint32_t low = user->first, high = user->end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint32_t acquire = w->sections[w->held->by_thread.entered[middle]].acquire;
        if (acquire == MR_NONE || w->position[acquire] < length)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static later find_later(const reorderer *r, uint32_t number)
{
    const mr_window *w = r->window;
    const mr_section *section = &w->sections[number];
    const mr_held *held = w->held;
    bool late;
    later found = {false, false};
    turn_of(r, number, &late);
    for (uint32_t u = held->by_thread.first[section->lock];
         u < held->by_thread.first[section->lock + 1]; u++) {
        const mr_lock_user *user = &held->by_thread.of[u];
        uint32_t length = r->prefix[user->thread], held_back = r->late[user->thread];
        if (user->thread == section->thread || (user->shared && section->shared) ||
            (late && length <= held_back))
            continue;
        uint32_t end = entered_end(w, user, length);
        uint32_t early = length <= held_back ? end : entered_end(w, user, held_back);
        found.early |= !late && early > user->first && held->by_thread.entered[early - 1] > number;
        found.some |= end > early && (!late || held->by_thread.entered[end - 1] > number);
    }
    found.some |= found.early;
    return found;
}

/* The section has to be left before another of its lock. */
static closed leave(reorderer *r, const mr_section *section, bool before_early)
{
    bool late = section->acquire != MR_NONE && is_late(r, section->acquire);
    bool possible = section->release != MR_NONE && !(before_early && is_late(r, section->release));
    if (possible && !is_in(r, section->release)) {
        mr_precedence_require(r->forced, r->prefix, section->release, true);
        close_reads(r);
        possible = !has_access(r);
    }
    if (possible)
        return CLOSED;
    if (late || section->acquire == MR_NONE)
        return NO_WAY;
    hold(r, section->acquire);
    return HELD_BACK;
}

static closed close_locks(reorderer *r)
{
    uint64_t least = 0;
    uint32_t number;
    while (next_open(r, &least, &number)) {
        later others = find_later(r, number);
        closed result = others.some ? leave(r, &r->window->sections[number], others.early) : CLOSED;
        if (result != CLOSED)
            return result;
    }
    return CLOSED;
}

/* Finds what is needed with the present holds. */
static closed close_all(reorderer *r)
{
    const mr_window *w = r->window;
    uint64_t before = 0, now = 1;
    memset(r->seen, 0, w->thread_count * sizeof *r->seen);
    mr_stops stops[] = {{&r->a, 1}, {&r->b, 1}};
    const mr_goal race = {.stops = stops, .stop_count = 2};
    if (!mr_cone_required(r->forced, &race, r->prefix))
        return NO_WAY;
    while (before != now) {
        if (r->passes++ == MOST_PASSES || mr_arena_is_halted(r->arena))
            return NO_WAY;
        before = now;
        close_reads(r);
        if (has_access(r))
            return NO_WAY;
        closed result = close_locks(r);
        if (result != CLOSED)
            return result;
        now = 0;
        for (uint32_t t = 0; t < w->thread_count; t++)
            now += (uint64_t)r->prefix[t] + 1;
    }
    return CLOSED;
}

/* ---- playing ---- */

/* In last_write: nobody has asked yet; there is none. */
#define NOT_KNOWN MR_NONE
#define NO_WRITE  (MR_NONE - 1)

/*
 * Early events, those that are not held back, come first, in trace order. Each early read whose write is early is
 * right: it comes after that write, and before those that the trace has after it. Sections were closed, so each
 * acquire is possible. So only the other reads, and waits, are looked at. The late events are played.
 */

static bool is_early(const reorderer *r, uint32_t event)
{
    const mr_window *w = r->window;
    return w->position[event] < r->early[w->thread[event]];
}

/* The last early write of a variable before the event `end`; MR_NONE: none. */
static uint32_t early_write_before(const reorderer *r, uint32_t variable, uint32_t end)
{
    const uint32_t *writes = r->window->writes;
    uint32_t first = r->window->variables[variable].writes_first, low = first;
    uint32_t high = r->window->variables[variable].writes_end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (writes[middle] < end)
            low = middle + 1;
        else
            high = middle;
    }
    while (low-- > first)
        if (is_early(r, writes[low]))
            return writes[low];
    return MR_NONE;
}

static bool reads_right(const reorderer *r, uint32_t event, uint32_t last)
{
    const mr_window *w = r->window;
    const mr_window_variable *variable = &w->variables[w->object[event]];
    if (variable->by_source)
        return last == w->source[event];
    uint32_t value = last == MR_NONE ? variable->carried_value : mr_window_written_value(w, last);
    return value && value == mr_window_read_value(w, event);
}

/* The last write of a variable before the late event at hand; MR_NONE: none. */
static uint32_t last_write_of(reorderer *r, uint32_t variable)
{
    uint32_t *last = &r->last_write[variable];
    if (*last == NOT_KNOWN) {
        uint32_t write = early_write_before(r, variable, r->window->size);
        *last = write == MR_NONE ? NO_WRITE : write;
    }
    return *last == NO_WRITE ? MR_NONE : *last;
}

static void begin_section(reorderer *r, const mr_section *section)
{
    if (section->shared)
        r->shares[section->lock]++;
    else
        r->owner[section->lock] = section->thread;
}

static bool enter(reorderer *r, const mr_section *section)
{
    if (r->owner[section->lock] != MR_NONE || (!section->shared && r->shares[section->lock]))
        return false;
    begin_section(r, section);
    return true;
}

static void leave_section(reorderer *r, const mr_section *section)
{
    if (section->shared) {
        MR_ASSERT(r->shares[section->lock] > 0);
        r->shares[section->lock]--;
    } else {
        MR_ASSERT(r->owner[section->lock] == section->thread);
        r->owner[section->lock] = MR_NONE;
    }
}

static bool play_access(reorderer *r, uint32_t event)
{
    const mr_window *w = r->window;
    uint8_t op = mr_window_op(w, event);
    uint32_t last = mr_op_reads(op) ? last_write_of(r, w->object[event]) : MR_NONE;
    uint32_t end = mr_window_end_of_life(w, event);
    if (end != MR_NONE && is_in(r, end) && is_late(r, event) && !is_late(r, end)) {
        r->spoiler = end;
        return false;
    }
    if (mr_op_reads(op) && !reads_right(r, event, last)) {
        if (last != MR_NONE && !is_late(r, event))
            r->spoiler = last;
        return false;
    }
    if (mr_op_writes(op))
        r->last_write[w->object[event]] = event;
    return true;
}

static bool play(reorderer *r, uint32_t event)
{
    const mr_window *w = r->window;
    const mr_section *section = mr_window_section(w, event);
    if (section && !w->locks[section->lock].contended)
        return true;
    switch ((mr_op)mr_window_op(w, event)) {
    case MR_OP_READ:
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
        return play_access(r, event);
    case MR_OP_ACQUIRE:
    case MR_OP_SHARED_ACQUIRE:
        return !section || enter(r, section);
    case MR_OP_RELEASE:
    case MR_OP_SHARED_RELEASE:
        if (section)
            leave_section(r, section);
        break;
    case MR_OP_POST:
        r->units[w->object[event]]++;
        break;
    case MR_OP_WAIT:
        return r->units[w->object[event]]-- > 0;
    case MR_OP_FORK:
    case MR_OP_JOIN:
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
    case MR_OP_BRANCH:
    case MR_OP_ALLOC:
    case MR_OP_FREE:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        break;
    }
    return true;
}

/* The first early read of a thread before `end` that does not see what it saw; MR_NONE: none. `*last`: the
 * write that it sees. */
static uint32_t find_wrong_read(const reorderer *r, uint32_t thread, uint32_t end, uint32_t *last)
{
    const mr_window *w = r->window;
    uint32_t from = first_lack(r, thread, 0, r->early[thread], r->early);
    for (uint32_t k = foreign_from(r, thread, from); k < r->foreign->first[thread + 1]; k++) {
        uint32_t read = r->foreign->events[k];
        if (read >= end || !is_early(r, read))
            break;
        if (is_early(r, w->source[read]))
            continue;
        *last = early_write_before(r, w->object[read], read);
        if (!reads_right(r, read, *last))
            return read;
    }
    return MR_NONE;
}

/* The first early wait for units that finds none, or MR_NONE, and what is left of the units. */
static uint32_t find_wrong_wait(const reorderer *r, const mr_window_semaphore *s, uint32_t *units)
{
    const mr_window *w = r->window;
    uint32_t post = s->posts_first;
    *units = s->units;
    for (uint32_t k = s->waits_first; k < s->waits_end; k++) {
        for (; post < s->posts_end && w->posts[post] < w->waits[k]; post++)
            *units += is_early(r, w->posts[post]);
        if (!is_early(r, w->waits[k]))
            continue;
        if (!*units)
            return w->waits[k];
        --*units;
    }
    for (; post < s->posts_end; post++)
        *units += is_early(r, w->posts[post]);
    return MR_NONE;
}

/* Are the early events possible? When the first one that is not is a read, what it sees is the spoiler. */
static bool early_are_right(reorderer *r)
{
    const mr_window *w = r->window;
    uint32_t wrong = MR_NONE;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t last, read = find_wrong_read(r, t, wrong, &last);
        if (read == MR_NONE)
            continue;
        wrong = read;
        r->spoiler = last;
    }
    for (uint32_t l = 0; w->semaphores && l < w->lock_count; l++) {
        uint32_t wait = find_wrong_wait(r, &w->semaphores[l], &r->units[l]);
        if (wait >= wrong)
            continue;
        wrong = wait;
        r->spoiler = MR_NONE;
    }
    return wrong == MR_NONE;
}

/* Gets ready for the first late event. False: no memory. */
static bool prepare_late(reorderer *r, mr_arena *arena)
{
    const mr_window *w = r->window;
    const mr_held_entry *entries = w->held->entries;
    r->last_write = mr_arena_alloc(arena, w->variable_count, sizeof *r->last_write);
    r->owner = mr_arena_alloc(arena, w->lock_count, sizeof *r->owner);
    r->shares = mr_arena_zalloc(arena, w->lock_count, sizeof *r->shares);
    if (!r->last_write || !r->owner || !r->shares)
        return false;
    memset(r->last_write, 0xff, w->variable_count * sizeof *r->last_write);
    memset(r->owner, 0xff, w->lock_count * sizeof *r->owner);
    for (uint32_t t = 0; t < w->thread_count; t++)
        for (uint32_t e = mr_held_at(w->held, t, r->early[t]); e != MR_NONE; e = entries[e].next)
            if (!mr_held_is_left(w, &w->sections[entries[e].section], r->early[t]))
                begin_section(r, &w->sections[entries[e].section]);
    return true;
}

/* Lists the needed events that are late, or those that are not, in trace order. */
static void list(const reorderer *r, bool late, uint32_t count, uint32_t *events)
{
    const mr_window *w = r->window;
    uint32_t i = late ? w->size : 0;
    for (uint32_t t = 0; t < w->thread_count && late; t++)
        if (r->late[t] < r->prefix[t] && mr_window_at(w, t, r->late[t]) < i)
            i = mr_window_at(w, t, r->late[t]);
    for (; count; i++)
        if (is_in(r, i) && is_late(r, i) == late) {
            *events++ = i;
            count--;
        }
}

/* The events stay in the arena only when they can be played. */
static mr_reordered play_all(reorderer *r, uint32_t **events, uint32_t *event_count,
                             mr_arena *arena)
{
    const mr_window *w = r->window;
    uint32_t early = 0, late = 0;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        r->early[t] = r->prefix[t] < r->late[t] ? r->prefix[t] : r->late[t];
        early += r->early[t];
        late += r->prefix[t] - r->early[t];
    }
    r->spoiler = MR_NONE;
    if (!early_are_right(r))
        return MR_NOT_REORDERED;
    *event_count = early + late;
    *events = mr_arena_alloc(arena, *event_count, sizeof **events);
    mr_arena_mark mark = mr_arena_get_mark(arena);
    if (!*events || !prepare_late(r, arena))
        return MR_REORDER_NO_MEMORY;
    list(r, true, late, *events + early);
    bool played = true;
    for (uint32_t k = 0; k < late && played; k++)
        played = play(r, (*events)[early + k]);
    if (played)
        list(r, false, early, *events);
    mr_arena_release(arena, mark);
    return played ? MR_REORDERED : MR_NOT_REORDERED;
}

/* Closes and plays with the present holds; holds back a write that spoils a read, or a free that
 * spoils an access. */
static closed attempt(reorderer *r, mr_reordered *result, uint32_t **events, uint32_t *event_count,
                      mr_arena *arena)
{
    mr_arena_mark mark = mr_arena_get_mark(arena);
    closed closing = close_all(r);
    if (closing != CLOSED)
        return closing;
    *result = play_all(r, events, event_count, arena);
    if (*result != MR_NOT_REORDERED)
        return CLOSED;
    mr_arena_release(arena, mark);
    if (r->spoiler == MR_NONE)
        return NO_WAY;
    hold(r, r->spoiler);
    return HELD_BACK;
}

bool mr_foreign_reads_list(mr_foreign_reads *reads, const mr_window *w, mr_arena *arena)
{
    uint32_t count = 0;
    reads->first = mr_arena_alloc(arena, (size_t)w->thread_count + 1, sizeof *reads->first);
    reads->events = mr_arena_alloc(arena, w->size, sizeof *reads->events);
    if (!reads->first || !reads->events)
        return false;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        reads->first[t] = count;
        for (uint32_t k = 0; k < mr_window_length(w, t); k++) {
            uint32_t event = mr_window_at(w, t, k), source = w->source[event];
            if (mr_op_reads(mr_window_op(w, event)) && source != MR_NONE && w->thread[source] != t)
                reads->events[count++] = event;
        }
    }
    reads->first[w->thread_count] = count;
    return true;
}

mr_reordered mr_reorder(const mr_precedence *forced, const mr_precedence *source,
                        const mr_foreign_reads *foreign, uint32_t a, uint32_t b, uint32_t **events,
                        uint32_t *event_count, mr_arena *arena)
{
    const mr_window *w = forced->window;
    const uint32_t ends[] = {mr_window_end_of_life(w, a), mr_window_end_of_life(w, b)};
    reorderer r = {.forced = forced,
                   .source = source,
                   .foreign = foreign,
                   .window = w,
                   .a = a,
                   .b = b,
                   .arena = arena};
    for (int i = 0; i < 2; i++)
        if (ends[i] != MR_NONE)
            r.ends[r.end_count++] = ends[i];
    mr_reordered result = MR_NOT_REORDERED;
    r.prefix = mr_arena_alloc(arena, w->thread_count, sizeof *r.prefix);
    r.seen = mr_arena_alloc(arena, w->thread_count, sizeof *r.seen);
    r.late = mr_arena_alloc(arena, w->thread_count, sizeof *r.late);
    r.early = mr_arena_alloc(arena, w->thread_count, sizeof *r.early);
    r.units = mr_arena_alloc(arena, w->lock_count, sizeof *r.units);
    if (!r.prefix || !r.seen || !r.late || !r.early || !r.units)
        return MR_REORDER_NO_MEMORY;
    for (uint32_t t = 0; t < w->thread_count; t++)
        r.late[t] = mr_window_length(w, t);
    closed last = HELD_BACK;
    for (uint32_t holds = 0; last == HELD_BACK && holds <= MOST_HOLDS; holds++)
        last = attempt(&r, &result, events, event_count, arena);
    return result;
}
