#include "lean.h"

#include "base/assert.h"
#include "base/huge.h"
#include "base/seconds.h"
#include "base/thread.h"
#include "beside.h"
#include "trace/columns.h"

#include <stdlib.h>
#include <string.h>

/* A lean trace takes less than so many bytes an event, and this part of memory.limit_mb may be used for it. Beyond that the
 * columns of a trace that is read anew are in files. */
enum { EVENT_BYTES = 32, SHARE = 4 };

static bool has_room(const mr_sweep_job *job, uint64_t end)
{
    uint64_t limit = mr_config_memory_bytes(job->config);
    return limit == 0 || end <= limit / SHARE / EVENT_BYTES;
}

/* Values are for the decision procedure and for files of witnesses. */
bool mr_lean_wants_more(const mr_sweep_job *job)
{
    return job->confirm || mr_config_text(job->config, "witness.dir")[0] != '\0';
}

/* What a call reaches is not in the blocks. */
bool mr_lean_is_enough(const mr_sweep_job *job)
{
    const mr_stream *stream = job->sweep->stream;
    return stream != NULL && !mr_lean_wants_more(job) &&
           !mr_op_total(mr_stream_dictionary(stream)->op_counts, MR_CALLS);
}

bool mr_lean_begin(const mr_sweep_job *job, uint64_t end)
{
    return mr_lean_is_enough(job) && has_room(job, end) && mr_stream_rewind(job->sweep->stream);
}

/* Puts the events into the columns. Where they are whole pages of the file, these are mapped there: memory that is touched for the
 * first time has to be cleared, which costs more than all that is done with it here. */
static void place(mr_lean_making *making, mr_trace *trace, const mr_events *events)
{
    size_t first = (size_t)events->first;
    const struct {
        void *to;
        const void *from;
        size_t bytes;
    } columns[] = {{trace->op + first, events->op, events->count},
                   {trace->thread + first, events->thread, events->count * sizeof(uint32_t)},
                   {trace->operand + first, events->operand, events->count * sizeof(uint32_t)},
                   {trace->location + first, events->location, events->count * sizeof(uint32_t)}};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        bool is_mapped =
            making->may_map && mr_stream_place(making->job->sweep->stream, columns[i].from,
                                               columns[i].bytes, columns[i].to);
        making->maps |= is_mapped;
        if (!is_mapped)
            memcpy(columns[i].to, columns[i].from, columns[i].bytes);
    }
}

/* The columns are mappings of their own, and there are not too many blocks: the system allows a process 65,530 mappings. */
static bool may_map(const mr_lean_making *making)
{
    enum { MOST_EVENTS = 1 << 28 };
    return mr_huge_is_mapped(making->event_count) && making->event_count <= MOST_EVENTS;
}

/* Are more events wanted? A thread waits until it is known. */
static bool goes_on(mr_lean_making *making)
{
    bool wanted;
    if (!making->is_beside)
        return making->trace->event_count < making->end;
    pthread_mutex_lock(&making->mutex);
    while (making->trace->event_count >= making->end && !making->is_final)
        pthread_cond_wait(&making->changed, &making->mutex);
    wanted = making->trace->event_count < making->end;
    pthread_mutex_unlock(&making->mutex);
    return wanted;
}

/* The events before `end` are wanted; `is_final`: and no more. */
static void want(mr_lean_making *making, uint64_t end, bool is_final)
{
    if (!making->is_beside)
        return;
    pthread_mutex_lock(&making->mutex);
    making->end = end;
    making->is_final = is_final;
    pthread_cond_signal(&making->changed);
    pthread_mutex_unlock(&making->mutex);
}

/* The block of this number, which comes after the last one that was asked for. */
static mr_status give_block(mr_lean_making *making, size_t number, mr_events *events)
{
    mr_stream *stream = making->job->sweep->stream;
    if (!mr_stream_follow(stream, number, events))
        return mr_stream_next(stream, events, &making->error);
    if (events->count)
        return MR_OK;
    return mr_error_set(&making->error, MR_ERR_IO, making->job->path, 0, MR_STREAM_HAS_CHANGED);
}

