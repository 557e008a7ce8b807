#include "history.h"

#include <stdlib.h>
#include <string.h>

enum { KIND_READ, KIND_WRITE };

/* Making the list of open sites, in accesses looked at for each site of the variable. */
enum { LIST_COST = 4 };

/* A new access on its way. */
typedef struct arrival {
    uint32_t event, thread, variable;
    int kind;
    const mr_clock *clock;
    uint32_t accessor, access;
    uint32_t news;     /* accesses before this event have been looked at from the site before */
    size_t waste_left; /* accesses of settled pairs that may still be met on the way by thread */
} arrival;

bool mr_history_init(mr_history *history, const mr_trace *trace, mr_shb_races *races)
{
    *history = (mr_history){.pairs = {.trace = trace, .races = races}};
    history->variables = mr_calloc(trace->variables.count, sizeof(mr_accessed));
    if (!history->variables)
        return false;
    for (uint32_t variable = 0; variable < trace->variables.count; variable++)
        history->variables[variable] =
            (mr_accessed){.first_accessor = MR_NONE, .newest_site = MR_NONE, .run_thread = MR_NONE};
    return true;
}

void mr_history_free(mr_history *history)
{
    for (size_t i = 0; i < history->site_count; i++)
        mr_u32s_free(&history->sites[i].open);
    free(history->variables);
    free(history->accessors);
    free(history->accesses);
    free(history->sites);
    mr_map_free(&history->accessor_numbers);
    mr_map_free(&history->access_numbers);
    mr_map_free(&history->site_numbers);
    mr_pairs_free(&history->pairs);
    *history = (mr_history){0};
}

static bool find_accessor(mr_history *history, arrival *new)
{
    uint32_t *number =
        mr_map_at(&history->accessor_numbers, mr_map_key(new->variable, new->thread), MR_NONE);
    if (!number)
        return false;
    if (*number == MR_NONE) {
        void *items = history->accessors;
        if (!mr_grow(&items, &history->accessor_capacity, history->accessor_count + 1,
                     sizeof(mr_accessor)))
            return false;
        history->accessors = items;
        mr_accessed *variable = &history->variables[new->variable];
        *number = (uint32_t)history->accessor_count++;
        history->accessors[*number] = (mr_accessor){
            .thread = new->thread,
            .next = variable->first_accessor,
            .last = {MR_NONE, MR_NONE},
        };
        variable->first_accessor = *number;
        variable->accessor_count++;
    }
    new->accessor = *number;
    return true;
}

/* The site of the new access; both kinds get their place at once, and enter the variable's list
 * when they are first accessed. */
static bool find_site(mr_history *history, const arrival *new, uint32_t *site)
{
    uint32_t location = history->pairs.trace->location[new->event];
    uint32_t *number =
        mr_map_at(&history->site_numbers, mr_map_key(new->variable, location), MR_NONE);
    if (!number)
        return false;
    if (*number == MR_NONE) {
        void *items = history->sites;
        if (!mr_grow(&items, &history->site_capacity, history->site_count + 2, sizeof(mr_site)))
            return false;
        history->sites = items;
        *number = (uint32_t)history->site_count;
        for (int kind = 0; kind < 2; kind++)
            history->sites[history->site_count++] =
                (mr_site){.location = location, .first_access = MR_NONE, .open_until = MR_NONE};
    }
    *site = *number + (uint32_t) new->kind;
    return true;
}

static bool add_access(mr_history *history, const arrival *new, uint32_t number)
{
    uint32_t site_number;
    void *items = history->accesses;
    if (!find_site(history, new, &site_number) ||
        !mr_grow(&items, &history->access_capacity, history->access_count + 1,
                 sizeof(mr_past_access)))
        return false;
    history->accesses = items;
    mr_site *site = &history->sites[site_number];
    if (site->first_access == MR_NONE) {
        mr_accessed *variable = &history->variables[new->variable];
        site->older = variable->newest_site;
        variable->newest_site = site_number;
        variable->site_count++;
    }
    history->access_count++;
    history->accesses[number] = (mr_past_access){
        .event = MR_NONE, /* not looked at before it has one */
        .thread = new->thread,
        .site = site_number,
        .newer = MR_NONE,
        .older = MR_NONE,
        .next_of_site = site->first_access,
    };
    site->first_access = number;
    return true;
}

/* The entry of the thread at this site; a new one has event MR_NONE and is in no list of the
 * thread. */
static bool find_access(mr_history *history, arrival *new)
{
    uint64_t key = mr_map_key(new->accessor * 2 + (uint32_t) new->kind,
                              history->pairs.trace->location[new->event]);
    uint32_t *number = mr_map_at(&history->access_numbers, key, (uint32_t)history->access_count);
    if (!number)
        return false;
    new->access = *number;
    return new->access < history->access_count || add_access(history, new, new->access);
}

/* Makes the entry the latest of its list. */
static void move_to_front(mr_history *history, const arrival *new)
{
    uint32_t *front = &history->accessors[new->accessor].last[new->kind];
    mr_past_access *items = history->accesses, *item = &items[new->access];
    if (*front == new->access)
        return;
    if (item->newer != MR_NONE)
        items[item->newer].older = item->older;
    if (item->older != MR_NONE)
        items[item->older].newer = item->newer;
    item->newer = MR_NONE;
    item->older = *front;
    if (*front != MR_NONE)
        items[*front].newer = new->access;
    *front = new->access;
}

