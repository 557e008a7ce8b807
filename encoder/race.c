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
    const uint32_t *first = encoding->thread_first;
    for (uint32_t t = 0; t < encoding->window->thread_count; t++) {
        uint32_t i = first[t + 1];
        while (i > first[t] &&
               !mr_encoding_is_required(encoding, encoding->event_of[encoding->by_thread[i - 1]]))
            i--;
        if (i > first[t])
            mr_formula_edge(&encoding->formula, encoding->by_thread[i - 1], encoding->cut);
    }
}
