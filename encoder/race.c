#include "race.h"

#include "base/assert.h"

void mr_encode_stops(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    for (uint32_t side = 0; side < encoding->goal->stop_count; side++) {
        const mr_stops *stops = &encoding->goal->stops[side];
        for (uint32_t i = 0; i + 1 < stops->count; i++) {
            uint32_t event = stops->events[i], next = stops->events[i + 1];
            uint32_t before_next = mr_window_at(w, w->thread[next], w->position[next] - 1);
            mr_clause clause = {0};
            MR_REQUIRE(w->thread[event] == w->thread[next] && event < next);
            mr_encoding_node(encoding, event); /* the solution must tell whether it is included */
            if (before_next == event)
                continue;
            mr_clause_unless_included(encoding, &clause, event);
            clause.literals[clause.count++] =
                mr_before(mr_encoding_node(encoding, before_next), encoding->cut);
            mr_clause_end(encoding, &clause);
        }
    }
}

void mr_encode_race(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        for (uint32_t k = encoding->required[t]; k > 0; k--) {
            uint32_t node = encoding->node_of[mr_window_at(w, t, k - 1)];
            if (!node)
                continue;
            mr_formula_edge(&encoding->formula, node - 1, encoding->cut);
            break;
        }
    }
}
