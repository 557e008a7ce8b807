#include "program_order.h"

void mr_encode_program_order(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t previous = 0;
        for (uint32_t k = 0; k < encoding->cone[t]; k++) {
            uint32_t node = encoding->node_of[mr_window_at(w, t, k)];
            if (node && previous)
                mr_formula_edge(&encoding->formula, previous - 1, node - 1);
            if (node)
                previous = node;
        }
    }
}
