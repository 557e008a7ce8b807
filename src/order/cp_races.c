#include "cp_races.h"

#include <stdlib.h>

enum { KIND_READ, KIND_WRITE };

bool mr_cp_races_init(mr_cp_races *races, const mr_trace *trace, mr_race_list *list)
{
    *races = (mr_cp_races){.trace = trace, .list = list};
    races->variables = mr_calloc(trace->variables.count, sizeof(mr_cp_variable));
    if (!races->variables)
        return false;
    for (uint32_t variable = 0; variable < trace->variables.count; variable++)
        races->variables[variable] =
            (mr_cp_variable){.first_accessor = MR_NONE, .quiet_accessor = MR_NONE};
    return true;
}

void mr_cp_races_free(mr_cp_races *races)
{
    free(races->variables);
    free(races->accesses);
    free(races->accessors);
    *races = (mr_cp_races){0};
}

/* The number of the thread's accessor of the variable, which is made when it is new. */
static bool find_accessor(mr_cp_races *races, mr_cp_variable *variable, uint32_t thread,
                          uint32_t *number)
{
    *number = variable->first_accessor;
    while (*number != MR_NONE && races->accessors[*number].thread != thread)
        *number = races->accessors[*number].next;
    if (*number != MR_NONE)
        return true;
    void *items = races->accessors;
    if (!mr_grow(&items, &races->accessor_capacity, races->accessor_count + 1,
                 sizeof(mr_cp_accessor)))
        return false;
    races->accessors = items;
    *number = (uint32_t)races->accessor_count++;
    races->accessors[*number] =
        (mr_cp_accessor){thread, variable->first_accessor, {MR_NONE, MR_NONE}};
    variable->first_accessor = *number;
    return true;
}

/* Makes the access the latest of its list, in place of the one at its location. */
static bool note(mr_cp_races *races, uint32_t *latest, uint32_t event, uint32_t local)
{
    uint32_t location = races->trace->location[event];
    uint32_t *link = latest;
    while (*link != MR_NONE && races->accesses[*link].location != location)
        link = &races->accesses[*link].older;
    uint32_t number = *link;
    if (number == MR_NONE) {
        void *items = races->accesses;
        if (!mr_grow(&items, &races->access_capacity, races->access_count + 1,
                     sizeof(mr_cp_access)))
            return false;
        races->accesses = items;
        number = (uint32_t)races->access_count++;
    } else {
        *link = races->accesses[number].older;
    }
    races->accesses[number] = (mr_cp_access){event, local, location, *latest};
    *latest = number;
    return true;
}

static mr_racing_access describe(const mr_trace *trace, uint32_t event)
{
    return (mr_racing_access){event, trace->thread[event], trace->location[event],
                              trace->op[event]};
}

/* The races with one list of another thread, of which `known` is ordered. */
static bool search(mr_cp_races *races, uint32_t access, uint32_t known, uint32_t event, bool *raced)
{
    const mr_trace *trace = races->trace;
    for (; access != MR_NONE; access = races->accesses[access].older) {
        const mr_cp_access *first = &races->accesses[access];
        if (first->local <= known)
            break;
        *raced = true;
        if (mr_race_list_settled(races->list, first->location, trace->location[event], event))
            continue;
        mr_race_example pair = {
            .variable = trace->operand[event],
            .first = describe(trace, first->event),
            .second = describe(trace, event),
        };
        if (!mr_race_list_add(races->list, &pair))
            return false;
    }
    return true;
}

static bool search_all(mr_cp_races *races, uint32_t event, const mr_clock *clock, bool *raced)
{
    const mr_trace *trace = races->trace;
    uint32_t number = races->variables[trace->operand[event]].first_accessor;
    for (; number != MR_NONE; number = races->accessors[number].next) {
        const mr_cp_accessor *other = &races->accessors[number];
        if (other->thread == trace->thread[event])
            continue;
        uint32_t known = mr_clock_get(clock, other->thread);
        if (!search(races, other->last[KIND_WRITE], known, event, raced) ||
            (trace->op[event] == MR_OP_WRITE &&
             !search(races, other->last[KIND_READ], known, event, raced)))
            return false;
    }
    return true;
}

bool mr_cp_races_add(mr_cp_races *races, uint32_t event, const mr_clock *clock, uint32_t local)
{
    const mr_trace *trace = races->trace;
    mr_cp_variable *variable = &races->variables[trace->operand[event]];
    bool writes = trace->op[event] == MR_OP_WRITE, raced = false;
    uint32_t own = variable->quiet_accessor;
    bool quiet = own != MR_NONE && races->accessors[own].thread == trace->thread[event] &&
                 (variable->quiet_write || !writes);
    if (!quiet) {
        if (!find_accessor(races, variable, trace->thread[event], &own) ||
            !search_all(races, event, clock, &raced) ||
            (raced &&
             !mr_race_list_racy(races->list, event, trace->location[event], trace->operand[event])))
            return false;
        variable->quiet_accessor = raced ? MR_NONE : own;
        variable->quiet_write = writes;
    }
    return note(races, &races->accessors[own].last[writes], event, local);
}
