#include "sparse.h"

#include "base/memory.h"

#include <stdlib.h>

_Static_assert(MR_SPARSE_KNOWN == 1 << (64 - 50), "mr_sparse_slot has as many bits");

void mr_sparse_free(mr_sparse *sparse)
{
    free(sparse->stretch_of);
    sparse->stretch_of = NULL;
    sparse->count = sparse->capacity = 0;
}

bool mr_sparse_begin(mr_sparse *sparse, uint32_t thread)
{
    void *stretch_of = sparse->stretch_of;
    if (!mr_grow(&stretch_of, &sparse->capacity, thread + 1ull, sizeof *sparse->stretch_of))
        return false;
    sparse->stretch_of = stretch_of;
    while (sparse->count <= thread)
        sparse->stretch_of[sparse->count++] = 0;
    sparse->stretch_of[thread] = ++sparse->last;
    return true;
}

void mr_sparse_note(mr_sparse *sparse, uint32_t thread, uint64_t code, uint32_t life)
{
    size_t slot = mr_sparse_slot(code, life);
    if (thread >= sparse->count || !sparse->stretch_of[thread])
        return;
    sparse->known[slot].stretch = sparse->stretch_of[thread];
    sparse->known[slot].code = code;
    sparse->known[slot].life = life;
}
