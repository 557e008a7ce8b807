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
                                 .newest = {MR_NONE, MR_NONE, MR_NONE, MR_NONE},
                                 .freed = MR_NONE,
                                 .recent_site = {MR_NONE, MR_NONE, MR_NONE, MR_NONE}};
    return v;
}

void mr_syncp_accesses_free(mr_syncp_accesses *accesses)
{
    for (size_t i = 0; i < accesses->accessor_count; i++) {
        for (size_t k = 0; k < accesses->accessors[i].group_count; k++)
            free(accesses->accessors[i].groups[k].classes);
        free(accesses->accessors[i].groups);
    }
    for (size_t i = 0; i < accesses->site_count; i++)
        mr_u32s_free(&accesses->sites[i].open);
    for (int kind = 0; kind < MR_SYNCP_KINDS; kind++)
        mr_map_free(&accesses->site_numbers[kind]);
    free(accesses->variables);
    free(accesses->accessors);
    free(accesses->classes);
    free(accesses->dead);
    mr_map_free(&accesses->dead_numbers);
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
        .next = v->first_accessor,
        .last = {MR_NONE, MR_NONE, MR_NONE, MR_NONE},
        .until = {MR_NONE, MR_NONE, MR_NONE, MR_NONE},
        .guess = {MR_NONE, MR_NONE, MR_NONE, MR_NONE},
    };
    v->accessor_count++;
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

uint32_t mr_syncp_add_class(mr_syncp_accesses *accesses, uint32_t variable,
                            const mr_syncp_class *new)
{
    int kind = accesses->sites[new->site].kind;
    void *items = accesses->classes;
    if (!mr_grow(&items, &accesses->class_capacity, accesses->class_count + 1,
                 sizeof *accesses->classes))
        return MR_NONE;
    accesses->classes = items;
    mr_syncp_accessor *a = &accesses->accessors[new->accessor];
    mr_syncp_variable *v = &accesses->variables[variable];
    uint32_t number = (uint32_t)accesses->class_count++;
    accesses->classes[number] = *new;
    accesses->classes[number].previous = a->last[kind];
    accesses->classes[number].older = v->newest[kind];
    a->last[kind] = v->newest[kind] = number;
    a->class_count[kind]++;
    v->class_count[kind]++;
    return number;
}

mr_syncp_dead *mr_syncp_find_dead(const mr_syncp_accesses *accesses, uint32_t accessor,
                                  uint32_t first)
{
    uint32_t number = mr_map_get(&accesses->dead_numbers, mr_map_key(accessor, first), MR_NONE);
    return number != MR_NONE ? &accesses->dead[number] : NULL;
}

mr_syncp_dead *mr_syncp_get_dead(mr_syncp_accesses *accesses, uint32_t accessor, uint32_t first)
{
    void *items = accesses->dead;
    if (!mr_grow(&items, &accesses->dead_capacity, accesses->dead_count + 1,
                 sizeof *accesses->dead))
        return NULL;
    accesses->dead = items;
    uint32_t *number = mr_map_at(&accesses->dead_numbers, mr_map_key(accessor, first), MR_NONE);
    if (!number)
        return NULL;
    if (*number == MR_NONE) {
        *number = (uint32_t)accesses->dead_count++;
        accesses->dead[*number] = (mr_syncp_dead){.from = 1};
    }
    return &accesses->dead[*number];
}

/* Makes the groups of the sites up to this one. False: no memory. */
static bool reserve_groups(mr_syncp_accessor *accessor, uint32_t site_number)
{
    void *items = accessor->groups;
    if (!mr_grow(&items, &accessor->group_capacity, (size_t)site_number + 1,
                 sizeof *accessor->groups))
        return false;
    accessor->groups = items;
    while (accessor->group_count <= site_number)
        accessor->groups[accessor->group_count++] = (mr_syncp_group){0};
    return true;
}

bool mr_syncp_push_live(mr_syncp_accesses *accesses, uint32_t accessor, uint32_t class)
{
    enum { FIRST = 4 };
    mr_syncp_accessor *self = &accesses->accessors[accessor];
    const mr_syncp_site *site = &accesses->sites[accesses->classes[class].site];
    if (!reserve_groups(self, site->number))
        return false;
    mr_syncp_group *group = &self->groups[site->number];
    if (group->count == group->capacity) {
        uint32_t capacity = group->capacity ? group->capacity * 2 : FIRST;
        uint32_t *grown = mr_realloc(group->classes, capacity, sizeof *grown);
        if (!grown)
            return false;
        group->classes = grown;
        group->capacity = capacity;
    }
    group->classes[group->count++] = class;
    self->live[site->kind]++;
    return true;
}
