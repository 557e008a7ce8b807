#include "prefix.h"

#include "base/assert.h"
#include "base/seconds.h"
#include "base/thread.h"
#include "beside.h"
#include "lean.h"

/* Behind the last second access of these races' first examples. */
static uint64_t end_of(const mr_race_list *list)
{
    uint64_t end = 0;
    for (size_t i = 0; i < list->race_count; i++) {
        uint64_t second = list->examples[list->races[i].first_example].second.event;
        end = second >= end ? second + 1 : end;
    }
    return end;
}

/* How many of the first static races of the order has the detector found, too? `*found` is what the
 * call before this one said. */
static bool has_all(const mr_detector *detector, const mr_race_list *races, size_t *found)
{
    while (*found < races->race_count &&
           mr_detector_has(detector, races->races[*found].low, races->races[*found].high))
        ++*found;
    return *found == races->race_count;
}

/* Feeds the events of the stream until all races are found, or to the end. */
static mr_status feed(const mr_sweep_job *job, mr_detector *detector)
{
    mr_events events;
    size_t found = 0;
    mr_status status;
    do {
        status = mr_stream_next(job->sweep->stream, &events, job->error);
        if (status == MR_OK && events.count > 0)
            status = mr_detector_feed(detector, &events, job->error);
    } while (status == MR_OK && events.count > 0 &&
             !has_all(detector, &job->sweep->result.list, &found));
    return status;
}

static mr_detector *new_shb(const mr_sweep_job *job)
{
    const mr_screen *screen = job->shared->screen;
    mr_detect_options options = {.most_examples = 1,
                                 .outlook = screen ? mr_screen_outlook(screen)
                                                   : mr_stream_outlook(job->sweep->stream),
                                 .opaque = (mr_opaque)mr_config_choice(job->config, "opaque"),
                                 .halt = job->halt};
    return mr_detector_new(MR_RELATION_SHB, &options);
}

/* The races of shb, as far as they are wanted, from the stream, which is at its first event. */
static mr_status find_shb(const mr_sweep_job *job, mr_race_list *found)
{
    mr_detector *detector = new_shb(job);
    mr_status status =
        detector != NULL ? feed(job, detector) : mr_error_memory(job->error, "proving races");
    if (status == MR_OK)
        status = mr_detector_finish(detector, found, job->error);
    mr_detector_free(detector);
    return status;
}

/* ---- beside the order ---- */

/* Waits until the order has a race that shb has not, or will have none. False: shb has all, or nobody asks. `*found`: so many
 * of the first items of `races` are of races that shb has. */
static bool is_asked(mr_ahead *ahead, const mr_detector *detector, size_t *found)
{
    bool lacks = false;
    pthread_mutex_lock(&ahead->mutex);
    for (;;) {
        const uint32_t *races = ahead->races.items;
        while (*found < ahead->races.count &&
               mr_detector_has(detector, races[*found], races[*found + 1]))
            *found += 2;
        lacks = *found < ahead->races.count || ahead->untold;
        if (lacks || ahead->ended || ahead->unwanted)
            break;
        pthread_cond_wait(&ahead->changed, &ahead->mutex);
    }
    lacks = lacks && !ahead->unwanted;
    pthread_mutex_unlock(&ahead->mutex);
    return lacks;
}

static mr_status feed_ahead(mr_ahead *ahead, mr_detector *detector)
{
    mr_stream *stream = ahead->job->sweep->stream;
    mr_events events;
    mr_status status = MR_OK;
    size_t found = 0;
    for (size_t block = 0; status == MR_OK && is_asked(ahead, detector, &found); block++) {
        if (!mr_stream_follow(stream, block, &events) || !events.count)
            break;
        status = mr_detector_feed(detector, &events, &ahead->error);
    }
    if (status == MR_OK && mr_stream_changed(stream))
        status = mr_error_set(&ahead->error, MR_ERR_IO, ahead->job->path, 0, MR_STREAM_HAS_CHANGED);
    return status;
}

static void *run_ahead(void *argument)
{
    mr_ahead *ahead = argument;
    mr_detector *detector = new_shb(ahead->job);
    ahead->status =
        detector ? feed_ahead(ahead, detector) : mr_error_memory(&ahead->error, "proving races");
    if (ahead->status == MR_OK)
        ahead->status = mr_detector_finish(detector, &ahead->found, &ahead->error);
    mr_detector_free(detector);
    pthread_mutex_lock(&ahead->mutex);
    ahead->done = true;
    pthread_mutex_unlock(&ahead->mutex);
    return NULL;
}

/* Two orders at once take twice the memory. */
static bool has_room(const mr_sweep_job *job)
{
    enum { SHARE = 16, VARIABLE_BYTES = 64 };
    const mr_outlook *outlook = mr_stream_outlook(job->sweep->stream);
    uint64_t limit = mr_config_memory_bytes(job->config);
    return outlook && (!limit || outlook->variable_count <= limit / SHARE / VARIABLE_BYTES);
}

static void start(const mr_sweep_job *job, mr_ahead *ahead)
{
    mr_events first;
    ahead->job = job;
    if (!mr_sweep_marks(job) || mr_lean_wants_more(job) || !has_room(job) ||
        mr_thread_cores() < 2 || !mr_stream_follow(job->sweep->stream, 0, &first) ||
        pthread_mutex_init(&ahead->mutex, NULL))
        return;
    if (!pthread_cond_init(&ahead->changed, NULL)) {
        ahead->threaded = mr_thread_start(&ahead->thread, run_ahead, ahead);
        if (ahead->threaded)
            return;
        pthread_cond_destroy(&ahead->changed);
    }
    pthread_mutex_destroy(&ahead->mutex);
}

