/* find: from the file to the races of the order. */
#include "job.h"

#include "base/assert.h"
#include "base/seconds.h"
#include "beside.h"
#include "formats/read.h"
#include "observe.h"
#include "order/detect/detect.h"

#include <string.h>
#include <sys/stat.h>

/* A trace in memory takes less than so many times the bytes of its text, names included (2.4 times
 * where names are short), and this part of memory.limit_mb may be used for it. */
enum { MEMORY_A_BYTE = 3, KEPT_SHARE = 8 };

bool mr_sweep_reads_again(const mr_sweep_job *job)
{
    struct stat info;
    return strcmp(job->path, "-") != 0 && stat(job->path, &info) == 0 && S_ISREG(info.st_mode);
}

mr_read_options mr_sweep_read_options(const mr_sweep_job *job)
{
    return (mr_read_options){.repair = mr_config_bool(job->config, "repair"),
                             .keep_partial = true,
                             .progress = job->progress,
                             .memory_bytes = mr_config_memory_bytes(job->config),
                             .spill_dir = mr_config_text(job->config, "memory.spill_dir"),
                             .one_thread = mr_config_int(job->config, "jobs") == 1,
                             .halt = job->halt};
}

static mr_detect_options detect_options(const mr_sweep_job *job, const mr_outlook *outlook)
{
    return (mr_detect_options){.most_examples = (uint32_t)mr_config_int(job->config, "examples"),
                               .outlook = outlook,
                               .opaque = (mr_opaque)mr_config_choice(job->config, "opaque"),
                               .progress = job->progress,
                               .halt = job->halt};
}

/* Values are for the decision procedure, for files of witnesses, and for errors that happened: for those the trace is read
 * again. */
static bool needs_values(const mr_sweep_job *job)
{
    return job->confirm || mr_config_text(job->config, "witness.dir")[0] != '\0' ||
           !mr_sweep_reads_again(job);
}

mr_status mr_sweep_read(const mr_sweep_job *job, uint64_t least_events, bool without_values,
                        mr_trace **trace)
{
    mr_read_options options = mr_sweep_read_options(job);
    options.least_events = least_events;
    options.without_values = without_values;
    options.with_outlook = true;
    return mr_trace_read(job->path, &options, trace, job->error);
}

mr_status mr_sweep_load(const mr_sweep_job *job, uint64_t least_events)
{
    mr_sweep *sweep = job->sweep;
    double begin = mr_seconds();
    if (sweep->trace != NULL)
        return MR_OK;
    mr_status status = mr_sweep_read(job, least_events, !needs_values(job), &sweep->loaded);
    sweep->result.stats.load_seconds += mr_seconds() - begin;
    if (status != MR_OK && (status != MR_ERR_TRACE || sweep->loaded == NULL))
        return status;
    MR_ASSERT(sweep->loaded != NULL && sweep->names != NULL);
    uint64_t wanted = least_events ? least_events : sweep->names->event_count;
    if (sweep->loaded->event_count < wanted)
        return mr_error_set(job->error, MR_ERR_IO, job->path, 0, MR_STREAM_HAS_CHANGED);
    sweep->trace = sweep->loaded;
    return MR_OK;
}

static const mr_trace *trace_of(const mr_sweep_job *job)
{
    return job->given != NULL ? job->given : job->sweep->loaded;
}

static bool give_events(const void *source, uint64_t event, mr_events *events)
{
    const mr_trace *trace = trace_of(source);
    *events = mr_events_of_trace(trace, (uint32_t)event, trace->event_count - (uint32_t)event);
    return true;
}

/* The order has races, and those of shb are asked for. A thread looks for them, unless those of hb are shown to be the same. */
static void start_shb(const void *context, const mr_race_list *list)
{
    const mr_sweep_job *job = context;
    const mr_trace *trace = trace_of(job);
    if (job->relation == MR_RELATION_HB && !job->shared->edges.count &&
        mr_shown_look(&job->shared->shown, list, give_events, job))
        return;
    mr_beside_start(&job->shared->shb, job, MR_RELATION_SHB, trace);
}

