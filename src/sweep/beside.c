#include "beside.h"

#include "base/assert.h"
#include "base/thread.h"
#include "order/detect/detect.h"

static const mr_outlook *outlook_of(const mr_sweep_job *job, const mr_trace *trace)
{
    mr_sweep_shared *shared = job->shared;
    if (trace->outlook)
        return trace->outlook;
    if (!shared->has_outlook) {
        mr_outlook_free(&shared->outlook);
        mr_outlook_init(&shared->outlook);
        shared->has_outlook = mr_outlook_of_trace(&shared->outlook, trace);
    }
    return shared->has_outlook ? &shared->outlook : NULL;
}

static const mr_barrier_edges *edges_of(const mr_sweep_job *job, const mr_trace *trace)
{
    mr_sweep_shared *shared = job->shared;
    mr_opaque opaque = (mr_opaque)mr_config_choice(job->config, "opaque");
    mr_error unused = {0};
    if (!shared->has_edges) {
        mr_barrier_edges_free(&shared->edges);
        shared->has_edges = mr_barrier_edges_find(trace, opaque, &shared->edges, &unused) == MR_OK;
    }
    return shared->has_edges ? &shared->edges : NULL;
}

static mr_screen **screen_of(const mr_sweep_job *job, const mr_trace *trace)
{
    mr_sweep_shared *shared = job->shared;
    return shared->of_stream && trace == job->sweep->loaded ? NULL : &shared->screen;
}

mr_detect_options mr_sweep_options(const mr_sweep_job *job, const mr_trace *trace,
                                   uint32_t most_examples)
{
    return (mr_detect_options){.most_examples = most_examples,
                               .outlook = outlook_of(job, trace),
                               .opaque = (mr_opaque)mr_config_choice(job->config, "opaque"),
                               .edges = edges_of(job, trace),
                               .progress = job->progress,
                               .halt = job->halt,
                               .screen = screen_of(job, trace)};
}

static bool may_have_thread(const mr_sweep_job *job, const mr_trace *trace)
{
    return trace->event_count >= MR_BESIDE_LEAST && mr_config_int(job->config, "jobs") != 1 &&
           mr_thread_cores() > 1;
}

static void *detect(void *argument)
{
    mr_beside *beside = argument;
    if (beside->relation == MR_RELATION_SYNCP)
        beside->status = mr_syncp_find(beside->trace, &beside->options, &beside->found,
                                       &beside->index, &beside->error);
    else
        beside->status = mr_detect(beside->relation, beside->trace, &beside->options,
                                   &beside->found, &beside->error);
    return NULL;
}

/* Says what is to be done. */
static void want(mr_beside *beside, const mr_sweep_job *job, mr_relation relation,
                 const mr_trace *trace)
{
    *beside = (mr_beside){
        .relation = relation, .trace = trace, .options = mr_sweep_options(job, trace, 1)};
    if (relation == MR_RELATION_SYNCP && job->shared->left.location_count)
        beside->options.wanted = &job->shared->left;
}

void mr_beside_start(mr_beside *beside, const mr_sweep_job *job, mr_relation relation,
                     const mr_trace *trace)
{
    if (beside->started || !may_have_thread(job, trace))
        return;
    want(beside, job, relation, trace);
    beside->options.progress = NULL; /* it is told by the caller's thread alone */
    beside->started = beside->threaded = mr_thread_start(&beside->thread, detect, beside);
}

static void wait_for(mr_beside *beside)
{
    if (beside->threaded)
        pthread_join(beside->thread, NULL);
    beside->threaded = false;
}

void mr_beside_give(mr_beside *beside, mr_relation relation, mr_race_list *found)
{
    *beside = (mr_beside){.relation = relation, .started = true, .found = *found};
    *found = (mr_race_list){0};
}

bool mr_beside_give_shown(const mr_sweep_job *job)
{
    mr_race_list found;
    if (!mr_shown_take(&job->shared->shown, &job->sweep->result.list, &found))
        return false;
    mr_beside_give(&job->shared->shb, MR_RELATION_SHB, &found);
    return true;
}

