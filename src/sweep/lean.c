#include "lean.h"

#include "base/assert.h"
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

static void place(mr_trace *trace, const mr_events *events)
{
    size_t first = (size_t)events->first, bytes = events->count * sizeof(uint32_t);
    memcpy(trace->op + first, events->op, events->count);
    memcpy(trace->thread + first, events->thread, bytes);
    memcpy(trace->operand + first, events->operand, bytes);
    memcpy(trace->location + first, events->location, bytes);
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
    for (size_t block = 0; trace->event_count < atomic_load(&making->end); block++) {
        mr_status status = give_block(making, block, &events);
        if (status != MR_OK)
            return status;
        MR_REQUIRE(events.count > 0);
        place(trace, &events);
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

/* The names of the dictionary, with columns of its own. NULL: no memory. */
static mr_trace *make(const mr_stream *stream)
{
    const mr_trace *names = mr_stream_dictionary(stream);
    mr_trace *trace = mr_malloc(sizeof *trace, 0);
    if (trace == NULL)
        return NULL;
    *trace = *names;
    trace->event_count = 0;
    trace->spill = (mr_spill){0};
    trace->outlook = (mr_outlook *)mr_stream_outlook(stream);
    if (mr_columns_dense(trace, (size_t)names->event_count)) {
        trace->line_steps = names->line_steps;
        return trace;
    }
    mr_lean_free(trace);
    return NULL;
}

/* Fills the columns of `trace`, and indexes them. */
static void fill(mr_lean_making *making)
{
    making->index = mr_index_new_links();
    if (making->index == NULL || making->trace == NULL)
        making->status = mr_error_memory(&making->error, "reading the trace");
    else
        making->status = read_blocks(making);
    if (making->status == MR_OK && !mr_index_finish(making->index, making->trace))
        making->status = mr_error_memory(&making->error, "indexing the trace");
    mr_index_free(making->index);
    making->index = NULL;
}

static void *run(void *argument)
{
    mr_lean_making *making = argument;
    making->trace = make(making->job->sweep->stream);
    fill(making);
    return NULL;
}

static void begin(mr_lean_making *making, const mr_sweep_job *job, uint64_t end)
{
    *making = (mr_lean_making){.job = job, .started = true};
    atomic_store(&making->end, end);
}

void mr_lean_start(const mr_sweep_job *job)
{
    mr_lean_making *making = &job->shared->lean;
    uint64_t all = mr_stream_dictionary(job->sweep->stream)->event_count;
    mr_events first;
    if (making->started || job->sweep->trace != NULL || all < MR_BESIDE_LEAST ||
        mr_thread_cores() < 2 || !mr_stream_follow(job->sweep->stream, 0, &first) ||
        !mr_lean_begin(job, all))
        return;
    begin(making, job, all);
    making->threaded = mr_thread_start(&making->thread, run, making);
    making->started = making->threaded;
}

static void wait_for(mr_lean_making *making, uint64_t end)
{
    atomic_store(&making->end, end);
    if (making->threaded)
        pthread_join(making->thread, NULL);
    making->threaded = false;
}

mr_status mr_lean_load(const mr_sweep_job *job, uint64_t end)
{
    mr_sweep *sweep = job->sweep;
    mr_lean_making *making = &job->shared->lean;
    double since = mr_seconds();
    MR_REQUIRE(sweep->trace == NULL && sweep->lean == NULL && end > 0 &&
               end <= sweep->names->event_count);
    if (making->started) {
        wait_for(making, end);
    } else {
        begin(making, job, end);
        run(making);
    }
    sweep->lean = making->trace;
    making->trace = NULL;
    sweep->result.stats.load_seconds += mr_seconds() - since;
    if (making->status == MR_OK)
        sweep->trace = sweep->lean;
    else
        *job->error = making->error;
    return making->status;
}

void mr_lean_drop(mr_lean_making *making)
{
    wait_for(making, 0);
    mr_lean_free(making->trace);
    making->trace = NULL;
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
    MR_REQUIRE(making->trace == NULL && !making->threaded);
    trace->variable_info = NULL;
    trace->thread_info = NULL;
    trace->chain = NULL;
    trace->object_info = NULL;
    trace->object_variables = NULL;
    trace->event_count = 0;
    begin(making, job, sweep->names->event_count);
    making->trace = trace;
    fill(making);
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
