/* sites: the part of a variable's history (history.h) that is for searching many entries: the
 * entries of each site, and the sites with which a site is open. */
#ifndef MR_ORDER_SITES_H
#define MR_ORDER_SITES_H

#include "history.h"
#include "trace/op.h"

typedef struct mr_site {
    uint32_t location;
    uint8_t op;
    uint32_t first_entry; /* any thread's; UINT32_MAX: none */
    uint64_t last_event;  /* of all its entries */
    uint32_t open_until;  /* sites below were considered for `open` */
    mr_u32s open;         /* sites with which some pair may still be wanted */
} mr_site;

typedef struct mr_site_entry {
    uint32_t site;
    uint32_t next; /* of the same site; UINT32_MAX: last */
} mr_site_entry;

struct mr_site_table {
    mr_map site_numbers; /* (operation, location) */
    mr_site *sites;
    size_t site_count, site_capacity;
    mr_site_entry *entries;
    size_t entry_capacity;
};

void mr_site_table_free(mr_site_table *table); /* NULL is fine */

/* Puts an entry into its site; entries are added in the order of their numbers. False: no memory.
 */
bool mr_site_table_add(mr_site_table *table, const mr_history *history, uint32_t entry);

static inline void mr_site_table_touch(mr_site_table *table, uint32_t entry, uint64_t event)
{
    table->sites[table->entries[entry].site].last_event = event;
}

/* As mr_history_search. */
bool mr_site_table_search(const mr_history *history, uint32_t entry, const mr_access *access,
                          mr_knowledge knowledge, mr_race_list *list);

/* Offers the pair of a past access, which is `event`, and this one. False: no memory. (history.c) */
bool mr_history_offer(const mr_past_access *first, uint64_t event, const mr_access *access,
                      mr_race_list *list);

#endif