/* The races of a trace in memory. */
static mr_status find_in(const mr_sweep_job *job, const mr_trace *trace, mr_error *error)
{
    mr_sweep *sweep = job->sweep;
    double begin = mr_seconds();
    mr_detect_options options =
        mr_sweep_options(job, trace, (uint32_t)mr_config_int(job->config, "examples"));
    if (mr_sweep_marks(job) && mr_relation_streaming(job->relation)) {
        options.races = start_shb;
        options.context = job;
    } else if (mr_sweep_marks(job)) {
        start_shb(job, NULL);
    }
    mr_status status = mr_detect(job->relation, trace, &options, &sweep->result.list, error);
    sweep->result.stats.find_seconds = mr_seconds() - begin;
    if (status == MR_OK || status == MR_ERR_HALTED)
        sweep->names = sweep->trace = trace;
    if (status == MR_OK && options.races != NULL)
        mr_beside_give_shown(job);
    return status;
}

static mr_status find_in_memory(const mr_sweep_job *job)
{
    mr_sweep *sweep = job->sweep;
    mr_error later = {0};
    double begin = mr_seconds();
    mr_status status = mr_sweep_read(job, 0, !needs_values(job), &sweep->loaded);
    sweep->result.stats.read_seconds = mr_seconds() - begin;
    if (sweep->loaded == NULL)
        return status;
    mr_status found = find_in(job, sweep->loaded, status == MR_OK ? job->error : &later);
    return status != MR_OK ? status : found;
}

/*
 * Will the trace be read twice, and is it small enough to be kept instead? Races are proven from a
 * trace in memory. So a text that takes at most 1/8 of the memory of the process is read into it at
 * once, which gives the same races. Packed files do not say how long they are, and an .mrt file has
 * its outlook and is read again at little cost: both are streams.
 */
static bool is_kept(const mr_sweep_job *job)
{
    struct stat info;
    uint64_t limit = mr_config_memory_bytes(job->config);
    if (!mr_sweep_proves(job) || !mr_sweep_reads_again(job) || stat(job->path, &info) != 0)
        return false;
    uint64_t bytes = (uint64_t)info.st_size * MEMORY_A_BYTE;
    return (limit == 0 || bytes <= limit / KEPT_SHARE) && mr_trace_is_plain_text(job->path);
}

/* A first pass over the file, which makes the outlook. It reports no damage of the file; the second
 * pass does. */
static mr_status make_outlook(const mr_sweep_job *job, mr_outlook *outlook)
{
    mr_stream *stream;
    mr_events events;
    mr_read_options options = mr_sweep_read_options(job);
    mr_status status = mr_stream_open(job->path, &options, &stream, job->error);
    if (status != MR_OK)
        return status;
    bool ok = true;
    do {
        status = mr_stream_next(stream, &events, job->error);
        if (status == MR_OK && events.count > 0)
            ok = mr_outlook_add(outlook, &events);
        if (status == MR_OK && mr_halt_asked(job->halt) != MR_HALT_NONE)
            status = mr_halt_fail(job->halt, job->path, "reading what the trace holds", job->error);
    } while (ok && status == MR_OK && events.count > 0);
    ok = ok && status != MR_ERR_MEMORY &&
         mr_outlook_finish(outlook, &mr_stream_dictionary(stream)->members);
    mr_stream_close(stream);
    if (status == MR_ERR_MEMORY || status == MR_ERR_HALTED)
        return status;
    return ok ? MR_OK : mr_error_memory(job->error, "reading what the trace holds");
}

/* Who gets the events of the stream: the order, or a screen before it. */
typedef struct taker {
    mr_detector *detector; /* NULL: the screen gets them */
    mr_screen *screen;
    mr_watch *watch;
} taker;

static mr_status give(const mr_sweep_job *job, const taker *to, const mr_events *events)
{
    mr_status status = to->detector ? mr_detector_feed(to->detector, events, job->error)
                                    : mr_screen_feed(to->screen, events, job->error);
    if (status == MR_ERR_HALTED)
        mr_stream_stop(job->sweep->stream);
    /* After a halt, too: some of these events were seen. */
    bool seen = status == MR_OK || status == MR_ERR_HALTED;
    if (seen && !mr_watch_events(to->watch, events))
        return mr_error_memory(job->error, "looking for errors that happened");
    return status;
}

