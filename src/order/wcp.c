#include "wcp.h"

#include "feed.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { KIND_READ, KIND_WRITE };

bool mr_wcp_grow(mr_wcp *wcp, uint32_t thread_count, uint32_t lock_count)
{
    if (!mr_hb_grow(&wcp->hb, thread_count, lock_count) ||
        !mr_sections_grow(&wcp->sections, lock_count))
        return false;
    wcp->sections.pool = &wcp->hb.pool;
    void *threads = wcp->threads, *clocks = wcp->release_before;
    if (!mr_grow(&threads, &wcp->thread_capacity, thread_count, sizeof(mr_wcp_thread)))
        return false;
    wcp->threads = threads;
    if (!mr_grow(&clocks, &wcp->lock_capacity, lock_count, sizeof(mr_clock *)))
        return false;
    wcp->release_before = clocks;
    for (; wcp->thread_count < thread_count; wcp->thread_count++)
        wcp->threads[wcp->thread_count] = (mr_wcp_thread){0};
    for (; wcp->lock_count < lock_count; wcp->lock_count++)
        wcp->release_before[wcp->lock_count] = NULL;
    return true;
}

void mr_wcp_free(mr_wcp *wcp)
{
    mr_clock_pool *pool = &wcp->hb.pool;
    for (size_t thread = 0; thread < wcp->thread_count; thread++) {
        mr_clock_drop(pool, &wcp->threads[thread].before);
        mr_clock_drop(pool, &wcp->threads[thread].hard);
        free(wcp->threads[thread].held.items);
    }
    for (size_t lock = 0; lock < wcp->lock_count; lock++)
        mr_clock_drop(pool, &wcp->release_before[lock]);
    free(wcp->threads);
    free(wcp->release_before);
    free(wcp->touches);
    mr_map_free(&wcp->touch_numbers);
    mr_sections_free(&wcp->sections);
    mr_hb_free(&wcp->hb);
    *wcp = (mr_wcp){0};
}

/* The clock alone, without a local time: what is ≺-before something, not that thing itself. */
static mr_time only(mr_clock *clock)
{
    return (mr_time){.clock = clock};
}

static bool add_touch(mr_wcp *wcp, uint32_t lock, uint32_t variable, uint32_t *touch)
{
    uint32_t *number = mr_map_at(&wcp->touch_numbers, mr_map_key(lock, variable), 0);
    if (!number)
        return false;
    if (!*number) {
        void *touches = wcp->touches;
        if (!mr_grow(&touches, &wcp->touch_capacity, wcp->touch_count + 1, sizeof(mr_touch)))
            return false;
        wcp->touches = touches;
        wcp->touches[wcp->touch_count++] =
            (mr_touch){{MR_NONE, MR_NONE}, {MR_NONE, MR_NONE}, lock, 0};
        *number = (uint32_t)wcp->touch_count;
    }
    *touch = *number;
    return true;
}

/* The touch of this lock and the variable, `*touch` being a guess; a wrong guess is corrected. */
static inline bool find_touch(mr_wcp *wcp, uint32_t lock, uint32_t variable, uint32_t *touch)
{
    return (*touch && wcp->touches[*touch - 1].lock == lock) ||
           add_touch(wcp, lock, variable, touch);
}

/* Rule (a) for one kind of earlier access: joins the last section of another thread that made it.
 */
static bool follow_conflict(mr_wcp *wcp, const mr_touch *touch, int kind, uint32_t thread)
{
    const mr_sections *sections = &wcp->sections;
    uint32_t section = touch->last[kind];
    if (section != MR_NONE && sections->items[section].thread == thread)
        section = touch->other[kind];
    return section == MR_NONE || mr_clock_learn(&wcp->hb.pool, &wcp->threads[thread].before,
                                                mr_section_time(sections, section));
}

static void note_touch(mr_sections *sections, mr_touch *touch, int kind, uint32_t section)
{
    uint32_t last = touch->last[kind];
    if (last == section)
        return;
    mr_section_share(sections, section);
    touch->last[kind] = section;
    if (last == MR_NONE)
        return;
    if (sections->items[last].thread == sections->items[section].thread) {
        mr_section_drop(sections, last);
        return;
    }
    if (touch->other[kind] != MR_NONE)
        mr_section_drop(sections, touch->other[kind]);
    touch->other[kind] = last;
}

/* Rule (a), and what the variable has to know of the section. */
static bool touch_variable(mr_wcp *wcp, mr_touch *touch, uint32_t thread, int kind,
                           uint32_t section)
{
    if (!follow_conflict(wcp, touch, KIND_WRITE, thread) ||
        (kind == KIND_WRITE && !follow_conflict(wcp, touch, KIND_READ, thread)))
        return false;
    note_touch(&wcp->sections, touch, kind, section);
    return true;
}

bool mr_wcp_access(mr_wcp *wcp, uint32_t thread, uint32_t variable, bool is_write, uint32_t *touch)
{
    int kind = is_write ? KIND_WRITE : KIND_READ;
    const mr_held_list *held = &wcp->threads[thread].held;
    uint32_t last = 0;
    for (size_t i = 0; i < held->count; i++) {
        uint32_t guess = last ? wcp->touches[last - 1].next : *touch, number = guess;
        if (!find_touch(wcp, held->items[i].lock, variable, &number))
            return false;
        if (number != guess)
            *(last ? &wcp->touches[last - 1].next : touch) = number;
        last = number;
        mr_touch *at = &wcp->touches[number - 1];
        /* Else nobody can have been in this lock since the section's own last access. */
        if (at->last[kind] != held->items[i].section &&
            !touch_variable(wcp, at, thread, kind, held->items[i].section))
            return false;
    }
    return true;
}

