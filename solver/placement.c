#include "placement.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

bool mr_placement_init(mr_placement *placement, const mr_encoding *encoding, mr_arena *arena)
{
    uint32_t count = encoding->formula.node_count;
    *placement = (mr_placement){.encoding = encoding, .by_trace = encoding->by_trace};
    placement->first = mr_arena_alloc(arena, (size_t)count + 2, sizeof *placement->first);
    placement->cursor = mr_arena_alloc(arena, count, sizeof *placement->cursor);
    placement->pending = mr_arena_alloc(arena, count, sizeof *placement->pending);
    placement->needed = mr_arena_alloc(arena, count, 1);
    placement->placed = mr_arena_alloc(arena, count, 1);
    return placement->first && placement->cursor && placement->pending && placement->needed &&
           placement->placed;
}

void mr_placement_free(mr_placement *placement)
{
    free(placement->before);
    free(placement->true_literals);
}

void mr_placement_of_trace(const mr_placement *placement, int64_t *order)
{
    const mr_encoding *encoding = placement->encoding;
    uint32_t others = encoding->formula.node_count - 1;
    int64_t next = 0;
    for (int included = 1; included >= 0; included--) {
        for (uint32_t i = 0; i < others; i++) {
            uint32_t node = placement->by_trace[i];
            if (mr_encoding_is_required(encoding, encoding->event_of[node]) == (included == 1))
                order[node] = next++;
        }
        if (included)
            order[encoding->cut] = next++;
    }
}

static bool agrees_with_trace(const mr_encoding *encoding, mr_literal literal)
{
    return literal.u != encoding->cut && literal.v != encoding->cut &&
           encoding->event_of[literal.u] < encoding->event_of[literal.v];
}

/* The true literal of a clause that is kept; one that is a choice asks for no order. */
static mr_literal pick(const mr_encoding *encoding, const mr_literal *literals, size_t count,
                       const int64_t *order, const uint8_t *choices)
{
    mr_literal picked = {0};
    int best = 0; /* 1: any, 2: excludes an event, 3: agrees with the trace */
    for (size_t i = 0; i < count; i++) {
        mr_literal literal = literals[i];
        if (mr_is_choice(literal)) {
            if ((choices[literal.u] == 1) == (literal.v == MR_CHOICE))
                return literal;
            continue;
        }
        if (order[literal.u] >= order[literal.v])
            continue;
        int worth = agrees_with_trace(encoding, literal) ? 3 : literal.u == encoding->cut ? 2 : 1;
        if (worth > best) {
            best = worth;
            picked = literal;
        }
    }
    MR_ASSERT(best > 0); /* the model satisfies the clause */
    return picked;
}

/* Fills `true_literals`. False: no memory. */
static bool believe(mr_placement *placement, const int64_t *order, const uint8_t *choices)
{
    const mr_formula *formula = &placement->encoding->formula;
    void *literals = placement->true_literals;
    size_t need = formula->edge_count + formula->clause_count, begin = 0;
    if (!mr_grow(&literals, &placement->true_capacity, need, sizeof(mr_literal)))
        return false;
    placement->true_literals = literals;
    placement->true_count = 0;
    for (size_t i = 0; i < formula->edge_count; i++)
        placement->true_literals[placement->true_count++] = formula->edges[i];
    for (size_t k = 0; k < formula->clause_count; k++) {
        size_t end = formula->clause_ends[k];
        mr_literal literal =
            pick(placement->encoding, formula->literals + begin, end - begin, order, choices);
        if (!mr_is_choice(literal))
            placement->true_literals[placement->true_count++] = literal;
        begin = end;
    }
    return true;
}

/* Lists the predecessors of each node. False: no memory. */
static bool list_predecessors(mr_placement *placement)
{
    uint32_t count = placement->encoding->formula.node_count, *first = placement->first;
    void *before = placement->before;
    if (placement->true_count > UINT32_MAX ||
        !mr_grow(&before, &placement->before_capacity, placement->true_count, sizeof(uint32_t)))
        return false;
    placement->before = before;
    memset(first, 0, ((size_t)count + 2) * sizeof *first);
    for (size_t i = 0; i < placement->true_count; i++)
        first[placement->true_literals[i].v + 2]++;
    for (uint32_t node = 0; node < count; node++)
        first[node + 2] += first[node + 1];
    for (size_t i = 0; i < placement->true_count; i++) /* first[v + 1] walks through v's part */
        placement->before[first[placement->true_literals[i].v + 1]++] =
            placement->true_literals[i].u;
    return true;
}

/* Marks what must stand before CUT. */
static void mark_needed(mr_placement *placement)
{
    uint32_t depth = 0;
    memset(placement->needed, 0, placement->encoding->formula.node_count);
    placement->pending[depth++] = placement->encoding->cut;
    while (depth) {
        uint32_t node = placement->pending[--depth];
        for (uint32_t i = placement->first[node]; i < placement->first[node + 1]; i++) {
            uint32_t before = placement->before[i];
            if (placement->needed[before])
                continue;
            placement->needed[before] = 1;
            placement->pending[depth++] = before;
        }
    }
}

/* Places a node after its predecessors. */
static void place(mr_placement *placement, uint32_t node, int64_t *order, int64_t *next)
{
    uint32_t depth = 0;
    if (placement->placed[node])
        return;
    placement->pending[depth++] = node;
    while (depth) {
        uint32_t top = placement->pending[depth - 1];
        uint32_t *at = &placement->cursor[top], end = placement->first[top + 1];
        while (*at < end && placement->placed[placement->before[*at]])
            (*at)++;
        if (*at < end) {
            MR_ASSERT(depth < placement->encoding->formula.node_count); /* no cycle */
            placement->pending[depth++] = placement->before[*at];
            continue;
        }
        order[top] = (*next)++;
        placement->placed[top] = 1;
        depth--;
    }
}

bool mr_placement_order(mr_placement *placement, int64_t *order, const uint8_t *choices)
{
    const mr_encoding *encoding = placement->encoding;
    uint32_t count = encoding->formula.node_count;
    int64_t next = 0;
    if (!believe(placement, order, choices) || !list_predecessors(placement))
        return false;
    mark_needed(placement);
    memset(placement->placed, 0, count);
    memcpy(placement->cursor, placement->first, count * sizeof *placement->cursor);
    for (uint32_t i = 0; i + 1 < count; i++)
        if (placement->needed[placement->by_trace[i]])
            place(placement, placement->by_trace[i], order, &next);
    place(placement, encoding->cut, order, &next);
    for (uint32_t i = 0; i + 1 < count; i++)
        place(placement, placement->by_trace[i], order, &next);
    MR_ASSERT(next == count);
    return true;
}
