#include "fork_join.h"

#include "base/assert.h"

static void edge(mr_encoding *encoding, uint32_t u, uint32_t v)
{
    mr_formula_edge(&encoding->formula, mr_encoding_node(encoding, u),
                    mr_encoding_node(encoding, v));
}

void mr_encode_fork_join(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t fork = w->threads[t].fork;
        if (!encoding->cone[t])
            continue;
        if (fork != MR_NONE && mr_encoding_in_region(encoding, fork))
            edge(encoding, fork, mr_window_at(w, t, 0));
        for (uint32_t k = encoding->from[t]; k < encoding->to[t]; k++) {
            uint32_t event = mr_window_at(w, t, k), joined = w->object[event];
            if (!mr_op_joins(mr_window_op(w, event)) || joined == MR_NONE)
                continue;
            MR_ASSERT(encoding->cone[joined] == mr_window_length(w, joined));
            mr_encoding_node(encoding, mr_window_at(w, joined, 0));
            edge(encoding, mr_window_at(w, joined, mr_window_length(w, joined) - 1), event);
        }
    }
}
