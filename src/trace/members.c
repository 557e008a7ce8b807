#include "members.h"

#include "base/assert.h"

#include <string.h>

bool mr_members_put(mr_trace *trace, uint32_t variable, uint32_t object)
{
    mr_members *members = &trace->members;
    void *items = members->items, *objects = members->object;
    MR_REQUIRE(variable < trace->variables.count && object < trace->objects.count);
    MR_REQUIRE(mr_trace_object(trace, variable) == MR_NONE);
    if (!mr_grow(&items, &members->item_capacity, (size_t)members->count + 1,
                 sizeof *members->items))
        return false;
    members->items = items;
    if (!mr_grow(&objects, &members->variable_capacity, (size_t)variable + 1,
                 sizeof *members->object))
        return false;
    members->object = objects;
    while (members->variable_count <= variable)
        members->object[members->variable_count++] = MR_NONE;
    members->object[variable] = object;
    members->items[members->count++] = (mr_membership){variable, object};
    return true;
}

bool mr_members_tell(const mr_trace *trace, uint32_t start, mr_told_members *told,
                     mr_events *events)
{
    uint32_t count = trace->members.count - start;
    void *items = told->items;
    if (!mr_grow(&items, &told->capacity, count, sizeof *told->items))
        return false;
    told->items = items;
    told->end = trace->members.count;
    if (count)
        memcpy(told->items, trace->members.items + start, count * sizeof *told->items);
    events->members = told->items;
    events->member_count = count;
    events->knows_members = true;
    return true;
}