/* Blocks that the order has had. They have equally many events, but for the last one. */
static bool give_block(const void *source, uint64_t event, mr_events *events)
{
    const mr_sweep_job *job = source;
    mr_stream *stream = job->sweep->stream;
    if (!mr_stream_follow(stream, 0, events) || !events->count ||
        !mr_stream_follow(stream, (size_t)(event / events->count), events))
        return false;
    return events->first <= event && event - events->first < events->count;
}

/* Has shb all races of the order so far, by what is seen of them one by one? */
static bool are_shown(const mr_sweep_job *job, const mr_race_list *list)
{
    return job->relation == MR_RELATION_HB && mr_sweep_marks(job) && !mr_lean_wants_more(job) &&
           mr_shown_look(&job->shared->shown, list, give_block, job);
}

void mr_ahead_tell(const mr_sweep_job *job, const mr_race_list *list)
{
    mr_ahead *ahead = &job->shared->ahead;
    if (list->race_count == ahead->told || are_shown(job, list))
        return;
    if (!ahead->job)
        start(job, ahead);
    if (!ahead->threaded)
        return;
    pthread_mutex_lock(&ahead->mutex);
    for (; ahead->told < list->race_count; ahead->told++)
        ahead->untold |= !mr_u32s_push(&ahead->races, list->races[ahead->told].low) ||
                         !mr_u32s_push(&ahead->races, list->races[ahead->told].high);
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->mutex);
}

bool mr_ahead_goes_on(const mr_sweep_job *job)
{
    mr_ahead *ahead = &job->shared->ahead;
    if (!ahead->threaded)
        return false;
    pthread_mutex_lock(&ahead->mutex);
    bool done = ahead->done;
    ahead->ended = true;
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->mutex);
    return !done;
}

static void wait_for(mr_ahead *ahead)
{
    if (!ahead->threaded)
        return;
    pthread_join(ahead->thread, NULL);
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->mutex);
    mr_u32s_free(&ahead->races);
    ahead->threaded = false;
}

void mr_ahead_drop(mr_ahead *ahead)
{
    if (ahead->threaded) {
        pthread_mutex_lock(&ahead->mutex);
        ahead->unwanted = true;
        pthread_cond_signal(&ahead->changed);
        pthread_mutex_unlock(&ahead->mutex);
        mr_stream_stop(ahead->job->sweep->stream); /* it may wait for a block */
    }
    wait_for(ahead);
    mr_race_list_free(&ahead->found);
}

/* What shb has found, as `find_shb`. */
static mr_status take(const mr_sweep_job *job, mr_ahead *ahead, mr_race_list *found)
{
    MR_ASSERT(ahead->ended || !ahead->threaded);
    wait_for(ahead);
    *found = ahead->found;
    ahead->found = (mr_race_list){0};
    if (ahead->status != MR_OK)
        *job->error = ahead->error;
    return ahead->status;
}

/* ---- how many events proofs need ---- */

/* Behind the last event that a proof by one of these races, or by the examples of the order's own, needs. All events, when these
 * may not prove all races, and are most of them, or the others cannot be had later. */
static uint64_t end_of_proofs(const mr_sweep_job *job, const mr_race_list *found)
{
    enum { SHARE = 4 };
    const mr_race_list *races = &job->sweep->result.list;
    uint64_t end = end_of(races), all = job->sweep->names->event_count;
    bool lacks = false;
    for (size_t i = 0; i < races->race_count; i++) {
        uint32_t number = mr_race_list_find(found, races->races[i].low, races->races[i].high);
        lacks |= number == UINT32_MAX;
        if (number == UINT32_MAX)
            continue;
        uint64_t second = found->examples[found->races[number].first_example].second.event;
        end = second >= end ? second + 1 : end;
    }
    return lacks && (end > all - all / SHARE || !mr_lean_may_grow(job)) ? all : end;
}

mr_status mr_sweep_prefix(const mr_sweep_job *job, uint64_t *end)
{
    mr_sweep *sweep = job->sweep;
    mr_race_list found = {0};
    *end = sweep->names->event_count;
    if (mr_relation_sound(job->relation)) {
        if (mr_lean_is_enough(job))
            *end = end_of(&sweep->result.list);
        return MR_OK;
    }
    mr_ahead *ahead = &job->shared->ahead;
    bool runs = mr_ahead_goes_on(job) || ahead->threaded;
    if (!job->mark || !mr_lean_is_enough(job) || !mr_stream_rewind(sweep->stream)) {
        mr_ahead_drop(ahead);
        return MR_OK;
    }
    double begin = mr_seconds();
    mr_status status = MR_OK;
    if (runs)
        status = take(job, ahead, &found);
    else if (!mr_shown_take(&job->shared->shown, &sweep->result.list, &found))
        status = find_shb(job, &found);
    sweep->result.stats.mark_seconds += mr_seconds() - begin;
    if (status == MR_OK) {
        *end = end_of_proofs(job, &found);
        mr_beside_give(&job->shared->shb, MR_RELATION_SHB, &found);
        return MR_OK;
    }
    mr_race_list_free(&found);
    return status == MR_ERR_HALTED ? mr_halt_fail(job->halt, NULL, "proving races", job->error)
                                   : status;
}
