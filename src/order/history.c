#include "history.h"

#include "sites.h"

#include <stdlib.h>

enum {
    ADJACENT = 10, /* entries that are looked through: up to three cache lines */
    FEW = 32,      /* entries: the bits of `settled` */
};

void mr_history_free(mr_history *history)
{
    if (!history)
        return;
    mr_site_table_free(history->sites);
    free(history->slots);
    free(history->settled);
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
        grown->capacity = capacity;
        *history = grown;
    }
    grown->items[grown->count++] = (mr_past_access){.location = location, .actor = actor};
    return true;
}

static uint32_t hash(uint32_t location, uint32_t actor)
{
    uint64_t key = mr_map_key(actor, location) * UINT64_C(0x9e3779b97f4a7c15);
    key = (key ^ key >> 29) * UINT64_C(0xd6e8feb86659fd93);
    return (uint32_t)(key >> 32);
}

/* The slot of the entry, or the free one where it belongs. */
static uint32_t *find_slot(const mr_history *history, uint32_t location, uint32_t actor)
{
    uint32_t mask = history->slot_count - 1, slot = hash(location, actor) & mask;
    while (history->slots[slot] &&
           !matches(&history->items[history->slots[slot] - 1], location, actor))
        slot = (slot + 1) & mask;
    return &history->slots[slot];
}

/* Room in the hash table for one entry more. */
static bool grow_slots(mr_history *history)
{
    if (history->count < history->slot_count / 3 * 2)
        return true;
    uint32_t slot_count = history->slot_count ? history->slot_count * 2 : 4 * ADJACENT;
    while (slot_count & (slot_count - 1))
        slot_count += slot_count & -slot_count;
    uint32_t *slots = mr_calloc(slot_count, sizeof *slots);
    if (!slots)
        return false;
    free(history->slots);
    history->slots = slots;
    history->slot_count = slot_count;
    for (uint32_t entry = 0; entry < history->count; entry++) {
        const mr_past_access *item = &history->items[entry];
        *find_slot(history, item->location, item->actor) = entry + 1;
    }
    return true;
}

static bool find_by_hash(mr_history **history, uint32_t location, uint32_t actor, uint32_t *entry)
{
    if (!grow_slots(*history))
        return false;
    uint32_t *slot = find_slot(*history, location, actor);
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

bool mr_history_find(mr_history **history, const mr_access *access, uint32_t *entry)
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

void mr_history_note(mr_history *history, uint32_t entry, uint32_t event, uint32_t local)
{
    history->items[entry].event = event;
    history->items[entry].local = local;
    if (history->sites)
        mr_site_table_touch(history->sites, entry, event);
}

bool mr_history_offer(const mr_past_access *first, const mr_access *access, mr_race_list *list)
{
    mr_race_example pair = {
        .variable = access->variable,
        .first = {first->event, mr_past_thread(first), first->location, mr_past_op(first)},
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
    uint32_t *settled = &history->settled[entry], news = history->items[entry].event;
    uint32_t open = ~*settled & (uint32_t)((UINT64_C(1) << history->count) - 1);
    for (; open; open &= open - 1) {
        uint32_t other = (uint32_t)__builtin_ctz(open);
        const mr_past_access *item = &history->items[other];
        if (mr_past_thread(item) == access->thread ||
            !mr_ops_conflict(access->op, mr_past_op(item))) {
            *settled |= UINT32_C(1) << other;
            continue;
        }
        if (item->event < news || mr_knows(knowledge, mr_past_thread(item), item->local))
            continue;
        if (mr_race_list_settled(list, item->location, access->location, access->event))
            *settled |= UINT32_C(1) << other;
        else if (!mr_history_offer(item, access, list))
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