static bool acquire(mr_wcp *wcp, uint32_t thread, uint32_t lock)
{
    const mr_hb *hb = &wcp->hb;
    const mr_time *last = &hb->locks[lock].release;
    mr_wcp_thread *by = &wcp->threads[thread];
    bool known = last->thread == thread ||
                 mr_clock_get(hb->threads[thread].clock, last->thread) >= last->local;
    if (!known && !mr_clock_join(&wcp->hb.pool, &by->before, only(wcp->release_before[lock])))
        return false;
    void *items = by->held.items;
    if (!mr_grow(&items, &by->held.capacity, by->held.count + 1, sizeof(mr_held)))
        return false;
    by->held.items = items;
    uint32_t section, user;
    if (!mr_sections_user(&wcp->sections, lock, thread, &user) ||
        !mr_section_open(&wcp->sections, user, hb->threads[thread].local, &section))
        return false;
    by->held.items[by->held.count++] = (mr_held){lock, section, user};
    return true;
}

static mr_held take_held(mr_held_list *held, uint32_t lock)
{
    size_t i = held->count;
    while (i && held->items[i - 1].lock != lock)
        i--;
    assert(i > 0);
    mr_held taken = held->items[i - 1];
    memmove(&held->items[i - 1], &held->items[i], (held->count - i) * sizeof(mr_held));
    held->count--;
    return taken;
}

/* Passes the sections of other threads whose acquire is ≺-before the thread's last event; the last
 * one passed, or MR_NONE. Its own are skipped. */
static uint32_t pass_sections(mr_wcp *wcp, mr_lock_user *user, uint32_t lock)
{
    const mr_clock *before = wcp->threads[user->thread].before;
    uint32_t section, passed = MR_NONE;
    while ((section = mr_sections_at(&wcp->sections, lock, user->cursor)) != MR_NONE) {
        const mr_section *item = &wcp->sections.items[section];
        if (item->thread != user->thread) {
            if (mr_clock_get(before, item->thread) < item->acquired)
                break;
            passed = section;
        }
        user->cursor++;
    }
    return passed;
}

static bool release(mr_wcp *wcp, uint32_t thread, uint32_t lock)
{
    mr_hb *hb = &wcp->hb;
    mr_wcp_thread *by = &wcp->threads[thread];
    mr_held held = take_held(&by->held, lock);
    /* Rule (b). One pass is enough: what the last section brings is older than the next acquire. */
    uint32_t passed = pass_sections(wcp, &wcp->sections.users[held.user], lock);
    if (passed != MR_NONE &&
        !mr_clock_learn(&hb->pool, &by->before, mr_section_time(&wcp->sections, passed))) {
        mr_section_drop(&wcp->sections, held.section);
        return false;
    }
    mr_clock_set(&hb->pool, &wcp->release_before[lock], by->before);
    return mr_section_close(&wcp->sections, lock, held.section, mr_hb_now(hb, thread));
}

/* P and K along a fork or join, from the time of `from` to `thread`. */
static bool hard_edge(mr_wcp *wcp, uint32_t from, uint32_t thread)
{
    mr_clock_pool *pool = &wcp->hb.pool;
    mr_time hard = {wcp->threads[from].hard, from, wcp->hb.threads[from].local};
    return mr_clock_join(pool, &wcp->threads[thread].before, only(wcp->threads[from].before)) &&
           mr_clock_learn(pool, &wcp->threads[thread].hard, hard);
}

bool mr_wcp_sync(mr_wcp *wcp, mr_op op, uint32_t thread, uint32_t operand)
{
    switch (op) {
    case MR_OP_ACQUIRE:
        return acquire(wcp, thread, operand) && mr_hb_acquire(&wcp->hb, thread, operand);
    case MR_OP_RELEASE:
        if (!release(wcp, thread, operand))
            return false;
        mr_hb_release(&wcp->hb, thread, operand);
        return true;
    case MR_OP_FORK:
        return hard_edge(wcp, thread, operand) && mr_hb_fork(&wcp->hb, thread, operand);
    default:
        return hard_edge(wcp, operand, thread) && mr_hb_join(&wcp->hb, thread, operand);
    }
}

/* Rule (a) comes first: its edges end at the access itself. */
static inline bool access(mr_detector *detector, const mr_access *access)
{
    mr_wcp *wcp = &detector->wcp;
    const mr_wcp_thread *thread = &wcp->threads[access->thread];
    uint32_t local = wcp->hb.threads[access->thread].local;
    mr_variable *variable = mr_detector_variable(detector, access->variable);
    if (!variable || (thread->held.count && !mr_wcp_access(wcp, access->thread, access->variable,
                                                           access->is_write, &variable->touch)))
        return false;
    return mr_variable_again(variable, access, local) ||
           mr_variable_access(variable, access, (mr_knowledge){{thread->before, thread->hard}},
                              local, &detector->list);
}

static inline bool synchronise(mr_detector *detector, mr_op op, uint32_t thread, uint32_t operand)
{
    return mr_wcp_sync(&detector->wcp, op, thread, operand);
}

mr_feed_end mr_wcp_feed(mr_detector *detector, const mr_events *events)
{
    return detector->options.outlook ? mr_feed_loop(detector, events, true, access, synchronise)
                                     : mr_feed_loop(detector, events, false, access, synchronise);
}
