#include "sites.h"

#include <stdlib.h>

static const uint32_t none = UINT32_MAX;

void mr_site_table_free(mr_site_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->site_count; i++)
        mr_u32s_free(&table->sites[i].open);
    mr_map_free(&table->site_numbers);
    free(table->sites);
    free(table->entries);
    free(table);
}

static bool get_site(mr_site_table *table, const mr_past_access *access, uint32_t *site)
{
    uint8_t op = mr_past_op(access);
    uint32_t *number = mr_map_at(&table->site_numbers, mr_map_key(op, access->location), none);
    if (!number)
        return false;
    if (*number == none) {
        void *sites = table->sites;
        if (!mr_grow(&sites, &table->site_capacity, table->site_count + 1, sizeof(mr_site)))
            return false;
        table->sites = sites;
        *number = (uint32_t)table->site_count++;
        table->sites[*number] =
            (mr_site){.location = access->location, .op = op, .first_entry = none};
    }
    *site = *number;
    return true;
}

bool mr_site_table_add(mr_site_table *table, const mr_history *history, uint32_t entry)
{
    const mr_past_access *access = &history->items[entry];
    uint32_t number;
    void *entries = table->entries;
    if (!mr_grow(&entries, &table->entry_capacity, (size_t)entry + 1, sizeof(mr_site_entry)))
        return false;
    table->entries = entries;
    if (!get_site(table, access, &number))
        return false;
    mr_site *site = &table->sites[number];
    table->entries[entry] = (mr_site_entry){number, site->first_entry};
    site->first_entry = entry;
    if (mr_history_event(history, entry) > site->last_event)
        site->last_event = mr_history_event(history, entry);
    return true;
}

/* Looks at the sites that were added since the last call. */
static bool update_open(const mr_site_table *table, mr_site *site)
{
    for (; site->open_until < table->site_count; site->open_until++)
        if (mr_ops_conflict(site->op, table->sites[site->open_until].op) &&
            !mr_u32s_push(&site->open, site->open_until))
            return false;
    return true;
}

static bool search_site(const mr_history *history, uint32_t first_entry, uint64_t news,
                        const mr_access *access, mr_knowledge knowledge, mr_race_list *list)
{
    for (uint32_t entry = first_entry; entry != none; entry = history->sites->entries[entry].next) {
        const mr_past_access *item = &history->items[entry];
        uint64_t event = mr_history_event(history, entry);
        if (mr_past_thread(item) != access->thread && event >= news &&
            !mr_knows(knowledge, mr_past_thread(item), item->local) &&
            !mr_history_offer(item, event, access, list))
            return false;
    }
    return true;
}

bool mr_site_table_search(const mr_history *history, uint32_t entry, const mr_access *access,
                          mr_knowledge knowledge, mr_race_list *list)
{
    const mr_site_table *table = history->sites;
    mr_site *site = &table->sites[table->entries[entry].site];
    uint64_t news = mr_history_news(history, entry, access->thread, knowledge);
    if (!update_open(table, site))
        return false;
    size_t kept = 0;
    for (size_t i = 0; i < site->open.count; i++) {
        uint32_t other = site->open.items[i];
        const mr_site *there = &table->sites[other];
        if (there->last_event >= news) {
            if (mr_race_list_settled(list, there->location, access->location, access->event))
                continue;
            if (!search_site(history, there->first_entry, news, access, knowledge, list))
                return false;
        }
        site->open.items[kept++] = other;
    }
    site->open.count = kept;
    return true;
}