static mr_status read_blocks(mr_lean_making *making)
{
    mr_trace *trace = making->trace;
    const mr_sweep_job *job = making->job;
    mr_events events;
    /* What is kept for each variable is made once. */
    trace->variables.count = making->variable_count;
    making->may_map = may_map(making);
    for (size_t block = 0; goes_on(making); block++) {
        mr_status status = give_block(making, block, &events);
        if (status != MR_OK)
            return status;
        MR_REQUIRE(events.count > 0);
        place(making, trace, &events);
        trace->threads.count = events.thread_count;
        trace->locks.count = events.lock_count;
        trace->objects.count = events.object_count;
        if (!mr_index_add(making->index, trace, (uint32_t)events.first, events.count))
            return mr_error_memory(&making->error, "reading the trace");
        trace->event_count += events.count;
        if (mr_halt_asked(job->halt) != MR_HALT_NONE)
            return mr_halt_fail(job->halt, job->path, "reading the trace", &making->error);
    }
    if (mr_stream_changed(job->sweep->stream))
        return mr_error_set(&making->error, MR_ERR_IO, job->path, 0, MR_STREAM_HAS_CHANGED);
    return MR_OK;
}

/* Columns for so many events, without names. NULL: no memory. */
static mr_trace *make(uint64_t event_count)
{
    mr_trace *trace = mr_calloc(1, sizeof *trace);
    if (trace == NULL || mr_columns_dense(trace, (size_t)event_count))
        return trace;
    mr_lean_free(trace);
    return NULL;
}

/* The names of the dictionary, which is complete, to the columns. */
static void take_names(mr_trace *trace, const mr_stream *stream)
{
    const mr_trace columns = *trace;
    *trace = *mr_stream_dictionary(stream);
    trace->event_count = columns.event_count;
    trace->spill = columns.spill;
    trace->op = columns.op;
    trace->thread = columns.thread;
    trace->operand = columns.operand;
    trace->location = columns.location;
    trace->value = columns.value;
    trace->link = columns.link;
    trace->outlook = (mr_outlook *)mr_stream_outlook(stream);
}

/* Fills the columns of `trace`, with their links. */
static void fill(mr_lean_making *making)
{
    making->index = mr_index_new_links();
    if (making->index == NULL || making->trace == NULL)
        making->status = mr_error_memory(&making->error, "reading the trace");
    else
        making->status = read_blocks(making);
}

/* When the dictionary is complete. */
static void end_filling(mr_lean_making *making)
{
    if (making->trace != NULL)
        take_names(making->trace, making->job->sweep->stream);
    if (making->status == MR_OK && !mr_index_finish(making->index, making->trace))
        making->status = mr_error_memory(&making->error, "indexing the trace");
    mr_index_free(making->index);
    making->index = NULL;
}

static void *run(void *argument)
{
    mr_lean_making *making = argument;
    making->trace = make(making->event_count);
    fill(making);
    return NULL;
}

/* Of the dictionary, which is complete. */
static void begin(mr_lean_making *making, const mr_sweep_job *job, uint64_t end)
{
    const mr_trace *names = mr_stream_dictionary(job->sweep->stream);
    *making = (mr_lean_making){.job = job,
                               .end = end,
                               .event_count = names->event_count,
                               .variable_count = names->variables.count};
}

static void start(mr_lean_making *making)
{
    if (pthread_mutex_init(&making->mutex, NULL))
        return;
    if (!pthread_cond_init(&making->changed, NULL)) {
        making->is_beside = true;
        making->is_threaded = mr_thread_start(&making->thread, run, making);
        if (making->is_threaded)
            return;
        making->is_beside = false;
        pthread_cond_destroy(&making->changed);
    }
    pthread_mutex_destroy(&making->mutex);
}

static bool may_start(const mr_sweep_job *job, uint64_t event_count)
{
    mr_events first;
    return job->sweep->trace == NULL && event_count >= MR_BESIDE_LEAST && mr_thread_cores() >= 2 &&
           mr_stream_follow(job->sweep->stream, 0, &first);
}

/* Where races have been met there may be more: some of the events that follow are wanted, too. */
static uint64_t foreseen_end(uint64_t met, uint64_t event_count)
{
    enum { TIMES = 16 };
    return met < event_count / TIMES ? met * TIMES : event_count;
}

