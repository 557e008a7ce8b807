#include "settled.h"

#include "base/memory.h"

#include <stdlib.h>

_Static_assert(MR_SETTLED_KNOWN == 1 << (64 - 48), "a hash has as many bits");

bool mr_settled_init(mr_settled *settled)
{
    *settled = (mr_settled){.known = mr_calloc(MR_SETTLED_KNOWN, sizeof *settled->known)};
    return settled->known != NULL;
}

void mr_settled_free(mr_settled *settled)
{
    free(settled->known);
    free(settled->stretch_of);
    *settled = (mr_settled){.known = NULL};
}

bool mr_settled_end(mr_settled *settled, uint32_t thread)
{
    if (thread >= settled->count) {
        void *stretch_of = settled->stretch_of;
        if (!mr_grow(&stretch_of, &settled->capacity, thread + 1ull, sizeof *settled->stretch_of))
            return false;
        settled->stretch_of = stretch_of;
        while (settled->count <= thread)
            settled->stretch_of[settled->count++] = 0;
    }
    settled->stretch_of[thread] = ++settled->last;
    return true;
}

bool mr_settled_knows(mr_settled *settled, uint32_t thread, uint64_t code, size_t piece)
{
    uint64_t stretch = thread < settled->count ? settled->stretch_of[thread] : 0;
    uint32_t number = (uint32_t)piece + 1;
    uint64_t mixed = (number ^ code << 24 ^ (uint64_t)thread << 56) * UINT64_C(0x9e3779b97f4a7c15);
    mr_settled_read *known = &settled->known[mixed >> 48];
    bool knows = known->piece == number && known->code == code && known->thread == thread &&
                 known->stretch == stretch;
    *known = (mr_settled_read){code, stretch, number, thread};
    return knows;
}
