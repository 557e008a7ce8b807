#include "syncp_access.h"

#include <stdlib.h>

bool mr_syncp_accesses_init(mr_syncp_accesses *accesses, uint32_t variable_count)
{
    *accesses = (mr_syncp_accesses){0};
    accesses->variables = mr_calloc(variable_count, sizeof *accesses->variables);
    if (!accesses->variables)
        return false;
    for (uint32_t variable = 0; variable < variable_count; variable++)
        accesses->variables[variable].first_accessor = accesses->variables[variable].recent =
            MR_NONE;
    return true;
}

void mr_syncp_accesses_free(mr_syncp_accesses *accesses)
{
    for (size_t i = 0; i < accesses->accessor_count; i++)
        free(accesses->accessors[i].rivals);
    for (size_t i = 0; i < accesses->group_count; i++)
        mr_u32s_free(&accesses->groups[i].classes);
    free(accesses->variables);
    free(accesses->accessors);
    free(accesses->classes);
    free(accesses->groups);
    mr_map_free(&accesses->accessor_numbers);
    *accesses = (mr_syncp_accesses){0};
}

/* The new accessor's number. MR_NONE: no memory. */
static uint32_t add_accessor(mr_syncp_accesses *accesses, mr_syncp_variable *variable,
                             uint32_t thread)
{
    void *items = accesses->accessors;
    if (!mr_grow(&items, &accesses->accessor_capacity, accesses->accessor_count + 1,
                 sizeof *accesses->accessors))
        return MR_NONE;
    accesses->accessors = items;
    accesses->accessors[accesses->accessor_count] = (mr_syncp_accessor){
        .thread = thread,
        .number = variable->accessor_count++,
        .next = variable->first_accessor,
        .first = {MR_NONE, MR_NONE},
        .last = {MR_NONE, MR_NONE},
        .guess = {MR_NONE, MR_NONE},
    };
    return variable->first_accessor = (uint32_t)accesses->accessor_count++;
}

uint32_t mr_syncp_get_accessor(mr_syncp_accesses *accesses, uint32_t variable, uint32_t thread)
{
    mr_syncp_variable *v = &accesses->variables[variable];
    if (v->recent != MR_NONE && accesses->accessors[v->recent].thread == thread)
        return v->recent;
    uint32_t *number =
        mr_map_at(&accesses->accessor_numbers, mr_map_key(variable, thread), MR_NONE);
    if (!number)
        return MR_NONE;
    if (*number == MR_NONE)
        *number = add_accessor(accesses, v, thread);
    return v->recent = *number;
}

uint32_t mr_syncp_find_class(const mr_syncp_accesses *accesses, uint32_t accessor, int kind,
                             uint32_t step, uint32_t location)
{
    uint32_t class = accesses->accessors[accessor].last[kind];
    while (class != MR_NONE && accesses->classes[class].step == step) {
        if (accesses->classes[class].location == location)
            return class;
        class = accesses->classes[class].previous;
    }
    return MR_NONE;
}

uint32_t mr_syncp_add_class(mr_syncp_accesses *accesses, uint32_t variable, uint32_t accessor,
                            int kind, const mr_syncp_class *new)
{
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
            a->rivals[a->rival_count++] = (mr_syncp_rival){
                .cursor = {MR_NONE, MR_NONE}, .first_group = MR_NONE, .dead_from = 1};
    }
    return &a->rivals[other];
}

static uint32_t get_group(mr_syncp_accesses *accesses, mr_syncp_rival *rival, int kind,
                          uint32_t location)
{
    for (uint32_t group = rival->first_group; group != MR_NONE;
         group = accesses->groups[group].next)
        if (accesses->groups[group].location == location && accesses->groups[group].kind == kind)
            return group;
    void *items = accesses->groups;
    if (!mr_grow(&items, &accesses->group_capacity, accesses->group_count + 1,
                 sizeof *accesses->groups))
        return MR_NONE;
    accesses->groups = items;
    accesses->groups[accesses->group_count] = (mr_syncp_group){
        .location = location,
        .kind = (uint8_t)kind,
        .next = rival->first_group,
        .settled_with = MR_NONE,
    };
    return rival->first_group = (uint32_t)accesses->group_count++;
}

bool mr_syncp_push_live(mr_syncp_accesses *accesses, uint32_t accessor, mr_syncp_rival *rival,
                        int kind, uint32_t class)
{
    uint32_t group = get_group(accesses, rival, kind, accesses->classes[class].location);
    if (group == MR_NONE || !mr_u32s_push(&accesses->groups[group].classes, class))
        return false;
    accesses->accessors[accessor].live[kind]++;
    return true;
}
