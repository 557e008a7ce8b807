#include "region.h"

#include "base/assert.h"

/* How many writers a read is offered at first; the events after the last stop. */
enum { STAGE = 4, AFTER_OF_BEFORE = 8 };

/* Chooses the events of the region. False: the stops are too far apart. */
static bool choose(const mr_window *w, const mr_goal *goal, const mr_decide_options *decide,
                   mr_encoding_options *options)
{
    const uint32_t events = decide->only_near_events;
    const uint32_t apart = decide->only_near_apart ? decide->only_near_apart : events;
    uint32_t first = w->size, last = 0;
    for (uint32_t i = 0; i < goal->stop_count; i++) {
        const mr_stops *stops = &goal->stops[i];
        uint32_t end = mr_stops_last(stops);
        first = stops->events[0] < first ? stops->events[0] : first;
        last = end > last ? end : last;
    }
    MR_ASSERT(first <= last && last < w->size);
    uint32_t after = w->size - last, most = events / AFTER_OF_BEFORE + 1;
    options->first = first < events ? 0 : first - events;
    options->end = last + (most < after ? most : after);
    return last - first <= apart;
}

mr_saturated mr_region_saturate(const mr_precedence *hard, const mr_precedence *forced,
                                const mr_goal *goal, const uint32_t *required,
                                const uint32_t *allowed, const mr_decide_options *options,
                                uint64_t *spent, mr_arena *arena)
{
    const mr_window *w = forced->window;
    mr_encoding_options formula = {.lazy = true,
                                   .stage = STAGE,
                                   .max_clauses = options->max_clauses,
                                   .max_bytes = mr_limits_formula_bytes(&options->limits)};
    mr_encoding encoding = {0};
    mr_saturated answer = MR_SATURATED_NO_MEMORY;
    MR_REQUIRE(options->only_near_events);
    if (w->model == MR_MODEL_BRANCH || !mr_goal_only_stops(goal) || !options->saturate_steps ||
        !choose(w, goal, options, &formula))
        return MR_SATURATED_OUT_OF_EFFORT;
    mr_arena_mark mark = mr_arena_get_mark(arena);
    if (mr_encoding_build(&encoding, w, hard, forced, required, allowed, goal, &formula, arena)) {
        int64_t *order = mr_arena_alloc(arena, encoding.formula.node_count, sizeof *order);
        if (order)
            answer = mr_saturate(&encoding, options->saturate_steps, spent, order, options->debug,
                                 arena);
    }
    mr_encoding_free(&encoding);
    mr_arena_release(arena, mark);
    return answer;
}
