#include "lives.h"

static void encode_access(mr_encoding *encoding, uint32_t event)
{
    const mr_window *w = encoding->window;
    uint32_t end = mr_window_end_of_life(w, event);
    if (end == MR_NONE || w->thread[end] == w->thread[event] || !mr_encoding_in_cone(encoding, end))
        return;
    mr_clause clause = {0};
    mr_clause_unless_included(encoding, &clause, event);
    mr_clause_before(encoding, &clause, event, end);
    mr_clause_end(encoding, &clause);
}

void mr_encode_lives(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    for (uint32_t t = 0; w->freed_count && t < w->thread_count; t++)
        for (uint32_t k = encoding->from[t]; k < encoding->to[t]; k++)
            encode_access(encoding, mr_window_at(w, t, k));
}
