#include "forced.h"

#include "base/assert.h"

#include <string.h>

/*
 * The edges into one node. `passed`: for each thread, its nodes up to there (an index in by_thread) are
 * certainly before what the thread of the event did last; that of the latest one has an edge. It is moved on
 * to what is certainly before this event.
 */
static void state_before(mr_encoding *encoding, uint32_t event, uint32_t *passed)
{
    const mr_window *w = encoding->window;
    const uint32_t *clock = encoding->forced->clock[event], *first = encoding->thread_first;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t count = mr_precedence_count(w, clock, w->thread[event], t), at = passed[t];
        if (t == w->thread[event] || !count)
            continue;
        MR_ASSERT(count <= encoding->cone[t]); /* C is closed under FORCED */
        while (at < first[t + 1] &&
               w->position[encoding->event_of[encoding->by_thread[at]]] < count)
            at++;
        if (at == passed[t])
            continue;
        mr_formula_edge(&encoding->formula, encoding->by_thread[at - 1],
                        mr_encoding_find(encoding, event) - 1);
        passed[t] = at;
    }
}

bool mr_encode_forced(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    const uint32_t *first = encoding->thread_first;
    if (!encoding->forced->refined)
        return true;
    uint32_t *passed = mr_arena_alloc(encoding->arena, w->thread_count, sizeof *passed);
    if (!passed)
        return false;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        memcpy(passed, first, w->thread_count * sizeof *passed);
        for (uint32_t i = first[t]; i < first[t + 1]; i++)
            state_before(encoding, encoding->event_of[encoding->by_thread[i]], passed);
    }
    return true;
}
