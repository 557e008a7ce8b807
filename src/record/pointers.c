#include "pointers.h"

#include "base/assert.h"
#include "runtime/log.h"

#include <stdlib.h>
#include <string.h>

void mr_pointers_free(mr_pointers *all)
{
    free(all->threads);
    free(all->was_null);
    *all = (mr_pointers){0};
}

static bool reserve(mr_pointers *all, uint32_t thread)
{
    if (thread < all->count)
        return true;
    size_t old = all->count, need = (size_t)thread + 1;
    if (!mr_grow((void **)&all->threads, &all->capacity, need, sizeof *all->threads))
        return false;
    memset(all->threads + old, 0, (need - old) * sizeof *all->threads);
    all->count = need;
    return true;
}

/* What the pointer's value stands for is known no more. */
static void give_up(mr_thread_pointers *own, mr_pointer *pointer)
{
    own->unused -= pointer->patience != 0;
    pointer->patience = 0;
}

static void forget_variable(mr_thread_pointers *own, uint32_t variable)
{
    for (uint32_t i = 0; i < own->count; i++) {
        mr_pointer *pointer = &own->items[i];
        if (pointer->variable != variable)
            continue;
        give_up(own, pointer);
        pointer->value = 0;
        pointer->variable = MR_NONE;
    }
}

bool mr_pointers_note_null(mr_pointers *all, uint32_t variable)
{
    size_t need = (size_t)variable + 1, old = all->variable_count;
    if (need > old) {
        if (!mr_grow((void **)&all->was_null, &all->variable_capacity, need, sizeof *all->was_null))
            return false;
        memset(all->was_null + old, 0, (need - old) * sizeof *all->was_null);
        all->variable_count = need;
    }
    all->was_null[variable] = true;
    return true;
}

bool mr_pointers_note(mr_pointers *all, uint32_t thread, const mr_pointer *read,
                      const mr_life *life)
{
    if (!mr_pointers_may_be_address(read->value)) {
        if (thread < all->count)
            forget_variable(&all->threads[thread], read->variable);
        return true;
    }
    if (!reserve(all, thread))
        return false;
    mr_thread_pointers *own = &all->threads[thread];
    forget_variable(own, read->variable);
    mr_pointer *place = &own->items[own->next];
    give_up(own, place);
    *place = *read;
    place->start = read->value;
    place->end = read->value + MR_POINTERS_BYTES;
    place->patience = MR_POINTERS_PATIENCE;
    if (life->number && life->kind == MR_LOG_MEMORY_HEAP) {
        place->start = life->start;
        place->end = life->end;
    }
    own->next = (own->next + 1) % MR_POINTERS_KEPT;
    own->count += own->count < MR_POINTERS_KEPT;
    own->unused++;
    return true;
}

bool mr_pointers_look(mr_pointers *all, uint32_t thread, uint64_t address)
{
    mr_thread_pointers *own = &all->threads[thread];
    bool found = false;
    for (uint32_t i = 0; i < own->count; i++) {
        mr_pointer *pointer = &own->items[i];
        if (!pointer->patience)
            continue;
        if (address - pointer->start < pointer->end - pointer->start)
            found = true;
        else if (!--pointer->patience)
            own->unused--;
    }
    return found;
}

const mr_pointer *mr_pointers_take(mr_pointers *all, uint32_t thread, uint64_t address)
{
    mr_thread_pointers *own = &all->threads[thread];
    /* The read that came last: the others may be of pointers into the same block. */
    for (uint32_t i = 1; i <= own->count; i++) {
        mr_pointer *pointer = &own->items[(own->next + MR_POINTERS_KEPT - i) % MR_POINTERS_KEPT];
        if (!pointer->patience || address - pointer->start >= pointer->end - pointer->start)
            continue;
        give_up(own, pointer);
        return pointer;
    }
    MR_REQUIRE(false);
    return NULL;
}

const mr_pointer *mr_pointers_take_free(mr_pointers *all, uint32_t thread, uint64_t address)
{
    if (thread >= all->count)
        return NULL;
    mr_thread_pointers *own = &all->threads[thread];
    for (uint32_t i = 1; i <= own->count; i++) {
        mr_pointer *pointer = &own->items[(own->next + MR_POINTERS_KEPT - i) % MR_POINTERS_KEPT];
        uint32_t variable = pointer->variable;
        if (pointer->value != address || variable == MR_NONE)
            continue;
        give_up(own, pointer);
        pointer->value = 0;
        return variable < all->variable_count && all->was_null[variable] ? NULL : pointer;
    }
    return NULL;
}

void mr_pointers_set_loose(mr_pointers *all, uint32_t thread, const mr_emitted *event)
{
    MR_REQUIRE(thread < all->count);
    all->threads[thread].loose = *event;
    all->threads[thread].has_loose = true;
}

void mr_pointers_drop_loose(mr_pointers *all, uint32_t thread)
{
    if (thread < all->count)
        all->threads[thread].has_loose = false;
}