void mr_lean_foresee(const mr_sweep_job *job, uint64_t met)
{
    mr_lean_making *making = &job->shared->lean;
    const mr_outlook *outlook = mr_stream_outlook(job->sweep->stream);
    if (!making->job) {
        if (!mr_sweep_proves(job) || mr_lean_wants_more(job) || outlook == NULL ||
            !may_start(job, outlook->event_count) || !has_room(job, outlook->event_count))
            return;
        *making = (mr_lean_making){.job = job,
                                   .event_count = outlook->event_count,
                                   .variable_count = outlook->variable_count};
        start(making);
    }
    want(making, foreseen_end(met, making->event_count), false);
}

void mr_lean_start(const mr_sweep_job *job)
{
    mr_lean_making *making = &job->shared->lean;
    uint64_t all = mr_stream_dictionary(job->sweep->stream)->event_count;
    if (making->is_threaded && !mr_lean_is_enough(job))
        mr_lean_drop(making);
    if (!making->is_threaded && may_start(job, all) && mr_lean_begin(job, all)) {
        begin(making, job, all);
        start(making);
    }
    want(making, all, false);
}

/* Waits for the thread, which makes the events before `end` first. */
static void wait_for(mr_lean_making *making, uint64_t end)
{
    if (!making->is_threaded)
        return;
    want(making, end, true);
    pthread_join(making->thread, NULL);
    pthread_cond_destroy(&making->changed);
    pthread_mutex_destroy(&making->mutex);
    making->is_threaded = making->is_beside = false;
}

mr_status mr_lean_load(const mr_sweep_job *job, uint64_t end)
{
    mr_sweep *sweep = job->sweep;
    mr_lean_making *making = &job->shared->lean;
    double since = mr_seconds();
    MR_REQUIRE(sweep->trace == NULL && sweep->lean == NULL && end > 0 &&
               end <= sweep->names->event_count);
    if (making->is_threaded) {
        wait_for(making, end);
    } else {
        begin(making, job, end);
        run(making);
    }
    end_filling(making);
    sweep->lean = making->trace;
    making->trace = NULL;
    sweep->result.stats.load_seconds += mr_seconds() - since;
    if (making->status == MR_OK)
        sweep->trace = sweep->lean;
    else
        *job->error = making->error;
    return making->status;
}

mr_status mr_lean_check(const mr_sweep_job *job)
{
    const mr_sweep *sweep = job->sweep;
    if (sweep->lean == NULL || !job->shared->lean.maps || !mr_stream_changed(sweep->stream))
        return MR_OK;
    return mr_error_set(job->error, MR_ERR_IO, job->path, 0, MR_STREAM_HAS_CHANGED);
}

void mr_lean_drop(mr_lean_making *making)
{
    if (making->is_threaded)
        mr_stream_stop(making->job->sweep->stream); /* it may wait for a block */
    wait_for(making, 0);
    mr_lean_free(making->trace);
    mr_index_free(making->index);
    *making = (mr_lean_making){0};
}

bool mr_lean_may_grow(const mr_sweep_job *job)
{
    mr_events first;
    return has_room(job, job->sweep->names->event_count) &&
           mr_stream_follow(job->sweep->stream, 0, &first);
}

static void free_derived(const mr_trace *lean)
{
    free(lean->variable_info);
    free(lean->thread_info);
    free(lean->chain);
    free(lean->object_info);
    free(lean->object_variables);
}

mr_status mr_lean_whole(const mr_sweep_job *job)
{
    mr_sweep *sweep = job->sweep;
    mr_lean_making *making = &job->shared->lean;
    mr_trace *trace = sweep->lean, before = *trace;
    double since = mr_seconds();
    MR_REQUIRE(making->trace == NULL && !making->is_threaded);
    trace->variable_info = NULL;
    trace->thread_info = NULL;
    trace->chain = NULL;
    trace->object_info = NULL;
    trace->object_variables = NULL;
    trace->event_count = 0;
    begin(making, job, sweep->names->event_count);
    making->trace = trace;
    fill(making);
    end_filling(making);
    making->trace = NULL;
    sweep->result.stats.load_seconds += mr_seconds() - since;
    free_derived(making->status == MR_OK ? &before : trace);
    if (making->status != MR_OK) {
        *trace = before;
        *job->error = making->error;
    }
    return making->status;
}

void mr_lean_free(mr_trace *lean)
{
    if (lean == NULL)
        return;
    mr_spill_free(&lean->spill);
    free_derived(lean);
    free(lean);
}