/* Reads the stream. After an error of the file the taker has the events before the damage, and `*ended` is true, as at the end of
 * the file, and as after a halt. */
static mr_status feed(const mr_sweep_job *job, const taker *to, bool *ended)
{
    mr_order_stats *stats = &job->sweep->result.stats;
    mr_events events;
    uint32_t known = 0;
    *ended = false;
    for (;;) {
        double begin = mr_seconds();
        mr_status status = mr_stream_next(job->sweep->stream, &events, job->error);
        double ready = mr_seconds();
        stats->read_seconds += ready - begin;
        if (status != MR_OK || events.count == 0) {
            *ended = true;
            return status;
        }
        status = give(job, to, &events);
        *ended = status == MR_ERR_HALTED;
        stats->find_seconds += mr_seconds() - ready;
        if (status != MR_OK)
            return status;
        if (to->detector)
            mr_ahead_tell(job, mr_detector_list(to->detector));
        else if (mr_screen_race_count(to->screen) > known)
            mr_lean_foresee(job, events.first + events.count);
        known = to->screen ? mr_screen_race_count(to->screen) : 0;
    }
}

/* What the order has found when its events have ended with `status`. Returns that, or why nothing can be had. */
static mr_status finish(const mr_sweep_job *job, mr_detector *detector, mr_status status,
                        mr_error *error)
{
    mr_sweep *sweep = job->sweep;
    double begin = mr_seconds();
    mr_status finished = mr_detector_finish(detector, &sweep->result.list, error);
    sweep->result.stats.find_seconds += mr_seconds() - begin;
    if (finished == MR_OK)
        sweep->names = mr_stream_dictionary(sweep->stream);
    return status == MR_OK ? finished : status;
}

/* The events that the screen has seen, once more. */
static mr_status feed_seen(const mr_sweep_job *job, mr_detector *detector, uint64_t seen,
                           mr_error *error)
{
    mr_stream *stream = job->sweep->stream;
    mr_events events = {0};
    mr_status status = MR_OK;
    for (size_t block = 0; status == MR_OK && events.first + events.count < seen; block++) {
        if (!mr_stream_follow(stream, block, &events) || !events.count)
            break;
        if (seen - events.first < events.count)
            events.count = (uint32_t)(seen - events.first);
        status = mr_detector_feed(detector, &events, error);
        if (status == MR_OK)
            mr_ahead_tell(job, mr_detector_list(detector));
    }
    if (mr_stream_changed(stream))
        return mr_error_set(error, MR_ERR_IO, job->path, 0, MR_STREAM_HAS_CHANGED);
    return status;
}

/* The order on the variables that its screen has left, if any. */
static mr_status find_left(const mr_sweep_job *job, bool to_the_end, mr_error *error)
{
    mr_order_result *result = &job->sweep->result;
    uint64_t seen = mr_screen_seen(job->shared->screen);
    bool some = mr_screen_end(job->shared->screen) > 0;
    mr_detect_options options = detect_options(job, mr_screen_outlook(job->shared->screen));
    double begin = mr_seconds();
    if (to_the_end)
        options.halt = NULL;
    mr_detector *detector = mr_detector_new(job->relation, &options);
    mr_status status = detector != NULL ? MR_OK : mr_error_memory(error, "starting the analysis");
    if (status == MR_OK && some && !to_the_end && mr_sweep_proves(job))
        mr_lean_start(job);
    if (status == MR_OK && some)
        status = feed_seen(job, detector, seen, error);
    result->stats.find_seconds += mr_seconds() - begin;
    if (status == MR_OK || status == MR_ERR_HALTED)
        status = finish(job, detector, status, error);
    if (!some)
        result->list.seen_events = seen;
    mr_detector_free(detector);
    return status;
}

