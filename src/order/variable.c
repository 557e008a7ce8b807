#include "variable.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 64 };

_Static_assert(sizeof(mr_variable) == LINE_BYTES, "a variable is a cache line");

bool mr_variables_sparse(mr_variables *variables, uint32_t variable_count)
{
    variables->places = mr_calloc(variable_count, sizeof *variables->places);
    return variables->places != NULL;
}

static bool add_chunk(mr_variables *variables)
{
    size_t count = variables->chunk_count;
    void *chunks = variables->chunks, *blocks = variables->blocks;
    if (!mr_grow(&chunks, &variables->chunk_capacity, count + 1, sizeof(mr_variable *)))
        return false;
    variables->chunks = chunks;
    if (!mr_grow(&blocks, &variables->block_capacity, count + 1, sizeof(void *)))
        return false;
    variables->blocks = blocks;
    char *block = mr_calloc(MR_VARIABLES_CHUNK + 1, sizeof(mr_variable));
    if (!block)
        return false;
    variables->blocks[count] = block;
    variables->chunks[count] = (void *)(block + (LINE_BYTES - (uintptr_t)block % LINE_BYTES));
    variables->chunk_count++;
    return true;
}

bool mr_variables_grow(mr_variables *variables, uint32_t count)
{
    while (variables->chunk_count * MR_VARIABLES_CHUNK < count)
        if (!add_chunk(variables))
            return false;
    return true;
}

bool mr_variables_add(mr_variables *variables, uint32_t variable)
{
    if (!mr_variables_grow(variables, variables->place_count + 1))
        return false;
    variables->places[variable] = ++variables->place_count;
    return true;
}

void mr_variables_free(mr_variables *variables)
{
    for (size_t i = 0; i < variables->chunk_count * MR_VARIABLES_CHUNK; i++) {
        mr_variable *variable = mr_variables_get(variables, (uint32_t)i);
        if (mr_variable_is_shared(variable))
            mr_history_free(variable->history);
    }
    for (size_t i = 0; i < variables->chunk_count; i++)
        free(variables->blocks[i]);
    free(variables->chunks);
    free(variables->blocks);
    free(variables->places);
    mr_slab_free(&variables->slab);
    *variables = (mr_variables){0};
}

static unsigned kind_of(uint8_t op)
{
    return mr_op_ends_life(op) ? MR_ENTRY_FREE : mr_op_writes(op) ? MR_ENTRY_WRITE : MR_ENTRY_READ;
}

/* One more location or kind of the only thread; false: there is no room. */
static bool add_own(mr_variable *variable, const mr_access *access, uint32_t local)
{
    if (variable->entry_count == MR_VARIABLE_ENTRIES ||
        (variable->owner && variable->owner != access->thread + 1))
        return false;
    variable->owner = access->thread + 1;
    variable->kinds |= (uint16_t)(kind_of(access->op) << 2 * variable->entry_count);
    variable->event_highs[variable->entry_count] = (uint8_t)(access->event >> MR_EVENT_HIGH_SHIFT);
    variable->entries[variable->entry_count++] =
        (mr_variable_entry){access->location, local, (uint32_t)access->event};
    return true;
}

/* The first atomic access or free of a shared variable with a history. False: no memory. */
static bool make_atomic(mr_variable *variable, mr_slab *slab)
{
    mr_atomics *atomics = mr_slab_take(slab, sizeof *atomics);
    if (!atomics)
        return false;
    *atomics = (mr_atomics){.last_write = variable->writes.latest};
    atomics->last_is_plain = atomics->last_write.local > 0;
    variable->history->atomics = atomics;
    variable->is_atomic = true;
    return true;
}

/* Notes an entry of the only thread so far. */
static bool share_entry(mr_variable *variable, const mr_variable_entry *entry, uint8_t event_high,
                        uint32_t thread, unsigned kind, mr_slab *slab)
{
    static const uint8_t ops[] = {MR_OP_READ, MR_OP_WRITE, MR_OP_FREE};
    mr_access access = {.event = mr_event_of(entry->event_low, event_high),
                        .thread = thread,
                        .location = entry->location,
                        .op = ops[kind]};
    mr_epoch *latest = &(kind == MR_ENTRY_READ ? &variable->reads : &variable->writes)->latest;
    uint32_t number;
    if (!mr_history_find(&variable->history, &access, &number, slab))
        return false;
    mr_history_note(variable->history, number, access.event, entry->local);
    if (entry->local >= latest->local)
        *latest = (mr_epoch){thread, entry->local};
    return true;
}

/* Makes a variable of one thread a shared one. After a failure the variable is shared, but some of
 * its accesses are lost. */
static bool share(mr_variable *variable, mr_slab *slab)
{
    mr_variable_entry entries[MR_VARIABLE_ENTRIES];
    uint8_t highs[MR_VARIABLE_ENTRIES];
    uint32_t thread = variable->owner - 1;
    unsigned freed = MR_VARIABLE_ENTRIES;
    MR_ASSERT(variable->entry_count <= MR_VARIABLE_ENTRIES);
    memcpy(entries, variable->entries, sizeof entries);
    memcpy(highs, variable->event_highs, sizeof highs);
    variable->owner = (uint32_t)MR_VARIABLE_SHARED;
    variable->writes = variable->reads = (mr_front){0};
    variable->history = NULL;
    for (unsigned i = 0; i < variable->entry_count; i++) {
        unsigned kind = variable->kinds >> 2 * i & 3;
        if (kind == MR_ENTRY_FREE)
            freed = i;
        else if (!share_entry(variable, &entries[i], highs[i], thread, kind, slab))
            return false;
    }
    if (freed == MR_VARIABLE_ENTRIES)
        return true;
    mr_epoch write = variable->writes.latest;
    if (!share_entry(variable, &entries[freed], highs[freed], thread, MR_ENTRY_FREE, slab) ||
        !make_atomic(variable, slab))
        return false;
    variable->history->atomics->last_write = write;
    variable->history->atomics->last_is_plain = write.local > 0;
    return true;
}

