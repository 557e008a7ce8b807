#include "hybrid.h"

#include "base/assert.h"
#include "base/memory.h"
#include "feed.h"
#include "sites.h"

#include <stdlib.h>

enum { ADJACENT = 10 }; /* items that are looked through without a table */

void mr_hybrid_free(mr_hybrid_history *history, mr_clock_pool *pool)
{
    if (!history)
        return;
    for (uint32_t i = 0; i < history->count; i++)
        mr_clock_drop(pool, &history->items[i].clock);
    mr_table_free(&history->table);
    free(history);
}

/* ---- what is kept of a variable ---- */

static bool is_same(const mr_locked_access *item, const mr_locked_access *wanted)
{
    return item->access.location == wanted->access.location &&
           item->access.actor == wanted->access.actor && item->lock_set == wanted->lock_set;
}

static bool same(const void *items, uint32_t number, const void *key)
{
    return is_same((const mr_locked_access *)items + number, key);
}

static uint32_t hash_of(const void *items, uint32_t number)
{
    const mr_locked_access *item = (const mr_locked_access *)items + number;
    uint64_t key = mr_map_key(item->access.actor, item->access.location);
    return mr_table_hash_u64(key ^ (uint64_t)item->lock_set * UINT64_C(0xc2b2ae3d27d4eb4f));
}

/* Appends an access that has not happened. */
static bool append(mr_hybrid_history **history, const mr_locked_access *item)
{
    mr_hybrid_history *grown = *history;
    if (!grown || grown->count == grown->capacity) {
        uint32_t capacity = grown ? grown->capacity * 2 : 2;
        size_t size_bytes = sizeof *grown + (size_t)capacity * sizeof grown->items[0];
        grown = mr_realloc(grown, size_bytes, 1);
        if (!grown)
            return false;
        if (!*history)
            *grown = (mr_hybrid_history){0};
        grown->capacity = capacity;
        *history = grown;
    }
    grown->items[grown->count++] = *item;
    return true;
}

static bool find_by_hash(mr_hybrid_history **history, const mr_locked_access *wanted,
                         uint32_t *number)
{
    mr_hybrid_history *self = *history;
    if (!mr_table_reserve(&self->table, self->count + 1, hash_of, self->items, self->count))
        return false;
    uint32_t *slot = mr_table_slot(&self->table, hash_of(wanted, 0), same, self->items, wanted);
    if (!*slot) {
        *slot = self->count + 1;
        *number = self->count;
        return append(history, wanted);
    }
    *number = *slot - 1;
    return true;
}

/* The item of the access, made when there is none: it has local time 0 then. */
static bool find(mr_hybrid_history **history, const mr_locked_access *wanted, uint32_t *number)
{
    mr_hybrid_history *self = *history;
    uint32_t count = self ? self->count : 0;
    if (self && is_same(&self->items[self->recent], wanted)) {
        *number = self->recent;
        return true;
    }
    if (count >= ADJACENT) {
        if (!find_by_hash(history, wanted, number))
            return false;
    } else {
        for (*number = 0; *number < count && !is_same(&self->items[*number], wanted);)
            ++*number;
        if (*number == count && !append(history, wanted))
            return false;
    }
    (*history)->recent = *number;
    return true;
}

/* Offers the pairs of the access with all before it that it may race with. */
static bool search(mr_detector *detector, const mr_hybrid_history *history, uint32_t lock_set,
                   const mr_access *access, bool *racy)
{
    const mr_lock_sets *sets = &detector->lock_sets;
    mr_knowledge knowledge = {{detector->wcp.hb.threads[access->thread].clock, NULL}};
    *racy = false;
    for (uint32_t i = 0; i < history->count; i++) {
        const mr_past_access *past = &history->items[i].access;
        uint32_t thread = mr_past_thread(past);
        if (thread == access->thread || !mr_ops_conflict(mr_past_op(past), access->op) ||
            mr_knows(knowledge, thread, past->local) ||
            mr_lock_sets_exclude(sets, history->items[i].lock_set, lock_set))
            continue;
        *racy = true;
        uint64_t event = mr_event_of(past->event_low, history->items[i].event_high);
        if (!mr_history_offer(past, event, access, &detector->list))
            return false;
    }
    return true;
}

/* Is the answer about the last access of this kind that about this one, too? Then each of its pairs
 * was offered with that one; more of them are wanted when several examples are kept. */
static bool is_known(const mr_detector *detector, const mr_hybrid_history *history,
                     const mr_locked_access *item, const mr_clock *clock)
{
    return item->access.local && item->version == history->version && item->clock == clock &&
           (!item->racy || detector->list.most_examples == 1);
}

/* Judges an access of a variable, and keeps it. */
static bool take(mr_detector *detector, const mr_access *access)
{
    const mr_hb_thread *thread = &detector->wcp.hb.threads[access->thread];
    mr_variable *variable = mr_detector_variable(detector, access->variable);
    mr_locked_access wanted = {.access = {.location = access->location,
                                          .actor = access->thread * MR_ACTOR_OPS + access->op}};
    uint32_t number;
    if (!variable || !mr_lock_sets_now(&detector->lock_sets, access->thread, &wanted.lock_set) ||
        !find(&variable->past, &wanted, &number))
        return false;
    mr_hybrid_history *history = variable->past;
    mr_locked_access *item = &history->items[number];
    if (!is_known(detector, history, item, thread->clock) &&
        !search(detector, history, wanted.lock_set, access, &item->racy))
        return false;
    if (item->racy &&
        !mr_race_list_racy(&detector->list, access->event, access->location, access->variable))
        return false;
    history->version += item->access.local != thread->local;
    item->access.event_low = (uint32_t)access->event;
    item->event_high = (uint8_t)(access->event >> MR_EVENT_HIGH_SHIFT);
    item->access.local = thread->local;
    item->version = history->version;
    mr_clock_set(&detector->wcp.hb.pool, &item->clock, thread->clock);
    return true;
}

MR_INLINE bool access(mr_detector *detector, const mr_access *access)
{
    return take(detector, access);
}

static bool atomic(mr_detector *detector, const mr_access *access, bool contended)
{
    return !contended || take(detector, access);
}

/* Locks change lock sets only. A thread without events hands over nothing: its join need not come
 * after its fork (docs/semantics.md 2, rule 3). */
static bool sync(mr_detector *detector, mr_op op, uint32_t thread, uint32_t operand)
{
    if (mr_op_joins((uint8_t)op) && !detector->lock_sets.holders[operand].has_events)
        return true;
    return mr_op_forks((uint8_t)op) || mr_op_joins((uint8_t)op)
               ? mr_hb_sync(&detector->wcp.hb, op, thread, operand)
               : mr_lock_sets_change(&detector->lock_sets, op, thread, operand);
}

/* A write of each variable of the object. */
static bool free_object(mr_detector *detector, const mr_access *access)
{
    uint32_t at = mr_detector_first_freed(detector, access->variable);
    for (; at; at = mr_detector_next_freed(detector, at)) {
        mr_access one = mr_free_of(access, at);
        if (!take(detector, &one))
            return false;
    }
    return true;
}

mr_feed_end mr_hybrid_feed(mr_detector *detector, const mr_events *events)
{
    /* All of them beforehand: a thread has no event after its join. */
    for (uint32_t row = 0; row < events->count; row++)
        detector->lock_sets.holders[events->thread[row]].has_events = true;
    return mr_feed(detector, events, access, atomic, sync, free_object);
}