/* With a screen first. What that has seen when it is halted is looked at to the end, which takes a part of the time that it took. */
static mr_status find_by_screen(const mr_sweep_job *job, mr_watch *watch)
{
    mr_sweep_shared *shared = job->shared;
    mr_error later = {0};
    bool ended;
    mr_detect_options options = detect_options(job, mr_stream_outlook(job->sweep->stream));
    shared->screen = mr_screen_new(&options);
    shared->of_stream = true;
    if (shared->screen == NULL)
        return mr_error_memory(job->error, "starting the analysis");
    mr_status status = feed(job, &(taker){.screen = shared->screen, .watch = watch}, &ended);
    if (!ended)
        return status;
    mr_status found =
        find_left(job, status == MR_ERR_HALTED, status == MR_OK ? job->error : &later);
    return status == MR_OK ? found : status;
}

/* Can the blocks be seen twice, and is there little enough to see? */
static bool is_screened(const mr_sweep_job *job)
{
    mr_events first;
    const mr_outlook *outlook = mr_stream_outlook(job->sweep->stream);
    return outlook != NULL && mr_screen_serves(job->relation, outlook->event_count) &&
           mr_stream_follow(job->sweep->stream, 0, &first);
}

static mr_status find_in_stream(const mr_sweep_job *job, const mr_outlook *outlook, mr_watch *watch)
{
    bool ended;
    const mr_outlook *known = mr_stream_outlook(job->sweep->stream);
    mr_detect_options options = detect_options(job, known != NULL ? known : outlook);
    mr_detector *detector = mr_detector_new(job->relation, &options);
    if (detector == NULL)
        return mr_error_memory(job->error, "starting the analysis");
    mr_status status = feed(job, &(taker){.detector = detector, .watch = watch}, &ended);
    mr_error later = {0};
    if (ended)
        status = finish(job, detector, status, status == MR_OK ? job->error : &later);
    mr_detector_free(detector);
    return status;
}

/* Does the order need an outlook that costs a second reading of the file? */
static bool wants_outlook(const mr_sweep_job *job)
{
    return job->relation == MR_RELATION_WCP && mr_stream_outlook(job->sweep->stream) == NULL &&
           mr_sweep_reads_again(job);
}

/* The stream has BarrierPairs, or tells too late what belongs to an object. What these order needs
 * the whole trace, so the trace is read into memory. */
static mr_status find_after_all(const mr_sweep_job *job)
{
    if (!mr_sweep_reads_again(job))
        return mr_error_set(job->error, MR_ERR_UNSUPPORTED, job->path, 0,
                            "the trace has BarrierPairs (mbegin), or names a variable of an object "
                            "after its free, which takes a file that can be read twice; give a "
                            "file, or set opaque: ignore when it is BarrierPairs");
    mr_ahead_drop(&job->shared->ahead);
    mr_lean_drop(&job->shared->lean);
    mr_shown_free(&job->shared->shown); /* of the races so far: the whole trace may have others */
    mr_screen_free(job->shared->screen);
    job->shared->screen = NULL;
    job->shared->of_stream = false;
    mr_stream_close(job->sweep->stream);
    job->sweep->stream = NULL;
    return find_in_memory(job);
}

/* The memory orders that c17 asks for are not in the blocks of a stream. */
mr_status mr_sweep_find(const mr_sweep_job *job, mr_watch *watch)
{
    mr_outlook outlook;
    mr_read_options options = mr_sweep_read_options(job);
    if (job->given != NULL)
        return find_in(job, job->given, job->error);
    if (!mr_relation_streaming(job->relation) || job->relation == MR_RELATION_C17 ||
        (mr_sweep_proves(job) && !mr_sweep_reads_again(job)) || is_kept(job))
        return find_in_memory(job);
    mr_status status = mr_stream_open(job->path, &options, &job->sweep->stream, job->error);
    if (status != MR_OK)
        return status;
    bool twice = wants_outlook(job);
    mr_outlook_init(&outlook);
    if (twice) {
        double begin = mr_seconds();
        status = make_outlook(job, &outlook);
        job->sweep->result.stats.read_seconds += mr_seconds() - begin;
    }
    if (status == MR_OK)
        status = is_screened(job) ? find_by_screen(job, watch)
                                  : find_in_stream(job, twice ? &outlook : NULL, watch);
    mr_outlook_free(&outlook);
    return status == MR_ERR_UNSUPPORTED ? find_after_all(job) : status;
}
