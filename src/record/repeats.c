#include "repeats.h"

#include "base/memory.h"

#include <stdlib.h>

void mr_repeats_free(mr_repeats *repeats)
{
    free(repeats->items);
    *repeats = (mr_repeats){.count = 0};
}

bool mr_repeats_fill(mr_repeats *repeats, uint32_t thread)
{
    void *items = repeats->items;
    if (!mr_grow(&items, &repeats->capacity, thread + 1ull, sizeof *repeats->items))
        return false;
    repeats->items = items;
    while (repeats->count <= thread)
        repeats->items[repeats->count++] = (mr_repeat){.piece = NULL};
    return true;
}
