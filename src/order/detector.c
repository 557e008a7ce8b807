#include "detector.h"

#include "base/assert.h"
#include "feed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static bool start(mr_detector *detector)
{
    const mr_outlook *outlook = detector->options.outlook;
    detector->knows_allocs = detector->options.edges != NULL;
    detector->knows_calls = detector->knows_allocs || detector->options.opaque == MR_OPAQUE_IGNORE;
    if (!mr_edges_foresee(&detector->edges, detector->options.edges))
        return false;
    if (detector->relation == MR_RELATION_C17 &&
        !mr_edges_foresee(&detector->c17.edges, detector->options.edges))
        return false;
    if (!outlook)
        return true;
    if (!mr_variables_sparse(&detector->variables, outlook->variable_count))
        return false;
    return detector->relation != MR_RELATION_WCP ||
           (mr_wcp_grow(&detector->wcp, outlook->thread_count, outlook->lock_count) &&
            mr_sections_foresee(&detector->wcp.sections, outlook));
}

mr_detector *mr_detector_new(mr_relation relation, const mr_detect_options *options)
{
    MR_REQUIRE(mr_relation_streaming(relation));
    mr_detector *detector = mr_calloc(1, sizeof *detector);
    if (!detector)
        return NULL;
    detector->relation = relation;
    detector->options = *options;
    mr_race_list_init(&detector->list, options->most_examples, options->keep_events);
    detector->list.wanted = options->wanted;
    if (start(detector))
        return detector;
    mr_detector_free(detector);
    return NULL;
}

static void drop_clocks(const mr_detector *detector, mr_clock_pool *pool, mr_variable *variable)
{
    if (detector->relation == MR_RELATION_HYBRID) {
        mr_hybrid_free(variable->past, pool);
        return;
    }
    mr_clock_drop(pool, &variable->write_clock);
    mr_clock_drop(pool, &variable->read_clock);
    if (variable->is_atomic) {
        mr_clock_drop(pool, &variable->history->atomics->write_clock);
        mr_clock_drop(pool, &variable->history->atomics->read_clock);
    }
}

/* The clocks that shb, fhb, c17 and hybrid keep in the variables. */
static void drop_variable_clocks(mr_detector *detector)
{
    if (detector->relation == MR_RELATION_HB || detector->relation == MR_RELATION_WCP)
        return;
    size_t count = detector->variables.chunk_count * MR_VARIABLES_CHUNK;
    for (size_t i = 0; i < count; i++)
        drop_clocks(detector, &detector->wcp.hb.pool,
                    mr_variables_get(&detector->variables, (uint32_t)i));
}

void mr_detector_free(mr_detector *detector)
{
    if (!detector)
        return;
    drop_variable_clocks(detector);
    mr_variables_free(&detector->variables);
    mr_lock_sets_free(&detector->lock_sets);
    mr_c17_free(&detector->c17.order, &detector->wcp.hb.pool);
    mr_edges_free(&detector->c17.edges, &detector->c17.shb);
    mr_lives_free(&detector->c17.lives, &detector->c17.shb);
    mr_wcp_free(&detector->c17.shb);
    mr_edges_free(&detector->edges, &detector->wcp);
    mr_lives_free(&detector->lives, &detector->wcp);
    mr_wcp_free(&detector->wcp);
    mr_race_list_free(&detector->list);
    free(detector);
}

static bool grow_c17(mr_c17_feeding *c17, const mr_events *events)
{
    bool late; /* as with the other order */
    return mr_lives_learn(&c17->lives, events, &late) &&
           mr_c17_grow(&c17->order, events->thread_count) &&
           mr_hb_grow(&c17->shb.hb, events->thread_count, events->lock_count) &&
           mr_edges_grow(&c17->edges, events->lock_count);
}

