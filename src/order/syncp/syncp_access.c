#include "syncp_access.h"

#include <stdlib.h>

bool mr_syncp_accesses_init(mr_syncp_accesses *accesses, uint32_t variable_count)
{
    *accesses = (mr_syncp_accesses){0};
    accesses->variables = mr_calloc(variable_count, sizeof *accesses->variables);
    return accesses->variables != NULL;
}

/* The variable, which nobody has looked at before its first access: memory is taken for contended ones only. */
static mr_syncp_variable *reach_variable(mr_syncp_accesses *accesses, uint32_t variable)
{
    mr_syncp_variable *v = &accesses->variables[variable];
    if (!v->accessor_count)
        *v = (mr_syncp_variable){.first_accessor = MR_NONE,
                                 .recent = MR_NONE,
                                 .newest_site = MR_NONE,
                                 .freed = MR_NONE,
                                 .recent_site = {MR_NONE, MR_NONE, MR_NONE, MR_NONE}};
    return v;
}

void mr_syncp_accesses_free(mr_syncp_accesses *accesses)
{
    for (size_t i = 0; i < accesses->accessor_count; i++) {
        free(accesses->accessors[i].rivals);
        mr_u32s_free(&accesses->accessors[i].groups);
    }
    for (size_t i = 0; i < accesses->site_count; i++)
        mr_u32s_free(&accesses->sites[i].open);
    for (int kind = 0; kind < MR_SYNCP_KINDS; kind++)
        mr_map_free(&accesses->site_numbers[kind]);
    for (size_t i = 0; i < accesses->group_count; i++)
        mr_u32s_free(&accesses->groups[i].classes);
    free(accesses->variables);
    free(accesses->accessors);
    free(accesses->classes);
    free(accesses->groups);
    free(accesses->sites);
    mr_map_free(&accesses->accessor_numbers);
    *accesses = (mr_syncp_accesses){0};
}

/* The accessors and the sites of a variable that has no more than so many are looked through, and are in no
 * map: a map waits for memory more often. */
enum { FEW = 4 };

static bool put(mr_map *numbers, uint32_t variable, uint32_t key, uint32_t number)
{
    return mr_map_at(numbers, mr_map_key(variable, key), number) != NULL;
}

/* Puts an accessor of the variable that is not the first few, and these with the first such, into the
 * map. False: no memory. */
static bool map_accessors(mr_syncp_accesses *accesses, uint32_t variable, uint32_t newest)
{
    const mr_syncp_variable *v = &accesses->variables[variable];
    uint32_t left = v->accessor_count <= FEW ? 0 : v->accessor_count == FEW + 1 ? FEW + 1 : 1;
    for (uint32_t i = newest; left; i = accesses->accessors[i].next, left--)
        if (!put(&accesses->accessor_numbers, variable, accesses->accessors[i].thread, i))
            return false;
    return true;
}

/* The same for sites. */
static bool map_sites(mr_syncp_accesses *accesses, uint32_t variable, uint32_t newest)
{
    const mr_syncp_variable *v = &accesses->variables[variable];
    uint32_t left = v->site_count <= FEW ? 0 : v->site_count == FEW + 1 ? FEW + 1 : 1;
    for (uint32_t i = newest; left; i = accesses->sites[i].older, left--)
        if (!put(&accesses->site_numbers[accesses->sites[i].kind], variable,
                 accesses->sites[i].location, i))
            return false;
    return true;
}

/* The accessor's number; MR_NONE: there is none yet. */
static uint32_t find_accessor(const mr_syncp_accesses *accesses, uint32_t variable, uint32_t thread)
{
    const mr_syncp_variable *v = &accesses->variables[variable];
    if (v->accessor_count > FEW)
        return mr_map_get(&accesses->accessor_numbers, mr_map_key(variable, thread), MR_NONE);
    uint32_t i = v->first_accessor;
    while (i != MR_NONE && accesses->accessors[i].thread != thread)
        i = accesses->accessors[i].next;
    return i;
}

/* The same for a site. */
static uint32_t find_site(const mr_syncp_accesses *accesses, uint32_t variable, int kind,
                          uint32_t location)
{
    const mr_syncp_variable *v = &accesses->variables[variable];
    if (v->site_count > FEW)
        return mr_map_get(&accesses->site_numbers[kind], mr_map_key(variable, location), MR_NONE);
    uint32_t i = v->newest_site;
    while (i != MR_NONE &&
           (accesses->sites[i].kind != kind || accesses->sites[i].location != location))
        i = accesses->sites[i].older;
    return i;
}

/* The new accessor's number. MR_NONE: no memory. */
static uint32_t add_accessor(mr_syncp_accesses *accesses, uint32_t variable, uint32_t thread)
{
    mr_syncp_variable *v = &accesses->variables[variable];
    void *items = accesses->accessors;
    if (!mr_grow(&items, &accesses->accessor_capacity, accesses->accessor_count + 1,
                 sizeof *accesses->accessors))
        return MR_NONE;
    accesses->accessors = items;
    accesses->accessors[accesses->accessor_count] = (mr_syncp_accessor){
        .thread = thread,
        .number = v->accessor_count++,
        .next = v->first_accessor,
        .first = {MR_NONE, MR_NONE, MR_NONE, MR_NONE},
        .last = {MR_NONE, MR_NONE, MR_NONE, MR_NONE},
        .guess = {MR_NONE, MR_NONE, MR_NONE, MR_NONE},
    };
    v->first_accessor = (uint32_t)accesses->accessor_count++;
    return map_accessors(accesses, variable, v->first_accessor) ? v->first_accessor : MR_NONE;
}