mr_status mr_beside_take(mr_beside *beside, const mr_sweep_job *job, mr_relation relation,
                         const mr_trace *trace, mr_race_list *found, mr_syncp_index **index,
                         mr_error *error)
{
    wait_for(beside);
    if (!beside->started) {
        want(beside, job, relation, trace);
        detect(beside);
    }
    *found = beside->found;
    *index = beside->index;
    beside->found = (mr_race_list){0};
    beside->index = NULL;
    beside->started = false;
    if (beside->status != MR_OK)
        *error = beside->error;
    return beside->status;
}

/* Those of the trace from `event` on, or of the stream, when it has more. Block `number` of the stream begins there. */
static bool next_events(const mr_beside_parted *beside, uint64_t event, size_t number,
                        mr_events *events)
{
    enum { EVENTS_A_LOOK = 1 << 16 };
    const mr_trace *trace = beside->trace;
    const mr_sweep *sweep = beside->job->sweep;
    if (trace->event_count < sweep->names->event_count)
        return mr_stream_follow(sweep->stream, number, events) && events->count;
    uint64_t left = trace->event_count - event;
    *events = mr_events_of_trace(trace, (uint32_t)event,
                                 (uint32_t)(left < EVENTS_A_LOOK ? left : EVENTS_A_LOOK));
    mr_trace_pass(trace, (uint32_t)event);
    return true;
}

/* Without a progress line: it takes less than reading the trace. */
static void *look_parted(void *argument)
{
    mr_beside_parted *beside = argument;
    const mr_sweep_job *job = beside->job;
    uint64_t all = job->sweep->names->event_count;
    mr_parted *parted = mr_parted_new(&job->shared->left, beside->outlook);
    mr_events events = {0};
    bool ok = parted != NULL;
    size_t number = 0;
    for (uint64_t event = 0; ok && event < all && !mr_parted_is_over(parted); event += events.count)
        ok = !atomic_load(&beside->unwanted) && mr_halt_asked(job->halt) == MR_HALT_NONE &&
             next_events(beside, event, number++, &events) && mr_parted_feed(parted, &events);
    if (ok)
        beside->parted = parted;
    else
        mr_parted_free(parted);
    return NULL;
}

void mr_beside_start_parted(const mr_sweep_job *job, const mr_trace *trace)
{
    mr_beside_parted *beside = &job->shared->parted;
    MR_REQUIRE(!beside->trace);
    beside->job = job;
    beside->trace = trace;
    beside->outlook = outlook_of(job, trace);
    if (may_have_thread(job, trace))
        beside->threaded = mr_thread_start(&beside->thread, look_parted, beside);
}

void mr_beside_wait_parted(const mr_sweep_job *job)
{
    mr_beside_parted *beside = &job->shared->parted;
    if (beside->threaded)
        pthread_join(beside->thread, NULL);
    else if (beside->trace)
        look_parted(beside);
    beside->threaded = false;
}

void mr_beside_drop_parted(mr_beside_parted *beside)
{
    atomic_store(&beside->unwanted, true);
    if (beside->threaded)
        pthread_join(beside->thread, NULL);
    beside->threaded = false;
    mr_parted_free(beside->parted);
    beside->parted = NULL;
}

void mr_sweep_shared_free(mr_sweep_shared *shared)
{
    mr_ahead_drop(&shared->ahead);
    mr_lean_drop(&shared->lean);
    mr_beside *all[] = {&shared->shb, &shared->syncp};
    for (int i = 0; i < 2; i++) {
        wait_for(all[i]);
        mr_race_list_free(&all[i]->found);
        mr_syncp_index_free(all[i]->index);
    }
    mr_beside_drop_parted(&shared->parted);
    mr_shown_free(&shared->shown);
    mr_screen_free(shared->screen);
    mr_outlook_free(&shared->outlook);
    mr_barrier_edges_free(&shared->edges);
    mr_wanted_free(&shared->left);
}