/* Adds the access to the maximal writes or reads. `*racy`: is it unordered with an access that
 * conflicts? False: no memory. */
static inline __attribute__((always_inline)) bool
update_fronts(mr_variable *variable, const mr_access *access, mr_knowledge knowledge,
              uint32_t local, mr_slab *slab, bool *racy)
{
    mr_epoch epoch = {access->thread, local};
    *racy = mr_front_unordered(&variable->writes, access->thread, knowledge);
    if (!mr_op_writes(access->op))
        return mr_front_add(&variable->reads, epoch, knowledge, true, slab);
    if (variable->reads.latest.local) {
        mr_front_prune(&variable->reads, access->thread, knowledge);
        *racy |= variable->reads.latest.local != 0;
    }
    return mr_front_add(&variable->writes, epoch, knowledge, false, slab);
}

/* The same for a variable with atomic accesses. A plain write makes all accesses before it
 * unnecessary. An atomic write does not, because it conflicts with no other atomic access. */
static __attribute__((noinline)) bool update_all_fronts(mr_variable *variable,
                                                        const mr_access *access,
                                                        mr_knowledge knowledge, uint32_t local,
                                                        mr_slab *slab, bool *racy)
{
    mr_atomics *atomics = variable->history->atomics;
    uint32_t thread = access->thread;
    mr_epoch epoch = {thread, local};
    if (!mr_op_is_atomic(access->op)) {
        if (!update_fronts(variable, access, knowledge, local, slab, racy))
            return false;
        *racy |= mr_front_unordered(&atomics->writes, thread, knowledge);
        if (!mr_op_writes(access->op))
            return true;
        *racy |= mr_front_unordered(&atomics->reads, thread, knowledge);
        mr_front_prune(&atomics->writes, thread, knowledge);
        mr_front_prune(&atomics->reads, thread, knowledge);
        return true;
    }
    *racy = mr_front_unordered(&variable->writes, thread, knowledge);
    if (!mr_op_writes(access->op))
        return mr_front_add(&atomics->reads, epoch, knowledge, true, slab);
    *racy |= mr_front_unordered(&variable->reads, thread, knowledge);
    return mr_front_add(&atomics->writes, epoch, knowledge, true, slab);
}

bool mr_variable_access(mr_variables *variables, mr_variable *variable, const mr_access *access,
                        mr_knowledge knowledge, uint32_t local, mr_race_list *list)
{
    mr_slab *slab = &variables->slab;
    if (!mr_variable_is_shared(variable)) {
        if (!mr_op_is_atomic(access->op) && add_own(variable, access, local))
            return true;
        if (!share(variable, slab))
            return false;
    }
    bool racy;
    uint32_t entry;
    if (!mr_history_find(&variable->history, access, &entry, slab) ||
        (mr_op_is_atomic(access->op) && !variable->is_atomic && !make_atomic(variable, slab)))
        return false;
    if (!(variable->is_atomic ? update_all_fronts(variable, access, knowledge, local, slab, &racy)
                              : update_fronts(variable, access, knowledge, local, slab, &racy)))
        return false;
    if (racy && (!mr_race_list_racy(list, access->event, access->location, access->variable) ||
                 !mr_history_search(variable->history, entry, access, knowledge, list, slab)))
        return false;
    mr_history_note(variable->history, entry, access->event, local);
    return true;
}

/* Forgets the accesses that are over, but for their places. */
static void end_fronts(mr_variable *variable, mr_epoch free)
{
    mr_atomics *atomics = variable->history->atomics;
    mr_front_clear(&variable->writes);
    mr_front_clear(&variable->reads);
    mr_front_clear(&atomics->writes);
    mr_front_clear(&atomics->reads);
    variable->writes.latest = free;
}

bool mr_variable_free(mr_variables *variables, mr_variable *variable, const mr_access *access,
                      mr_knowledge knowledge, uint32_t local, bool ends, mr_race_list *list)
{
    mr_slab *slab = &variables->slab;
    mr_access write = *access;
    uint32_t entry;
    bool racy;
    MR_REQUIRE(mr_op_ends_life(access->op));
    if (!mr_variable_is_shared(variable)) {
        if (add_own(variable, access, local))
            return true;
        if (!share(variable, slab))
            return false;
    }
    write.op = MR_OP_WRITE;
    if (!mr_history_find(&variable->history, access, &entry, slab) ||
        (!variable->is_atomic && !make_atomic(variable, slab)) ||
        !update_all_fronts(variable, &write, knowledge, local, slab, &racy))
        return false;
    if (racy && (!mr_race_list_racy(list, access->event, access->location, access->variable) ||
                 !mr_history_search(variable->history, entry, access, knowledge, list, slab)))
        return false;
    mr_history_note(variable->history, entry, access->event, local);
    if (!ends)
        return true;
    variable->history->ended = (mr_epoch){access->thread, local};
    variable->history->ended_by = access->event;
    end_fronts(variable, variable->history->ended);
    return true;
}
