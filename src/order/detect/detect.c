#include "detect.h"

#include "order/cp/cp.h"
#include "order/screen.h"
#include "order/syncp/syncp.h"

/* Events fed to a streaming order between two reports of progress. */
enum { BLOCK_EVENTS = 1 << 16 };

static mr_events block_of(const mr_trace *trace, uint32_t first, uint32_t end)
{
    uint32_t left = end - first;
    return mr_events_of_trace(trace, first, left < BLOCK_EVENTS ? left : BLOCK_EVENTS);
}

/* The events before `end`. Nobody is told of the progress of a second pass. */
static mr_status feed_trace(mr_detector *detector, const char *stage, const mr_trace *trace,
                            uint32_t end, const mr_detect_options *options, mr_error *error)
{
    mr_status status = MR_OK;
    size_t told = 0;
    for (uint32_t first = 0; first < end && status == MR_OK;) {
        mr_events events = block_of(trace, first, end);
        status = mr_detector_feed(detector, &events, error);
        first += events.count;
        if (options->races && mr_detector_list(detector)->race_count > told) {
            options->races(options->context, mr_detector_list(detector));
            told = mr_detector_list(detector)->race_count;
        }
        if (stage)
            mr_progress_tell(options->progress, stage, first, trace->event_count);
    }
    return status;
}

/* With no stage, it is a second pass. */
static mr_status detect_streaming(mr_relation relation, const char *stage, const mr_trace *trace,
                                  uint32_t end, const mr_detect_options *options,
                                  mr_race_list *list, mr_error *error)
{
    mr_detector *detector = mr_detector_new(relation, options);
    if (!detector)
        return mr_error_memory(error, "looking for races");
    mr_status status = feed_trace(detector, stage, trace, end, options, error);
    if (status == MR_OK || status == MR_ERR_HALTED) {
        mr_status finished = mr_detector_finish(detector, list, error);
        status = finished == MR_OK ? status : finished;
    }
    mr_detector_free(detector);
    return status;
}

static mr_status screen_trace(mr_screen *screen, mr_relation relation, const mr_trace *trace,
                              const mr_detect_options *options, mr_error *error)
{
    mr_status status = MR_OK;
    for (uint32_t first = 0; first < trace->event_count && status == MR_OK;) {
        mr_events events = block_of(trace, first, trace->event_count);
        status = mr_screen_feed(screen, &events, error);
        first += events.count;
        mr_progress_tell(options->progress, mr_relation_name(relation), first, trace->event_count);
    }
    return status;
}

/* What a screen has seen when it was halted is looked at to its end, which takes a part of the time that the screen took. */
static mr_status detect_seen(mr_screen *screen, mr_relation relation, const mr_trace *trace,
                             const mr_detect_options *options, mr_race_list *list, mr_error *error)
{
    mr_detect_options rest = *options;
    uint32_t seen = (uint32_t)mr_screen_seen(screen);
    (void)mr_screen_end(screen);
    rest.outlook = mr_screen_outlook(screen);
    rest.halt = NULL;
    rest.races = NULL;
    mr_status status = detect_streaming(relation, NULL, trace, seen, &rest, list, error);
    return status == MR_OK ? MR_ERR_HALTED : status;
}

static mr_status detect_screened(mr_relation relation, const mr_trace *trace,
                                 const mr_detect_options *options, mr_race_list *list,
                                 mr_error *error)
{
    mr_screen *screen = options->screen ? *options->screen : NULL;
    mr_detect_options rest = *options;
    if (!screen) {
        screen = mr_screen_new(options);
        mr_status status = screen ? screen_trace(screen, relation, trace, options, error)
                                  : mr_error_memory(error, "looking for races");
        if (status == MR_ERR_HALTED)
            status = detect_seen(screen, relation, trace, options, list, error);
        if (status != MR_OK) {
            mr_screen_free(screen);
            return status;
        }
        (void)mr_screen_end(screen);
        if (options->screen)
            *options->screen = screen;
    }
    rest.outlook = mr_screen_outlook(screen);
    mr_status status =
        detect_streaming(relation, NULL, trace, trace->event_count, &rest, list, error);
    if (!options->screen)
        mr_screen_free(screen);
    return status;
}

static mr_status detect(mr_relation relation, const mr_trace *trace,
                        const mr_detect_options *options, mr_race_list *list, mr_error *error)
{
    switch (relation) {
    case MR_RELATION_CP:
        return mr_cp_find(trace, options, list, error);
    case MR_RELATION_SYNCP:
        return mr_syncp_find(trace, options, list, NULL, error);
    case MR_RELATION_HB:
    case MR_RELATION_FHB:
    case MR_RELATION_SHB:
    case MR_RELATION_WCP:
    case MR_RELATION_C17:
    case MR_RELATION_HYBRID:
    case MR_RELATION_COUNT:
        break;
    }
    if (mr_screen_serves(relation, trace->event_count))
        return detect_screened(relation, trace, options, list, error);
    return detect_streaming(relation, mr_relation_name(relation), trace, trace->event_count,
                            options, list, error);
}

mr_status mr_detect(mr_relation relation, const mr_trace *trace, const mr_detect_options *options,
                    mr_race_list *list, mr_error *error)
{
    mr_detect_options all = *options;
    mr_outlook outlook;
    mr_barrier_edges edges = {0};
    mr_status status = MR_OK;
    mr_outlook_init(&outlook);
    mr_race_list_init(list, options->most_examples, options->keep_events);
    if (!options->outlook) {
        all.outlook = &outlook;
        all.screen = NULL; /* it would outlive the outlook */
        if (!mr_outlook_of_trace(&outlook, trace))
            status = mr_error_memory(error, "looking which variables are shared");
    }
    if (status == MR_OK && !options->edges) {
        all.edges = &edges;
        status = mr_barrier_edges_find(trace, options->opaque, &edges, error);
    }
    if (status == MR_OK)
        status = detect(relation, trace, &all, list, error);
    if (status == MR_ERR_HALTED)
        mr_error_set(error, status, trace->path, 0, "looking for races was ended");
    mr_barrier_edges_free(&edges);
    mr_outlook_free(&outlook);
    return status;
}
