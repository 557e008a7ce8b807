#include "extents.h"

#include <stdlib.h>

typedef struct start {
    uint64_t address;
    uint32_t object;
} start;

static int compare_starts(const void *a, const void *b)
{
    const start *one = a, *other = b;
    if (one->address != other->address)
        return one->address < other->address ? -1 : 1;
    return (one->object > other->object) - (one->object < other->object);
}

bool mr_extents_init(mr_extents *extents, const mr_trace *trace)
{
    *extents = (mr_extents){.trace = trace};
    size_t most = trace->objects.count;
    start *starts = mr_calloc(most + 1, sizeof *starts);
    extents->objects = mr_calloc(most + 1, sizeof *extents->objects);
    extents->reach = mr_calloc(most + 1, sizeof *extents->reach);
    bool ok = starts && extents->objects && extents->reach;
    for (uint32_t o = 0; ok && o < most; o++)
        if (trace->object_info[o].has_extent && trace->object_info[o].bytes)
            starts[extents->count++] = (start){trace->object_info[o].address, o};
    if (ok)
        qsort(starts, extents->count, sizeof *starts, compare_starts);
    for (uint32_t i = 0; ok && i < extents->count; i++) {
        const mr_object_info *info = &trace->object_info[starts[i].object];
        uint64_t end = info->address + (info->bytes - 1); /* the last byte: no overflow */
        extents->objects[i] = starts[i].object;
        extents->reach[i] = i && extents->reach[i - 1] > end ? extents->reach[i - 1] : end;
    }
    free(starts);
    return ok;
}

void mr_extents_free(mr_extents *extents)
{
    free(extents->objects);
    free(extents->reach);
    *extents = (mr_extents){0};
}

bool mr_extents_at(const mr_extents *extents, uint64_t address, mr_u32s *found)
{
    uint32_t low = 0, high = extents->count;
    while (low < high) { /* the first that begins behind the address */
        uint32_t middle = low + (high - low) / 2;
        if (extents->trace->object_info[extents->objects[middle]].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    found->count = 0;
    for (uint32_t i = low; i > 0 && extents->reach[i - 1] >= address; i--) {
        const mr_object_info *info = &extents->trace->object_info[extents->objects[i - 1]];
        if (address - info->address < info->bytes && !mr_u32s_push(found, extents->objects[i - 1]))
            return false;
    }
    return true;
}

bool mr_extents_are_freed(const mr_trace *trace, const mr_u32s *objects, uint32_t event)
{
    bool freed = false;
    for (size_t i = 0; i < objects->count; i++) {
        const mr_object_info *info = &trace->object_info[objects->items[i]];
        bool gone = info->free != MR_NONE && info->free < event;
        if (!gone && info->alloc < event)
            return false;
        freed |= gone;
    }
    return freed;
}
