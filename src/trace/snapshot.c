#include "snapshot.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

void mr_snapshot_init(mr_snapshot *snapshot)
{
    *snapshot = (mr_snapshot){0};
}

void mr_snapshot_free(mr_snapshot *snapshot)
{
    free(snapshot->variables);
    free(snapshot->place_counts);
    mr_open_sections_free(&snapshot->now);
    free(snapshot->open);
    free(snapshot->carried);
    mr_keys_free(&snapshot->more_places);
    *snapshot = (mr_snapshot){0};
}

/* ---- sections ---- */

void mr_open_sections_free(mr_open_sections *open)
{
    free(open->own);
    free(open->shared);
    mr_keys_free(&open->sharers);
    *open = (mr_open_sections){0};
}

/* The link with this number + 1. */
static mr_section_link *link_at(const mr_open_sections *open, uint32_t at)
{
    return at % 2 ? &open->own[(at - 1) / 2] : &open->shared[(at - 2) / 2];
}

static bool widen(mr_section_link **links, size_t *capacity, size_t need)
{
    size_t old = *capacity;
    void *items = *links;
    if (!mr_grow(&items, capacity, need, sizeof **links))
        return false;
    *links = items;
    memset(*links + old, 0, (*capacity - old) * sizeof **links);
    return true;
}

/* Which link is that of the section, + 1; 0: no memory. */
static uint32_t place_of(mr_open_sections *open, bool shared, uint32_t thread, uint32_t lock)
{
    uint32_t number;
    if (!shared)
        return widen(&open->own, &open->own_capacity, (size_t)lock + 1) ? 2 * lock + 1 : 0;
    if (!mr_keys_add(&open->sharers, (uint64_t)lock << 32 | thread, &number) ||
        !widen(&open->shared, &open->shared_capacity, (size_t)number + 1))
        return 0;
    return 2 * number + 2;
}

static void append(mr_open_sections *open, uint32_t at)
{
    mr_section_link *link = link_at(open, at);
    link->before = open->last;
    link->after = 0;
    if (open->last)
        link_at(open, open->last)->after = at;
    else
        open->first = at;
    open->last = at;
    open->count++;
}

static void drop(mr_open_sections *open, uint32_t at)
{
    const mr_section_link *link = link_at(open, at);
    if (link->before)
        link_at(open, link->before)->after = link->after;
    else
        open->first = link->after;
    if (link->after)
        link_at(open, link->after)->before = link->before;
    else
        open->last = link->before;
    open->count--;
}

bool mr_open_sections_step(mr_open_sections *open, uint8_t op, uint32_t thread, uint32_t lock,
                           bool *memory)
{
    bool shared = mr_op_is_shared(op);
    uint32_t at = place_of(open, shared, thread, lock);
    *memory = at != 0;
    if (!at)
        return false;
    mr_open_section *section = &link_at(open, at)->section;
    if (section->depth && section->thread != thread)
        return false;
    if (mr_op_acquires(op) && !section->depth++) {
        *section = (mr_open_section){.op = shared ? MR_OP_SHARED_ACQUIRE : MR_OP_ACQUIRE,
                                     .thread = thread,
                                     .lock = lock,
                                     .depth = 1};
        append(open, at);
    } else if (!mr_op_acquires(op)) {
        if (!section->depth)
            return false;
        if (!--section->depth)
            drop(open, at);
    }
    return true;
}

void mr_open_sections_list(const mr_open_sections *open, mr_open_section *items)
{
    for (uint32_t at = open->first; at; at = link_at(open, at)->after)
        *items++ = link_at(open, at)->section;
}

static bool list_open(mr_snapshot *snapshot)
{
    void *items = snapshot->open;
    if (!mr_grow(&items, &snapshot->open_capacity, snapshot->now.count + 1ull,
                 sizeof *snapshot->open))
        return false;
    snapshot->open = items;
    snapshot->open_count = snapshot->now.count;
    mr_open_sections_list(&snapshot->now, snapshot->open);
    return true;
}

/* ---- variables ---- */

