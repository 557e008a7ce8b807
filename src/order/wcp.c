#include "wcp.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { KIND_READ, KIND_WRITE };

bool mr_wcp_init(mr_wcp *wcp, const mr_trace *trace)
{
    uint32_t threads = trace->threads.count;
    *wcp = (mr_wcp){0};
    if (!mr_hb_init(&wcp->hb, trace) ||
        !mr_sections_init(&wcp->sections, trace, &wcp->hb.sharing, &wcp->hb.pool))
        return false;
    wcp->before = mr_calloc(threads, sizeof(mr_clock *));
    wcp->hard = mr_calloc(threads, sizeof(mr_clock *));
    wcp->release_before = mr_calloc(trace->locks.count, sizeof(mr_clock *));
    wcp->held = mr_calloc(threads, sizeof(mr_held_list));
    return wcp->before && wcp->hard && wcp->release_before && wcp->held;
}

static void drop_clocks(mr_clock_pool *pool, mr_clock **clocks, uint32_t count)
{
    for (uint32_t i = 0; clocks && i < count; i++)
        mr_clock_drop(pool, &clocks[i]);
    free(clocks);
}

void mr_wcp_free(mr_wcp *wcp)
{
    mr_clock_pool *pool = &wcp->hb.pool;
    uint32_t threads = wcp->hb.trace->threads.count;
    drop_clocks(pool, wcp->before, threads);
    drop_clocks(pool, wcp->hard, threads);
    drop_clocks(pool, wcp->release_before, wcp->hb.trace->locks.count);
    for (uint32_t thread = 0; wcp->held && thread < threads; thread++)
        free(wcp->held[thread].items);
    free(wcp->held);
    free(wcp->touches);
    mr_map_free(&wcp->touch_numbers);
    mr_sections_free(&wcp->sections);
    mr_hb_free(&wcp->hb);
}

/* The clock alone, without a local time: what is ≺-before something, not that thing itself. */
static mr_time only(mr_clock *clock)
{
    return (mr_time){.clock = clock};
}

static mr_touch *find_touch(mr_wcp *wcp, uint32_t lock, uint32_t variable)
{
    uint32_t *number = mr_map_at(&wcp->touch_numbers, mr_map_key(lock, variable), MR_NONE);
    if (!number)
        return NULL;
    if (*number == MR_NONE) {
        void *touches = wcp->touches;
        if (!mr_grow(&touches, &wcp->touch_capacity, wcp->touch_count + 1, sizeof(mr_touch)))
            return NULL;
        wcp->touches = touches;
        *number = (uint32_t)wcp->touch_count++;
        wcp->touches[*number] = (mr_touch){{MR_NONE, MR_NONE}, {MR_NONE, MR_NONE}};
    }
    return &wcp->touches[*number];
}

/* Rule (a) for one kind of earlier access: joins the last section of another thread that made it.
 */