static bool grow(mr_detector *detector, const mr_events *events)
{
    bool ok = detector->relation == MR_RELATION_WCP
                  ? mr_wcp_grow(&detector->wcp, events->thread_count, events->lock_count)
                  : mr_hb_grow(&detector->wcp.hb, events->thread_count, events->lock_count);
    uint32_t variables = detector->lives.variable_count;
    if (variables < events->variable_count)
        variables = events->variable_count;
    return ok && mr_edges_grow(&detector->edges, events->lock_count) &&
           (detector->relation != MR_RELATION_C17 || grow_c17(&detector->c17, events)) &&
           (detector->relation != MR_RELATION_HYBRID ||
            mr_lock_sets_grow(&detector->lock_sets, events->thread_count)) &&
           (detector->options.outlook || mr_variables_grow(&detector->variables, variables));
}

/* Feeds events that have no edges of calls between them. */
static mr_feed_end feed_run(mr_detector *detector, const mr_events *events)
{
    switch (detector->relation) {
    case MR_RELATION_HB:
        return detector->screen ? mr_screen_feed_run(detector, events)
                                : mr_hb_feed(detector, events);
    case MR_RELATION_FHB:
        return mr_fhb_feed(detector, events);
    case MR_RELATION_SHB:
        return mr_shb_feed(detector, events);
    case MR_RELATION_WCP:
        return mr_wcp_feed(detector, events);
    case MR_RELATION_C17:
        return mr_c17_feed(detector, events);
    case MR_RELATION_HYBRID:
        return mr_hybrid_feed(detector, events);
    case MR_RELATION_CP:
    case MR_RELATION_SYNCP:
    case MR_RELATION_COUNT:
        break;
    }
    MR_ASSERT(!"this order does not stream");
    return (mr_feed_end){MR_FEED_NO_MEMORY, 0};
}

/* The events from row `first` on, `count` of them. */
static mr_events part_of(const mr_events *events, uint32_t first, uint32_t count)
{
    mr_events part = *events;
    MR_ASSERT(first <= events->count && count <= events->count - first);
    part.first += first;
    part.count = count;
    part.op += first;
    part.thread += first;
    part.operand += first;
    part.location += first;
    if (part.memory_order)
        part.memory_order += first;
    return part;
}

/* The edges of calls into and from an event. */
static bool enter(mr_detector *detector, uint32_t event, uint32_t thread)
{
    mr_c17_feeding *c17 = &detector->c17;
    return mr_edges_enter(&detector->edges, &detector->wcp, event, thread) &&
           (detector->relation != MR_RELATION_C17 ||
            mr_edges_enter(&c17->edges, &c17->shb, event, thread));
}

static void leave(mr_detector *detector, uint32_t event, uint32_t thread)
{
    mr_c17_feeding *c17 = &detector->c17;
    mr_edges_leave(&detector->edges, &detector->wcp, event, thread);
    if (detector->relation == MR_RELATION_C17)
        mr_edges_leave(&c17->edges, &c17->shb, event, thread);
}

static mr_feed_end feed(mr_detector *detector, const mr_events *events)
{
    mr_edges *edges = &detector->edges;
    uint32_t row = 0;
    while (row < events->count) {
        uint32_t left = events->count - row, next = mr_edges_next(edges);
        /* `next` is not earlier than this row. Edges are known of a trace in memory only. */
        uint32_t before = next - (uint32_t)(events->first + row);
        mr_events part = part_of(events, row, next != MR_NONE && before < left ? before : left);
        mr_feed_end end = feed_run(detector, &part);
        row += end.row;
        if (end.stop != MR_FEED_DONE || row == events->count)
            return (mr_feed_end){end.stop, row};
        MR_ASSERT(next == events->first + row);
        part = part_of(events, row, 1);
        if (!enter(detector, next, part.thread[0]))
            return (mr_feed_end){MR_FEED_NO_MEMORY, row};
        end = feed_run(detector, &part);
        if (end.stop != MR_FEED_DONE)
            return (mr_feed_end){end.stop, row};
        leave(detector, next, part.thread[0]);
        row++;
    }
    return (mr_feed_end){MR_FEED_DONE, row};
}

