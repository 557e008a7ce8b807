#include "history.h"

#include "sites.h"

#include <stdlib.h>

enum { FEW = 32 }; /* entries: the bits of `settled` */

void mr_history_free(mr_history *history)
{
    if (!history)
        return;
    mr_site_table_free(history->sites);
    free(history->settled);
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

/* From few to many. */
static bool make_sites(mr_history *history)
{
    free(history->settled);
    history->settled = NULL;
    history->sites = mr_calloc(1, sizeof *history->sites);
    if (!history->sites)
        return false;
    for (uint32_t entry = 0; entry < history->count; entry++) {
        uint32_t *place = mr_site_table_find(history->sites, &history->items[entry], entry);
        if (!place || !mr_site_table_add(history->sites, &history->items[entry], entry))
            return false;
    }
    return true;
}

static bool find_of_many(mr_history **history, uint32_t location, uint32_t actor, uint32_t *entry)
{
    mr_past_access wanted = {.location = location, .actor = actor};
    uint32_t *place = mr_site_table_find((*history)->sites, &wanted, (*history)->count);
    if (!place)
        return false;
    *entry = *place;
    return *entry < (*history)->count || (append(history, location, actor) &&
                                          mr_site_table_add((*history)->sites, &wanted, *entry));
}

static bool find_of_few(mr_history **history, uint32_t location, uint32_t actor, uint32_t *entry)
{
    uint32_t count = *history ? (*history)->count : 0;
    for (*entry = 0; *entry < count; ++*entry)
        if (matches(&(*history)->items[*entry], location, actor))
            return true;
    if (count < FEW)
        return append(history, location, actor);
    return make_sites(*history) && find_of_many(history, location, actor, entry);
}

bool mr_history_find(mr_history **history, const mr_access *access, uint32_t *entry)
{
    uint32_t location = access->location, actor = access->thread * 2 + access->is_write;
    if (*history && matches(&(*history)->items[(*history)->recent], location, actor)) {
        *entry = (*history)->recent;
        return true;
    }
    bool many = *history && (*history)->sites;
    if (!(many ? find_of_many(history, location, actor, entry)
               : find_of_few(history, location, actor, entry)))
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
        .first = {first->event, first->actor / 2, first->location,
                  first->actor % 2 ? MR_OP_WRITE : MR_OP_READ},
        .second = {access->event, access->thread, access->location,
                   access->is_write ? MR_OP_WRITE : MR_OP_READ},
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
        if (item->actor / 2 == access->thread || !(access->is_write || item->actor % 2)) {
            *settled |= UINT32_C(1) << other;
            continue;
        }
        if (item->event < news || mr_knows(knowledge, item->actor / 2, item->local))
            continue;
        if (mr_race_list_settled(list, item->location, access->location, access->event))
            *settled |= UINT32_C(1) << other;
        else if (!mr_history_offer(item, access, list))
            return false;
    }
    return true;
}

bool mr_history_search(mr_history *history, uint32_t entry, const mr_access *access,
                       mr_knowledge knowledge, mr_race_list *list)
{
    return history->sites ? mr_site_table_search(history, entry, access, knowledge, list)
                          : search_few(history, entry, access, knowledge, list);
}
