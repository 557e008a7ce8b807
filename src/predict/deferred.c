#include "deferred.h"

#include "base/memory.h"

#include <stdlib.h>

void mr_deferred_free(mr_deferred *deferred)
{
    free(deferred->groups);
    *deferred = (mr_deferred){0};
}

bool mr_deferred_add(mr_deferred *deferred, uint32_t key_1, uint32_t key_2, uint64_t window)
{
    void *groups = deferred->groups;
    if (!mr_grow(&groups, &deferred->capacity, deferred->count + 1, sizeof *deferred->groups))
        return false;
    deferred->groups = groups;
    deferred->groups[deferred->count++] = (mr_deferred_group){key_1, key_2, window};
    return true;
}

void mr_deferred_drop(mr_deferred *deferred,
                      bool (*is_settled)(const void *context, uint32_t key_1, uint32_t key_2),
                      const void *context)
{
    size_t kept = 0;
    for (size_t i = 0; i < deferred->count; i++)
        if (!is_settled(context, deferred->groups[i].key_1, deferred->groups[i].key_2))
            deferred->groups[kept++] = deferred->groups[i];
    deferred->count = kept;
}

uint64_t mr_deferred_windows(const mr_deferred *deferred)
{
    uint64_t count = 0;
    for (size_t i = 0; i < deferred->count; i++)
        count += !i || deferred->groups[i].window != deferred->groups[i - 1].window;
    return count;
}

bool mr_deferred_list(mr_deferred *deferred, const mr_trace *trace, mr_wanted *pairs)
{
    size_t kept = 0;
    for (size_t i = 0; i < deferred->count; i++) {
        const mr_deferred_group group = deferred->groups[i];
        if (!mr_wanted_add(pairs, trace->locations.count, group.key_1, group.key_2))
            return false;
        if (!kept || deferred->groups[kept - 1].window != group.window)
            deferred->groups[kept++] = group;
    }
    deferred->count = kept;
    return true;
}
