#include "lean.h"

#include "base/assert.h"
#include "base/seconds.h"
#include "beside.h"
#include "trace/columns.h"
#include "trace/index.h"

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
    return job->sweep->stream != NULL && !mr_lean_wants_more(job) &&
           !mr_op_total(job->sweep->names->op_counts, MR_CALLS);
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

static mr_status read_blocks(const mr_sweep_job *job, mr_trace *trace, mr_index *index,
                             uint64_t end)
{
    mr_events events;
    mr_status status = MR_OK;
    bool waits = job->shared->ahead.threaded; /* nobody has taken its races */
    for (;;) {
        if (waits && (trace->event_count == end || !mr_ahead_goes_on(job))) {
            waits = false;
            status = mr_sweep_prefix(job, &end);
        }
        if (status != MR_OK || trace->event_count >= end)
            break;
        status = mr_stream_next(job->sweep->stream, &events, job->error);
        if (status != MR_OK)
            return status;
        MR_REQUIRE(events.count > 0);
        place(trace, &events);
        if (!mr_index_add(index, trace, (uint32_t)events.first, events.count))
            return mr_error_memory(job->error, "reading the trace");
        trace->event_count += events.count;
        if (mr_halt_asked(job->halt) != MR_HALT_NONE)
            return mr_halt_fail(job->halt, job->path, "reading the trace", job->error);
    }
    if (status == MR_OK && mr_stream_changed(job->sweep->stream))
        return mr_error_set(job->error, MR_ERR_IO, job->path, 0, MR_STREAM_HAS_CHANGED);
    return status;
}

/* The names of the dictionary, with columns of its own. NULL: no memory. */
static mr_trace *make(const mr_sweep *sweep)
{
    mr_trace *trace = mr_malloc(sizeof *trace, 0);
    if (trace == NULL)
        return NULL;
    *trace = *sweep->names;
    trace->event_count = 0;
    trace->spill = (mr_spill){0};
    trace->outlook = (mr_outlook *)mr_stream_outlook(sweep->stream);
    if (mr_columns_dense(trace, (size_t)sweep->names->event_count)) {
        trace->line_steps = sweep->names->line_steps;
        return trace;
    }
    mr_lean_free(trace);
    return NULL;
}

mr_status mr_lean_load(const mr_sweep_job *job, uint64_t end)
{
    mr_sweep *sweep = job->sweep;
    double begin = mr_seconds();
    MR_REQUIRE(sweep->trace == NULL && sweep->lean == NULL && end > 0 &&
               end <= sweep->names->event_count);
    mr_index *index = mr_index_new_links();
    sweep->lean = make(sweep);
    mr_status status = MR_ERR_MEMORY;
    if (index == NULL || sweep->lean == NULL)
        mr_error_memory(job->error, "reading the trace");
    else
        status = read_blocks(job, sweep->lean, index, end);
    if (status == MR_OK && !mr_index_finish(index, sweep->lean))
        status = mr_error_memory(job->error, "indexing the trace");
    mr_index_free(index);
    sweep->result.stats.load_seconds += mr_seconds() - begin;
    if (status == MR_OK)
        sweep->trace = sweep->lean;
    return status;
}

void mr_lean_free(mr_trace *lean)
{
    if (lean == NULL)
        return;
    mr_spill_free(&lean->spill);
    free(lean->variable_info);
    free(lean->thread_info);
    free(lean->chain);
    free(lean->object_info);
    free(lean->object_variables);
    free(lean);
}
