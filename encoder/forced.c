#include "forced.h"

#include "base/assert.h"

#include <string.h>

/* One an event of C: node + 1 of it or of the latest one before it in its thread, 0: none. */
static uint32_t *find_latest(const mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    uint32_t *latest = mr_arena_alloc(encoding->arena, w->size, sizeof *latest);
    for (uint32_t t = 0; latest && t < w->thread_count; t++) {
        uint32_t node = 0;
        for (uint32_t k = 0; k < encoding->cone[t]; k++) {
            uint32_t event = mr_window_at(w, t, k);
            node = encoding->node_of[event] ? encoding->node_of[event] : node;
            latest[event] = node;
        }
    }
    return latest;
}

/* The edges into one node; `had` is the latest node of each thread that has one already. */
static void state_before(mr_encoding *encoding, uint32_t event, const uint32_t *latest,
                         uint32_t *had)
{
    const mr_window *w = encoding->window;
    const uint32_t *clock = encoding->forced->clock[event];
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t count = mr_precedence_count(w, clock, w->thread[event], t);
        if (t == w->thread[event] || !count)
            continue;
        MR_ASSERT(count <= encoding->cone[t]); /* C is closed under FORCED */
        uint32_t node = latest[mr_window_at(w, t, count - 1)];
        if (!node || node == had[t])
            continue;
        mr_formula_edge(&encoding->formula, node - 1, encoding->node_of[event] - 1);
        had[t] = node;
    }
}

bool mr_encode_forced(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    if (!encoding->forced->refined)
        return true;
    uint32_t *latest = find_latest(encoding);
    uint32_t *had = mr_arena_alloc(encoding->arena, w->thread_count, sizeof *had);
    if (!latest || !had)
        return false;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        memset(had, 0, w->thread_count * sizeof *had);
        for (uint32_t k = 0; k < encoding->cone[t]; k++) {
            uint32_t event = mr_window_at(w, t, k);
            if (encoding->node_of[event])
                state_before(encoding, event, latest, had);
        }
    }
    return true;
}
