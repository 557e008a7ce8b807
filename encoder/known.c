#include "known.h"

#include "base/assert.h"

/* For each row of a slot, how many rows there are up to its latest node: node_end[row], 0: none. */
static void find_nodes(const mr_encoding *encoding, uint32_t *node_end)
{
    const mr_known *known = encoding->options.known;
    for (uint32_t s = 0; s < known->slot_count; s++) {
        uint32_t latest = 0;
        for (uint32_t row = known->row_first[s]; row < known->row_first[s] + known->row_count[s];
             row++) {
            if (mr_encoding_find(encoding, known->rows->event_of[row]))
                latest = row - known->row_first[s] + 1;
            node_end[row] = latest;
        }
    }
}

/* Adds the edges into a row's node. `had`, a number of rows for each slot, says which edges the node
 * before it in its thread has already. */
static void add_edges(mr_encoding *encoding, const uint32_t *node_end, uint32_t row, uint32_t slot,
                      uint32_t *had)
{
    const mr_known *known = encoding->options.known;
    const uint32_t *clock = mr_known_clock(known, row);
    uint32_t node = mr_encoding_find(encoding, known->rows->event_of[row]) - 1;
    for (uint32_t s = 0; s < known->slot_count; s++) {
        if (s == slot || clock[s] == 0)
            continue;
        MR_ASSERT(clock[s] <= known->row_count[s]);
        uint32_t end = node_end[known->row_first[s] + clock[s] - 1];
        if (end <= had[s])
            continue;
        had[s] = end;
        uint32_t before = known->rows->event_of[known->row_first[s] + end - 1];
        mr_formula_edge(&encoding->formula, mr_encoding_find(encoding, before) - 1, node);
    }
}

void mr_encode_known(mr_encoding *encoding)
{
    const mr_known *known = encoding->options.known;
    if (!known || !known->clocks)
        return;
    uint32_t *node_end = mr_arena_alloc(encoding->arena, known->rows->count, sizeof *node_end);
    uint32_t *had = mr_arena_alloc(encoding->arena, known->slot_count, sizeof *had);
    if (!node_end || !had) {
        encoding->formula.out_of_memory = true;
        return;
    }
    find_nodes(encoding, node_end);
    for (uint32_t slot = 0; slot < known->slot_count; slot++) {
        for (uint32_t s = 0; s < known->slot_count; s++)
            had[s] = 0;
        for (uint32_t row = known->row_first[slot];
             row < known->row_first[slot] + known->row_count[slot]; row++)
            if (mr_encoding_find(encoding, known->rows->event_of[row]) &&
                mr_encoding_in_cone(encoding, known->rows->event_of[row]))
                add_edges(encoding, node_end, row, slot, had);
    }
}
