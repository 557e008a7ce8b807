#include "race.h"

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
