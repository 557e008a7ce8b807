#include "history.h"

#include "base/assert.h"
#include "sites.h"

#include <stdlib.h>
#include <string.h>

enum {
    ADJACENT = 10, /* entries that are looked through: up to three cache lines */
    FEW = 32,      /* entries: the bits of `settled` */
};

void mr_history_free(mr_history *history)
{
    if (!history)
        return;
    mr_site_table_free(history->sites);
    mr_table_free(&history->table);
    free(history->settled);
    free(history->highs);
    if (history->atomics) {
        mr_front_free(&history->atomics->writes);
        mr_front_free(&history->atomics->reads);
        free(history->atomics);
    }
    free(history);
}

static bool matches(const mr_past_access *item, uint32_t location, uint32_t actor)
{
    return item->location == location && item->actor == actor;
}

static bool same(const void *items, uint32_t entry, const void *key)
{
    const mr_past_access *item = (const mr_past_access *)items + entry, *wanted = key;
    return matches(item, wanted->location, wanted->actor);
}

/* High bits for `capacity` entries; those from `capacity` of the history on are 0. */
static bool widen_highs(mr_history *history, uint32_t capacity)
{
    uint32_t old = history->highs ? history->capacity : 0;
    uint8_t *highs = mr_realloc(history->highs, capacity, 1);
    if (!highs)
        return false;
    memset(highs + old, 0, capacity - old);
    history->highs = highs;
    return true;
}

/* Appends an entry without event. */
static bool append(mr_history **history, uint32_t location, uint32_t actor)
{
    mr_history *grown = *history;
    if (!grown || grown->count == grown->capacity) {
        uint32_t capacity = grown ? grown->capacity * 2 : 4;
        size_t size_bytes = sizeof *grown + (size_t)capacity * sizeof grown->items[0];
        grown = mr_realloc(grown, size_bytes, 1);
        if (!grown)
            return false;
        if (!*history)
            *grown = (mr_history){0};
        *history = grown;
        if (grown->highs && !widen_highs(grown, capacity))
            return false;
        grown->capacity = capacity;
    }
    grown->items[grown->count++] = (mr_past_access){.location = location, .actor = actor};
    return true;
}

static uint32_t hash_of(const void *items, uint32_t entry)
{
    const mr_past_access *item = (const mr_past_access *)items + entry;
    return mr_table_hash_u64(mr_map_key(item->actor, item->location));
}

static bool find_by_hash(mr_history **history, uint32_t location, uint32_t actor, uint32_t *entry)
{
    mr_history *self = *history;
    if (!mr_table_reserve(&self->table, self->count + 1, hash_of, self->items, self->count))
        return false;
    const mr_past_access wanted = {.location = location, .actor = actor};
    uint32_t *slot = mr_table_slot(&self->table, hash_of(&wanted, 0), same, self->items, &wanted);
    *entry = *slot - 1;
    if (*slot)
        return true;
    *entry = (*history)->count;
    if (!append(history, location, actor))
        return false;
    *slot = *entry + 1;
    return !(*history)->sites || mr_site_table_add((*history)->sites, *history, *entry);
}

static bool find_adjacent(mr_history **history, uint32_t location, uint32_t actor, uint32_t *entry)
{
    uint32_t count = *history ? (*history)->count : 0;
    for (*entry = 0; *entry < count; ++*entry)
        if (matches(&(*history)->items[*entry], location, actor))
            return true;
    return append(history, location, actor);
}

static bool find(mr_history **history, const mr_access *access, uint32_t *entry)
{
    uint32_t location = access->location, actor = access->thread * MR_ACTOR_OPS + access->op;
    if (*history && matches(&(*history)->items[(*history)->recent], location, actor)) {
        *entry = (*history)->recent;
        return true;
    }
    bool hashed = *history && (*history)->count >= ADJACENT;
    if (!(hashed ? find_by_hash(history, location, actor, entry)
                 : find_adjacent(history, location, actor, entry)))
        return false;
    (*history)->recent = *entry;
    return true;
}

bool mr_history_find(mr_history **history, const mr_access *access, uint32_t *entry)
{
    return find(history, access, entry) &&
           (!(access->event >> MR_EVENT_HIGH_SHIFT) || (*history)->highs ||
            widen_highs(*history, (*history)->capacity));
}

void mr_history_note(mr_history *history, uint32_t entry, uint64_t event, uint32_t local)
{
    mr_past_access *item = &history->items[entry];
    MR_ASSERT_COSTLY(entry < history->count && mr_history_event(history, entry) <= event &&
                     item->local <= local);
    MR_ASSERT(event < MR_EVENTS_MOST && (history->highs || !(event >> MR_EVENT_HIGH_SHIFT)));
    item->event_low = (uint32_t)event;
    if (history->highs)
        history->highs[entry] = (uint8_t)(event >> MR_EVENT_HIGH_SHIFT);
    item->local = local;
    if (history->sites)
        mr_site_table_touch(history->sites, entry, event);
}

bool mr_history_offer(const mr_past_access *first, uint64_t event, const mr_access *access,
                      mr_race_list *list)
{
    MR_ASSERT(event < access->event && mr_past_thread(first) != access->thread);
    MR_ASSERT(mr_ops_conflict(mr_past_op(first), access->op));
    mr_race_example pair = {
        .variable = access->variable,
        .first = {event, mr_past_thread(first), first->location, mr_past_op(first)},
        .second = {access->event, access->thread, access->location, access->op},
    };
    return mr_race_list_add(list, &pair);
}

static bool search_few(mr_history *history, uint32_t entry, const mr_access *access,
                       mr_knowledge knowledge, mr_race_list *list)
{
    if (!history->settled) {
        history->settled = mr_calloc(FEW, sizeof *history->settled);
        if (!history->settled)
            return false;
    }
    uint32_t *settled = &history->settled[entry];
    uint64_t news = mr_history_news(history, entry, access->thread, knowledge);
    uint32_t open = ~*settled & (uint32_t)((UINT64_C(1) << history->count) - 1);
    for (; open; open &= open - 1) {
        uint32_t other = (uint32_t)__builtin_ctz(open);
        const mr_past_access *item = &history->items[other];
        if (mr_past_thread(item) == access->thread ||
            !mr_ops_conflict(access->op, mr_past_op(item))) {
            *settled |= UINT32_C(1) << other;
            continue;
        }
        uint64_t event = mr_history_event(history, other);
        if (event < news || mr_knows(knowledge, mr_past_thread(item), item->local))
            continue;
        if (mr_race_list_settled(list, item->location, access->location, access->event))
            *settled |= UINT32_C(1) << other;
        else if (!mr_history_offer(item, event, access, list))
            return false;
    }
    return true;
}

/* From few to many. */
static bool make_sites(mr_history *history)
{
    free(history->settled);
    history->settled = NULL;
    history->sites = mr_calloc(1, sizeof *history->sites);
    for (uint32_t entry = 0; history->sites && entry < history->count; entry++)
        if (!mr_site_table_add(history->sites, history, entry))
            return false;
    return history->sites != NULL;
}

bool mr_history_search(mr_history *history, uint32_t entry, const mr_access *access,
                       mr_knowledge knowledge, mr_race_list *list)
{
    if (history->count <= FEW)
        return search_few(history, entry, access, knowledge, list);
    return (history->sites || make_sites(history)) &&
           mr_site_table_search(history, entry, access, knowledge, list);
}
