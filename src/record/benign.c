#include "benign.h"

#include "base/memory.h"

#include <stdlib.h>

void mr_benign_free(mr_benign *benign)
{
    free(benign->items);
    *benign = (mr_benign){0};
}

bool mr_benign_note(mr_benign *benign, mr_extent extent)
{
    void *items = benign->items;
    if (!extent.bytes)
        return true;
    for (size_t i = 0; i < benign->count; i++) {
        const mr_benign_extent *item = &benign->items[i];
        if (item->life == extent.life->number && item->start == extent.address &&
            item->end >= extent.address + extent.bytes)
            return true;
    }
    if (!mr_grow(&items, &benign->capacity, benign->count + 1, sizeof *benign->items))
        return false;
    benign->items = items;
    benign->items[benign->count++] =
        (mr_benign_extent){extent.life->number, extent.address, extent.address + extent.bytes};
    return true;
}

bool mr_benign_has(const mr_benign *benign, mr_extent extent)
{
    for (size_t i = 0; i < benign->count; i++) {
        const mr_benign_extent *item = &benign->items[i];
        if (item->life == extent.life->number && item->start < extent.address + extent.bytes &&
            extent.address < item->end)
            return true;
    }
    return false;
}
