#include "model_store.h"

#include <stdlib.h>
#include <string.h>

void mr_rows_free(mr_rows *rows)
{
    free(rows->words);
    mr_table_free(&rows->table);
}

typedef struct row_key {
    const uint32_t *words;
    uint32_t length;
} row_key;

static uint32_t hash_row(const uint32_t *words, uint32_t length)
{
    uint64_t hash = length;
    for (uint32_t i = 0; i < length; i++) {
        hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return mr_table_hash_u64(hash);
}

static bool same_row(const void *items, uint32_t number, const void *key)
{
    const row_key *wanted = key;
    return memcmp((const uint32_t *)items + (size_t)number * wanted->length, wanted->words,
                  wanted->length * sizeof(uint32_t)) == 0;
}

static uint32_t hash_item(const void *items, uint32_t number)
{
    const mr_rows *rows = items;
    return hash_row(rows->words + (size_t)number * rows->length, rows->length);
}

uint32_t mr_rows_add(mr_rows *rows, const uint32_t *words, bool *is_new)
{
    const row_key key = {words, rows->length};
    size_t used = (size_t)rows->count * rows->length;
    if (!mr_table_reserve(&rows->table, rows->count + 1, hash_item, rows, rows->count) ||
        !mr_grow((void **)&rows->words, &rows->capacity, used + rows->length + 1,
                 sizeof *rows->words))
        return MR_PMODEL_NONE;
    uint32_t *slot =
        mr_table_slot(&rows->table, hash_row(words, rows->length), same_row, rows->words, &key);
    *is_new = !*slot;
    if (!*slot) {
        memcpy(rows->words + used, words, rows->length * sizeof *words);
        *slot = ++rows->count;
    }
    return *slot - 1;
}

bool mr_seen_init(mr_seen *store, const mr_state *state)
{
    store->states.length = state->thread_count + 2;
    store->contents.length = state->content_count;
    store->row = mr_calloc(store->states.length, sizeof *store->row);
    return store->row != NULL;
}

void mr_seen_free(mr_seen *store)
{
    mr_rows_free(&store->states);
    mr_rows_free(&store->contents);
    free(store->row);
    free(store->flags);
    *store = (mr_seen){.row = NULL};
}

uint32_t mr_seen_add(mr_seen *store, const mr_state *state, bool *is_new)
{
    uint32_t content = mr_rows_add(&store->contents, state->content, is_new);
    if (content == MR_PMODEL_NONE)
        return MR_PMODEL_NONE;
    memcpy(store->row, state->threads, state->thread_count * sizeof *store->row);
    store->row[state->thread_count] = state->exited;
    store->row[state->thread_count + 1] = content;
    uint32_t number = mr_rows_add(&store->states, store->row, is_new);
    if (number == MR_PMODEL_NONE ||
        !mr_grow((void **)&store->flags, &store->flag_capacity, number + (size_t)1, 1))
        return MR_PMODEL_NONE;
    if (*is_new)
        store->flags[number] = 0;
    return number;
}

void mr_seen_get(const mr_seen *store, uint32_t number, mr_state *state)
{
    const uint32_t *row = store->states.words + (size_t)number * store->states.length;
    memcpy(state->threads, row, state->thread_count * sizeof *row);
    state->exited = row[state->thread_count] != 0;
    memcpy(state->content,
           store->contents.words + (size_t)row[state->thread_count + 1] * store->contents.length,
           state->content_count * sizeof *row);
}

uint64_t mr_seen_bytes(const mr_seen *store)
{
    return sizeof(uint32_t) * ((uint64_t)store->states.capacity + store->contents.capacity +
                               store->states.table.slot_count + store->contents.table.slot_count) +
           store->flag_capacity;
}
