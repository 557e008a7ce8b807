/*
 * model_store: the states that a search has seen. A state is kept exactly, never as a hash: the words
 * of its threads, and the number of its content, of which each is kept once. 4 bytes a word and about
 * 20 a state.
 */
#ifndef MR_HUNT_MODEL_STORE_H
#define MR_HUNT_MODEL_STORE_H

#include "model_state.h"

/* Rows of equal length, each once. */
typedef struct mr_rows {
    uint32_t *words;
    size_t capacity; /* in words */
    uint32_t length, count;
    mr_table table;
} mr_rows;

/* The number of the row; `is_new`: it was not there. MR_PMODEL_NONE: no memory. */
uint32_t mr_rows_add(mr_rows *rows, const uint32_t *words, bool *is_new);
void mr_rows_free(mr_rows *rows);

/* Zero-initialise, then mr_seen_init; free with mr_seen_free. */
typedef struct mr_seen {
    mr_rows states, contents;
    uint32_t *row;  /* room for a state: its threads, exited, the number of its content */
    uint8_t *flags; /* of states, for the search */
    size_t flag_capacity;
} mr_seen;

bool mr_seen_init(mr_seen *store, const mr_state *state);
void mr_seen_free(mr_seen *store);

/* The number of the state; `is_new`: it was not there. MR_PMODEL_NONE: no memory. */
uint32_t mr_seen_add(mr_seen *store, const mr_state *state, bool *is_new);
/* Makes `state` what it was. */
void mr_seen_get(const mr_seen *store, uint32_t number, mr_state *state);
/* Memory in use. */
uint64_t mr_seen_bytes(const mr_seen *store);

#endif