static bool follow_conflict(mr_wcp *wcp, const mr_touch *touch, int kind, uint32_t thread)
{
    const mr_sections *sections = &wcp->sections;
    uint32_t section = touch->last[kind];
    if (section != MR_NONE && sections->items[section].thread == thread)
        section = touch->other[kind];
    return section == MR_NONE ||
           mr_clock_learn(&wcp->hb.pool, &wcp->before[thread], mr_section_time(sections, section));
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

static bool access(mr_wcp *wcp, uint32_t thread, uint32_t variable, int kind)
{
    const mr_held_list *held = &wcp->held[thread];
    if (!held->count || !wcp->hb.sharing.variable_contended[variable])
        return true;
    for (size_t i = 0; i < held->count; i++) {
        mr_touch *touch = find_touch(wcp, held->items[i].lock, variable);
        if (!touch)
            return false;
        /* Nobody else can have been in this lock since the section's own last access. */
        if (touch->last[kind] == held->items[i].section)
            continue;
        if (!follow_conflict(wcp, touch, KIND_WRITE, thread) ||
            (kind == KIND_WRITE && !follow_conflict(wcp, touch, KIND_READ, thread)))
            return false;
        note_touch(&wcp->sections, touch, kind, held->items[i].section);
    }
    return true;
}

static bool acquire(mr_wcp *wcp, uint32_t thread, uint32_t lock)
{
    const mr_hb *hb = &wcp->hb;
    const mr_time *last = &hb->release[lock];
    bool known =
        last->thread == thread || mr_clock_get(hb->clock[thread], last->thread) >= last->local;
    if (!known &&
        !mr_clock_join(&wcp->hb.pool, &wcp->before[thread], only(wcp->release_before[lock])))
        return false;
    mr_held_list *held = &wcp->held[thread];
    void *items = held->items;
    if (!mr_grow(&items, &held->capacity, held->count + 1, sizeof(mr_held)))
        return false;
    held->items = items;
    uint32_t section;
    if (!mr_section_open(&wcp->sections, lock, thread, hb->local[thread], &section))
        return false;
    held->items[held->count++] = (mr_held){lock, section};
    return true;
}

static uint32_t take_held(mr_held_list *held, uint32_t lock)
{
    size_t i = held->count;
    while (i && held->items[i - 1].lock != lock)
        i--;
    assert(i > 0);
    uint32_t section = held->items[i - 1].section;
    memmove(&held->items[i - 1], &held->items[i], (held->count - i) * sizeof(mr_held));
    held->count--;
    return section;
}

/* Passes the sections of other threads whose acquire is ≺-before the thread's last event; the last
 * one passed, or MR_NONE. Its own are skipped. */
static uint32_t pass_sections(mr_wcp *wcp, mr_lock_user *user, uint32_t lock)
{
    uint32_t section, passed = MR_NONE;
    while ((section = mr_sections_at(&wcp->sections, lock, user->cursor)) != MR_NONE) {
        const mr_section *item = &wcp->sections.items[section];
        if (item->thread != user->thread) {
            if (mr_clock_get(wcp->before[user->thread], item->thread) < item->acquired)
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
    mr_lock_user *user = mr_sections_user(&wcp->sections, lock, thread);
    uint32_t section = take_held(&wcp->held[thread], lock);
    /* Rule (b). One pass is enough: what the last section brings is older than the next acquire. */
    uint32_t passed = pass_sections(wcp, user, lock);
    if (passed != MR_NONE &&
        !mr_clock_learn(&hb->pool, &wcp->before[thread], mr_section_time(&wcp->sections, passed))) {
        mr_section_drop(&wcp->sections, section);
        return false;
    }
    mr_clock_set(&hb->pool, &wcp->release_before[lock], wcp->before[thread]);
    return mr_section_close(&wcp->sections, lock, section, mr_hb_now(hb, thread));
}

/* P and K along a fork or join, from the time of `from` to `thread`. */
static bool hard_edge(mr_wcp *wcp, uint32_t from, uint32_t thread)
{
    mr_clock_pool *pool = &wcp->hb.pool;
    mr_time hard = {wcp->hard[from], from, wcp->hb.local[from]};
    return mr_clock_join(pool, &wcp->before[thread], only(wcp->before[from])) &&
           mr_clock_learn(pool, &wcp->hard[thread], hard);
}

bool mr_wcp_step(mr_wcp *wcp, uint32_t event)
{
    const mr_trace *trace = wcp->hb.trace;
    uint32_t thread = trace->thread[event], operand = trace->operand[event];
    bool ok = true;
    switch (trace->op[event]) {
    case MR_OP_READ:
    case MR_OP_WRITE:
        ok = access(wcp, thread, operand, trace->op[event] == MR_OP_WRITE ? KIND_WRITE : KIND_READ);
        break;
    case MR_OP_ACQUIRE:
        if (mr_sharing_synchronises(&wcp->hb.sharing, trace, event))
            ok = acquire(wcp, thread, operand);
        break;
    case MR_OP_RELEASE:
        if (mr_sharing_synchronises(&wcp->hb.sharing, trace, event))
            ok = release(wcp, thread, operand);
        break;
    case MR_OP_FORK:
        ok = hard_edge(wcp, thread, operand);
        break;
    case MR_OP_JOIN:
        ok = hard_edge(wcp, operand, thread);
        break;
    default:
        break;
    }
    return ok && mr_hb_step(&wcp->hb, event);
}