static bool make_room(mr_snapshot *snapshot, uint32_t variable_count)
{
    size_t old = snapshot->variable_capacity;
    if (variable_count <= old)
        return true;
    size_t capacity = variable_count < 2 * old ? 2 * old : variable_count + 64;
    void *variables = mr_realloc(snapshot->variables, capacity, sizeof *snapshot->variables);
    if (variables)
        snapshot->variables = variables;
    void *counts = mr_realloc(snapshot->place_counts, capacity, sizeof *snapshot->place_counts);
    if (counts)
        snapshot->place_counts = counts;
    if (!variables || !counts)
        return false;
    for (size_t i = old; i < capacity; i++)
        snapshot->variables[i] = (mr_variable_state){.last_value = MR_NONE};
    memset(snapshot->place_counts + old, 0, (capacity - old) * sizeof *snapshot->place_counts);
    snapshot->variable_capacity = capacity;
    return true;
}

static bool note_first(mr_snapshot *snapshot, const mr_variable_state *state)
{
    void *carried = snapshot->carried;
    if (!mr_grow(&carried, &snapshot->carried_capacity, snapshot->carried_count + 1,
                 sizeof *snapshot->carried))
        return false;
    snapshot->carried = carried;
    snapshot->carried[snapshot->carried_count++] = state->last_value;
    return true;
}

static bool note_place(mr_snapshot *snapshot, uint32_t variable, uint32_t location)
{
    mr_variable_state *state = &snapshot->variables[variable];
    uint32_t place = location + 1, *count = &snapshot->place_counts[variable], number;
    if (state->places[0] == place || state->places[1] == place)
        return true;
    if (*count < 2) {
        state->places[(*count)++] = place;
        return true;
    }
    /* places[1] becomes the place seen last. */
    uint64_t key = (uint64_t)variable << 32;
    if (*count == 2 && !mr_keys_add(&snapshot->more_places, key | (state->places[1] - 1), &number))
        return false;
    uint32_t known = snapshot->more_places.count;
    if (!mr_keys_add(&snapshot->more_places, key | location, &number))
        return false;
    *count += number > known;
    state->places[1] = place;
    return true;
}

static void note_read(mr_variable_state *state, uint32_t value)
{
    if (!value)
        state->by_source = 1;
    else if (state->last_value != MR_NONE)
        state->by_source |= value != state->last_value;
    else if (!state->initial_value)
        state->initial_value = value;
    else
        state->by_source |= value != state->initial_value;
}

static void note_write(mr_variable_state *state, uint32_t value)
{
    state->last_value = value;
    state->by_source |= !value;
}

static bool add_access(mr_snapshot *snapshot, const mr_events *events, uint32_t i, uint32_t value,
                       const mr_update *updates)
{
    uint32_t variable = events->operand[i];
    mr_variable_state *state = &snapshot->variables[variable];
    uint8_t op = events->op[i];
    mr_update both = {value, value};
    if (mr_op_updates(op) && value)
        both = updates[value];
    if (state->block != snapshot->block_count) {
        if (!note_first(snapshot, state))
            return false;
        state->block = snapshot->block_count;
    }
    if (mr_op_reads(op))
        note_read(state, both.read_value);
    if (mr_op_writes(op))
        note_write(state, both.written_value);
    if (snapshot->marks && (variable >= snapshot->mark_count || !snapshot->marks[variable]))
        return true;
    return note_place(snapshot, variable, events->location[i]);
}

bool mr_snapshot_add(mr_snapshot *snapshot, const mr_events *events, const uint32_t *value,
                     const mr_update *updates)
{
    if (!make_room(snapshot, events->variable_count) || !list_open(snapshot))
        return false;
    snapshot->block_count++;
    snapshot->carried_count = 0;
    for (uint32_t i = 0; i < events->count; i++) {
        uint8_t op = events->op[i];
        bool memory = true;
        if (mr_op_is_access(op))
            memory = add_access(snapshot, events, i, value ? value[i] : 0, updates);
        else if (MR_OP_DOES(op, MR_ACQUIRES | MR_RELEASES))
            (void)mr_open_sections_step(&snapshot->now, op, events->thread[i], events->operand[i],
                                        &memory);
        if (!memory)
            return false;
    }
    return true;
}

mr_variable_state mr_snapshot_variable(const mr_snapshot *snapshot, uint32_t variable)
{
    return variable < snapshot->variable_capacity ? snapshot->variables[variable]
                                                  : (mr_variable_state){.last_value = MR_NONE};
}

uint32_t mr_snapshot_most_places(const mr_snapshot *snapshot, const uint8_t *marks, uint32_t count)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < count && i < snapshot->variable_capacity; i++)
        if (marks[i] && snapshot->place_counts[i] > most)
            most = snapshot->place_counts[i];
    return most;
}
