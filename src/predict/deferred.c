#include "deferred.h"

#include <stdlib.h>

void mr_deferred_free(mr_deferred *deferred)
{
    free(deferred->groups);
    free(deferred->windows);
    mr_u32s_free(&deferred->stopped);
    *deferred = (mr_deferred){0};
}

bool mr_deferred_add(mr_deferred *deferred, uint32_t key_1, uint32_t key_2, uint64_t window)
{
    void *groups = deferred->groups;
    if (!mr_grow(&groups, &deferred->capacity, deferred->count + 1, sizeof *deferred->groups))
        return false;
    deferred->groups = groups;
    deferred->groups[deferred->count++] =
        (mr_deferred_group){.key_1 = key_1, .key_2 = key_2, .window = window};
    return true;
}

void mr_deferred_drop(mr_deferred *deferred, mr_deferred_test *is_settled, const void *context)
{
    size_t kept = 0;
    for (size_t i = 0; i < deferred->count; i++)
        if (!is_settled(context, deferred->groups[i].key_1, deferred->groups[i].key_2))
            deferred->groups[kept++] = deferred->groups[i];
    deferred->count = kept;
}

uint64_t mr_deferred_windows(const mr_deferred *deferred, mr_deferred_test *is_settled,
                             const void *context)
{
    uint64_t count = 0, last = UINT64_MAX;
    for (size_t i = 0; i < deferred->count; i++) {
        const mr_deferred_group *group = &deferred->groups[i];
        if (group->window == last || group->asked ||
            is_settled(context, group->key_1, group->key_2))
            continue;
        last = group->window;
        count++;
    }
    return count;
}

static int compare(const void *one, const void *two)
{
    const mr_deferred_group *x = one, *y = two;
    if (x->window != y->window)
        return x->window < y->window ? -1 : 1;
    if (x->key_1 != y->key_1)
        return x->key_1 < y->key_1 ? -1 : 1;
    return (x->key_2 > y->key_2) - (x->key_2 < y->key_2);
}

bool mr_deferred_list(mr_deferred *deferred, const mr_trace *trace, mr_wanted *pairs)
{
    mr_deferred_group *groups = deferred->groups;
    deferred->windows = mr_calloc(deferred->count + 1, sizeof *deferred->windows);
    if (!deferred->windows)
        return false;
    if (deferred->count)
        qsort(groups, deferred->count, sizeof *groups, compare);
    for (size_t i = 0; i < deferred->count; i++) {
        if (!mr_wanted_add(pairs, trace->locations.count, groups[i].key_1, groups[i].key_2))
            return false;
        if (!i || groups[i - 1].window != groups[i].window)
            deferred->windows[deferred->window_count++] = i;
    }
    return true;
}

uint64_t mr_deferred_window(const mr_deferred *deferred, size_t number)
{
    return deferred->groups[deferred->windows[number]].window;
}

void mr_deferred_count_asked(mr_deferred *deferred, size_t number)
{
    uint64_t window = mr_deferred_window(deferred, number);
    for (size_t i = deferred->windows[number];
         i < deferred->count && deferred->groups[i].window == window; i++)
        deferred->groups[i].asked = true;
}

bool mr_deferred_has(const mr_deferred *deferred, uint64_t window, uint32_t location_1,
                     uint32_t location_2)
{
    bool ordered = location_1 < location_2;
    const mr_deferred_group wanted = {.key_1 = ordered ? location_1 : location_2,
                                      .key_2 = ordered ? location_2 : location_1,
                                      .window = window};
    return !deferred || (deferred->count && bsearch(&wanted, deferred->groups, deferred->count,
                                                    sizeof wanted, compare));
}