uint32_t mr_syncp_get_accessor(mr_syncp_accesses *accesses, uint32_t variable, uint32_t thread)
{
    mr_syncp_variable *v = reach_variable(accesses, variable);
    if (v->recent != MR_NONE && accesses->accessors[v->recent].thread == thread)
        return v->recent;
    uint32_t number = find_accessor(accesses, variable, thread);
    return v->recent = number != MR_NONE ? number : add_accessor(accesses, variable, thread);
}

uint32_t mr_syncp_find_class(const mr_syncp_accesses *accesses, uint32_t accessor, int kind,
                             uint32_t step, uint32_t location, uint32_t since)
{
    uint32_t class = accesses->accessors[accessor].last[kind];
    while (class != MR_NONE && accesses->classes[class].step == step) {
        if (since != MR_NONE && accesses->classes[class].event <= since)
            return MR_NONE;
        if (accesses->sites[accesses->classes[class].site].location == location)
            return class;
        class = accesses->classes[class].previous;
    }
    return MR_NONE;
}

uint32_t mr_syncp_get_site(mr_syncp_accesses *accesses, uint32_t variable, int kind,
                           uint32_t location)
{
    uint32_t recent = accesses->variables[variable].recent_site[kind];
    if (recent != MR_NONE && accesses->sites[recent].location == location)
        return recent;
    uint32_t number = find_site(accesses, variable, kind, location);
    if (number != MR_NONE)
        return accesses->variables[variable].recent_site[kind] = number;
    void *items = accesses->sites;
    if (!mr_grow(&items, &accesses->site_capacity, accesses->site_count + 1,
                 sizeof *accesses->sites))
        return MR_NONE;
    accesses->sites = items;
    mr_syncp_variable *v = &accesses->variables[variable];
    number = (uint32_t)accesses->site_count++;
    accesses->sites[number] = (mr_syncp_site){
        .location = location,
        .kind = kind,
        .number = v->site_count++,
        .older = v->newest_site,
        .open_until = MR_NONE,
    };
    v->newest_site = v->recent_site[kind] = number;
    return map_sites(accesses, variable, number) ? number : MR_NONE;
}

uint32_t mr_syncp_add_class(mr_syncp_accesses *accesses, uint32_t variable, uint32_t accessor,
                            const mr_syncp_class *new)
{
    int kind = accesses->sites[new->site].kind;
    void *items = accesses->classes;
    if (!mr_grow(&items, &accesses->class_capacity, accesses->class_count + 1,
                 sizeof *accesses->classes))
        return MR_NONE;
    accesses->classes = items;
    mr_syncp_accessor *a = &accesses->accessors[accessor];
    uint32_t number = (uint32_t)accesses->class_count++, previous = a->last[kind];
    accesses->classes[number] = *new;
    accesses->classes[number].previous = previous;
    accesses->classes[number].next = MR_NONE;
    if (previous == MR_NONE)
        a->first[kind] = number;
    else
        accesses->classes[previous].next = number;
    a->last[kind] = number;
    a->class_count[kind]++;
    accesses->variables[variable].class_count[kind]++;
    return number;
}

mr_syncp_rival *mr_syncp_get_rival(mr_syncp_accesses *accesses, uint32_t accessor, uint32_t other)
{
    mr_syncp_accessor *a = &accesses->accessors[accessor];
    if (other >= a->rival_count) {
        void *items = a->rivals;
        if (!mr_grow(&items, &a->rival_capacity, (size_t)other + 1, sizeof *a->rivals))
            return NULL;
        a->rivals = items;
        while (a->rival_count <= other)
            a->rivals[a->rival_count++] =
                (mr_syncp_rival){.cursor = {MR_NONE, MR_NONE, MR_NONE, MR_NONE},
                                 .first_group = MR_NONE,
                                 .dead_from = 1};
    }
    return &a->rivals[other];
}

/* Room for the lists of groups up to this site. False: no memory. */
static bool reserve_groups(mr_u32s *groups, uint32_t site_number)
{
    while (groups->count <= site_number)
        if (!mr_u32s_push(groups, MR_NONE))
            return false;
    return true;
}

static uint32_t get_group(mr_syncp_accesses *accesses, mr_syncp_accessor *accessor,
                          mr_syncp_rival *rival, uint32_t first, uint32_t site)
{
    uint32_t group = rival->first_group, site_number = accesses->sites[site].number;
    while (group != MR_NONE && accesses->groups[group].site != site)
        group = accesses->groups[group].next_of_rival;
    if (group != MR_NONE)
        return group;
    void *items = accesses->groups;
    if (!reserve_groups(&accessor->groups, site_number) ||
        !mr_grow(&items, &accesses->group_capacity, accesses->group_count + 1,
                 sizeof *accesses->groups))
        return MR_NONE;
    accesses->groups = items;
    group = (uint32_t)accesses->group_count++;
    accesses->groups[group] = (mr_syncp_group){
        .site = site,
        .first = first,
        .next_of_site = accessor->groups.items[site_number],
        .next_of_rival = rival->first_group,
    };
    return rival->first_group = accessor->groups.items[site_number] = group;
}

bool mr_syncp_push_live(mr_syncp_accesses *accesses, uint32_t accessor, mr_syncp_rival *rival,
                        uint32_t first, uint32_t class)
{
    mr_syncp_accessor *self = &accesses->accessors[accessor];
    uint32_t site = accesses->classes[class].site;
    uint32_t group = get_group(accesses, self, rival, first, site);
    if (group == MR_NONE || !mr_u32s_push(&accesses->groups[group].classes, class))
        return false;
    self->live[accesses->sites[site].kind]++;
    return true;
}