static mr_status no_memory(const mr_detector *detector, mr_error *error)
{
    char what[64];
    snprintf(what, sizeof what, "looking for %s races", mr_relation_name(detector->relation));
    return mr_error_memory(error, what);
}

static mr_status unknown_order(uint64_t event, mr_error *error)
{
    return mr_error_set(error, MR_ERR_UNSUPPORTED, NULL, 0,
                        "event %" PRIu64 ": what a BarrierPair or the life of an object orders is "
                        "not known before the whole trace is; load it",
                        event);
}

/* Numbers that are kept must not overflow: events have 40 bits, the local times of threads 32, and so
 * have the sections of a thread that the outlook counts for wcp. */
static bool is_too_long(const mr_detector *detector, const mr_events *events)
{
    const uint64_t small = UINT64_C(1) << 31, most_sections = UINT64_C(1) << 33;
    uint64_t end = events->first + events->count;
    const mr_hb *hb = &detector->wcp.hb;
    if (end <= small)
        return false;
    if (end > MR_EVENTS_MOST || (detector->relation == MR_RELATION_WCP && end > most_sections))
        return true;
    for (size_t thread = 0; thread < hb->thread_count; thread++)
        if (hb->threads[thread].local > UINT32_MAX - 2 * events->count)
            return true;
    return false;
}

/* Events between two looks at the halt. Where one variable is accessed at hundreds of places, an event
 * may take a hundred microseconds. */
enum { EVENTS_A_LOOK = 1 << 12 };

mr_status mr_detector_feed(mr_detector *detector, const mr_events *events, mr_error *error)
{
    const mr_outlook *outlook = detector->options.outlook;
    if (detector->failed)
        return mr_error_set(error, MR_ERR_INTERNAL, NULL, 0, "events were fed after an error");
    detector->failed = true;
    if (outlook && (events->variable_count > outlook->variable_count ||
                    events->lock_count > outlook->lock_count))
        return mr_error_set(error, MR_ERR_INTERNAL, NULL, 0,
                            "the events are not those of the outlook: the trace has changed while "
                            "it was read; read it again");
    if (is_too_long(detector, events))
        return mr_error_set(error, MR_ERR_UNSUPPORTED, NULL, 0,
                            "event %" PRIu64
                            ": the trace is too long for the numbers of %s; cut it",
                            events->first, mr_relation_name(detector->relation));
    bool late;
    if (!mr_lives_learn(&detector->lives, events, &late) || !grow(detector, events))
        return no_memory(detector, error);
    if (late)
        return unknown_order(events->first, error);
    for (uint32_t row = 0; row < events->count;) {
        uint32_t left = events->count - row;
        mr_events part = part_of(events, row, left < EVENTS_A_LOOK ? left : EVENTS_A_LOOK);
        if (mr_halt_asked(detector->options.halt) != MR_HALT_NONE)
            return MR_ERR_HALTED;
        mr_feed_end end = feed(detector, &part);
        if (end.stop == MR_FEED_NO_MEMORY)
            return no_memory(detector, error);
        if (end.stop == MR_FEED_UNKNOWN)
            return unknown_order(part.first + end.row, error);
        row += part.count;
        detector->list.seen_events = events->first + row;
    }
    detector->failed = false;
    return MR_OK;
}

const mr_race_list *mr_detector_list(const mr_detector *detector)
{
    return &detector->list;
}

bool mr_detector_has(const mr_detector *detector, uint32_t location, uint32_t other)
{
    return mr_race_list_find(&detector->list, location, other) != UINT32_MAX;
}

mr_status mr_detector_finish(mr_detector *detector, mr_race_list *list, mr_error *error)
{
    *list = detector->list;
    list->wanted = NULL;
    mr_race_list_init(&detector->list, 0, false);
    return mr_race_list_finish(list) ? MR_OK : no_memory(detector, error);
}
