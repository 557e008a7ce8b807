#include "history.h"

#include "base/assert.h"
#include "sites.h"

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
static bool widen_highs(mr_history *history, uint32_t capacity, mr_slab *slab)
{
    uint32_t old = history->highs ? history->capacity : 0;
    uint8_t *highs = mr_slab_take(slab, capacity);
    if (!highs)
        return false;
    if (old)
        memcpy(highs, history->highs, old);
    memset(highs + old, 0, capacity - old);
    mr_slab_give(slab, history->highs, old);
    history->highs = highs;
    return true;
}

static size_t size_of(uint32_t capacity)
{
    return sizeof(mr_history) + (size_t)capacity * sizeof(mr_past_access);
}

/* Makes room for one more entry. */
static bool grow(mr_history **history, mr_slab *slab)
{
    mr_history *old = *history;
    uint32_t capacity = old ? old->capacity * 2 : 4;
    if (old && old->highs && !widen_highs(old, capacity, slab))
        return false;
    mr_history *grown = mr_slab_take(slab, size_of(capacity));
    if (!grown)
        return false;
    if (old) {
        memcpy(grown, old, size_of(old->count));
        mr_slab_give(slab, old, size_of(old->capacity));
    } else {
        *grown = (mr_history){0};
    }
    grown->capacity = capacity;
    *history = grown;
    return true;
}

/* Appends an entry without event. */
static bool append(mr_history **history, uint32_t location, uint32_t actor, mr_slab *slab)
{
    if ((!*history || (*history)->count == (*history)->capacity) && !grow(history, slab))
        return false;
    mr_history *self = *history;
    self->items[self->count++] = (mr_past_access){.location = location, .actor = actor};
    return true;
}

static uint32_t hash_of(const void *items, uint32_t entry)
{
    const mr_past_access *item = (const mr_past_access *)items + entry;
    return mr_table_hash_u64(mr_map_key(item->actor, item->location));
}

static bool find_by_hash(mr_history **history, uint32_t location, uint32_t actor, uint32_t *entry,
                         mr_slab *slab)
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
    if (!append(history, location, actor, slab))
        return false;
    *slot = *entry + 1;
    return !(*history)->sites || mr_site_table_add((*history)->sites, *history, *entry);
}

static bool find_adjacent(mr_history **history, uint32_t location, uint32_t actor, uint32_t *entry,
                          mr_slab *slab)
{
    uint32_t count = *history ? (*history)->count : 0;
    for (*entry = 0; *entry < count; ++*entry)
        if (matches(&(*history)->items[*entry], location, actor))
            return true;
    return append(history, location, actor, slab);
}

static bool find(mr_history **history, const mr_access *access, uint32_t *entry, mr_slab *slab)
{
    uint32_t location = access->location, actor = access->thread * MR_ACTOR_OPS + access->op;
    /* The high bits of the product differ between threads that take turns, and reads beside writes. */
    uint32_t mixed = actor * UINT32_C(0x9e3779b1) >> 28;
    uint32_t place = (location ^ mixed) % MR_HISTORY_RECENT;
    if (*history) {
        *entry = (*history)->recent[place];
        if (matches(&(*history)->items[*entry], location, actor))
            return true;
    }
    bool hashed = *history && (*history)->count >= ADJACENT;
    if (!(hashed ? find_by_hash(history, location, actor, entry, slab)
                 : find_adjacent(history, location, actor, entry, slab)))
        return false;
    if (*entry <= UINT8_MAX)
        (*history)->recent[place] = (uint8_t)*entry;
    return true;
}

bool mr_history_find(mr_history **history, const mr_access *access, uint32_t *entry, mr_slab *slab)
{
    return find(history, access, entry, slab) &&
           (!(access->event >> MR_EVENT_HIGH_SHIFT) || (*history)->highs ||
            widen_highs(*history, (*history)->capacity, slab));
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

static bool make_settled(mr_history *history, mr_slab *slab)
{
    const size_t size_bytes = FEW * sizeof *history->settled;
    history->settled = mr_slab_take(slab, size_bytes);
    if (history->settled)
        memset(history->settled, 0, size_bytes);
    return history->settled != NULL;
}

static bool search_few(mr_history *history, uint32_t entry, const mr_access *access,
                       mr_knowledge knowledge, mr_race_list *list)
{
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
static bool make_sites(mr_history *history, mr_slab *slab)
{
    mr_slab_give(slab, history->settled, FEW * sizeof *history->settled);
    history->settled = NULL;
    history->sites = mr_calloc(1, sizeof *history->sites);
    for (uint32_t entry = 0; history->sites && entry < history->count; entry++)
        if (!mr_site_table_add(history->sites, history, entry))
            return false;
    return history->sites != NULL;
}

bool mr_history_search(mr_history *history, uint32_t entry, const mr_access *access,
                       mr_knowledge knowledge, mr_race_list *list, mr_slab *slab)
{
    if (history->count <= FEW)
        return (history->settled || make_settled(history, slab)) &&
               search_few(history, entry, access, knowledge, list);
    return (history->sites || make_sites(history, slab)) &&
           mr_site_table_search(history, entry, access, knowledge, list);
}