/* One list of a thread. False: no memory. Stops early when too much was met in vain. */
static bool search_list(mr_history *history, arrival *new, uint32_t access, uint32_t known)
{
    for (; access != MR_NONE; access = history->accesses[access].older) {
        const mr_past_access *item = &history->accesses[access];
        if (item->local <= known || item->event < new->news)
            return true;
        if (!mr_pairs_settled(&history->pairs, history->sites[item->site].location, new->event)) {
            if (!mr_pairs_add(&history->pairs, item->event, new->event))
                return false;
        } else if (!new->waste_left) {
            return true;
        } else {
            new->waste_left--;
        }
    }
    return true;
}

static bool search_by_thread(mr_history *history, arrival *new)
{
    uint32_t number = history->variables[new->variable].first_accessor;
    while (number != MR_NONE && new->waste_left) {
        const mr_accessor *accessor = &history->accessors[number];
        uint32_t known = mr_clock_get(new->clock, accessor->thread);
        if (accessor->thread != new->thread &&
            (!search_list(history, new, accessor->last[KIND_WRITE], known) ||
             (new->kind == KIND_WRITE &&
              !search_list(history, new, accessor->last[KIND_READ], known))))
            return false;
        number = accessor->next;
    }
    return true;
}

/* Adds the variable's sites that came since the last time to the open sites. */
static bool update_open(mr_history *history, const arrival *new, mr_site *site)
{
    uint32_t newest = history->variables[new->variable].newest_site;
    for (uint32_t other = newest; other != site->open_until; other = history->sites[other].older) {
        bool is_write = other % 2 == KIND_WRITE;
        if ((is_write || new->kind == KIND_WRITE) && !mr_u32s_push(&site->open, other))
            return false;
    }
    site->open_until = newest;
    site->has_open = true;
    site->wasted = 0;
    return true;
}

/* All accesses at one open site. False: no memory. `*raced`: there is a race. */
static bool search_site(mr_history *history, const arrival *new, uint32_t other, bool *raced)
{
    *raced = false;
    for (uint32_t access = history->sites[other].first_access; access != MR_NONE;
         access = history->accesses[access].next_of_site) {
        const mr_past_access *item = &history->accesses[access];
        if (item->thread == new->thread || item->event == MR_NONE ||
            item->local <= mr_clock_get(new->clock, item->thread))
            continue;
        *raced = true;
        if (!mr_pairs_add(&history->pairs, item->event, new->event))
            return false;
    }
    return true;
}

static bool search_by_site(mr_history *history, const arrival *new)
{
    mr_site *site = &history->sites[history->accesses[new->access].site];
    if (!update_open(history, new, site))
        return false;
    size_t kept = 0;
    for (size_t i = 0; i < site->open.count; i++) {
        uint32_t other = site->open.items[i];
        bool done = mr_pairs_settled(&history->pairs, history->sites[other].location, new->event);
        if (!done && !search_site(history, new, other, &done))
            return false;
        if (!done)
            site->open.items[kept++] = other;
    }
    site->open.count = kept;
    return true;
}

static bool search(mr_history *history, arrival *new)
{
    mr_site *site = &history->sites[history->accesses[new->access].site];
    const mr_accessed *variable = &history->variables[new->variable];
    if (site->has_open && site->open.count <= 1)
        return search_by_site(history, new);
    /* With a list: what looking by site costs. Without: as much, over all accesses together, as
     * making the list costs. One more, to tell "all used up" from "none needed". */
    size_t limit = site->has_open ? site->open.count * variable->accessor_count
                                  : LIST_COST * (size_t)variable->site_count;
    new->waste_left = limit - (site->wasted < limit ? site->wasted : limit) + 1;
    size_t waste_left = new->waste_left;
    if (!search_by_thread(history, new))
        return false;
    if (!site->has_open)
        site->wasted += waste_left - new->waste_left;
    return new->waste_left || search_by_site(history, new);
}

bool mr_history_add(mr_history *history, uint32_t event, const mr_clock *clock, uint32_t local)
{
    const mr_trace *trace = history->pairs.trace;
    arrival new = {
        .event = event,
        .thread = trace->thread[event],
        .variable = trace->operand[event],
        .kind = trace->op[event] == MR_OP_WRITE ? KIND_WRITE : KIND_READ,
        .clock = clock,
    };
    if (!find_accessor(history, &new) || !find_access(history, &new))
        return false;
    mr_accessed *variable = &history->variables[new.variable];
    if (variable->run_thread != new.thread) {
        variable->run_thread = new.thread;
        variable->run_start = event;
    }
    uint32_t last = history->accesses[new.access].event;
    new.news = last == MR_NONE ? 0 : last;
    if ((last == MR_NONE || last < variable->run_start) && !search(history, &new))
        return false;
    history->accesses[new.access].event = event;
    history->accesses[new.access].local = local;
    move_to_front(history, &new);
    return true;
}
