#include "barrier_pairs.h"

#include "base/assert.h"

/* What a later access of a list needs when its thread stops there. */
static void encode_stop(mr_encoding *encoding, uint32_t previous, uint32_t stop)
{
    const mr_window *w = encoding->window;
    for (size_t k = mr_window_barrier_edges_from(w, stop);
         k < w->barrier_edge_count && w->barrier_edges[k].to == stop; k++) {
        uint32_t from = w->barrier_edges[k].from;
        mr_clause clause = {0};
        MR_ASSERT(encoding->window->thread[from] != encoding->window->thread[stop]);
        if (mr_encoding_is_required(encoding, from))
            continue;
        mr_clause_unless_included(encoding, &clause, previous);
        clause.literals[clause.count++] =
            mr_before(mr_encoding_node(encoding, from), encoding->cut);
        mr_clause_end(encoding, &clause);
    }
}

void mr_encode_barrier_pairs(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    bool region = mr_encoding_has_region(encoding);
    size_t first = region ? mr_window_barrier_edges_from(w, encoding->options.first) : 0;
    for (size_t k = first; k < w->barrier_edge_count; k++) {
        if (!mr_encoding_in_region(encoding, w->barrier_edges[k].to))
            break; /* they are in the order of `to` */
        if (mr_encoding_in_cone(encoding, w->barrier_edges[k].to))
            mr_formula_edge(&encoding->formula,
                            mr_encoding_node(encoding, w->barrier_edges[k].from),
                            mr_encoding_node(encoding, w->barrier_edges[k].to));
    }
    if (!w->barrier_edge_count)
        return;
    for (uint32_t side = 0; side < encoding->goal->stop_count; side++) {
        const mr_stops *stops = &encoding->goal->stops[side];
        for (uint32_t i = 1; i < stops->count; i++)
            encode_stop(encoding, stops->events[i - 1], stops->events[i]);
    }
}
