#include "syncp_index.h"

#include "base/assert.h"
#include "syncp_pass.h"

#include <stdlib.h>
#include <string.h>

struct mr_syncp_index {
    const mr_trace *trace;
    mr_syncp_ideals own; /* zero in a view */
    const mr_syncp_ideals *ideals;
    uint32_t *scratch; /* one entry a thread */
};

/* Without ideals. NULL: no memory. */
static mr_syncp_index *make(const mr_trace *trace)
{
    mr_syncp_index *index = mr_calloc(1, sizeof *index);
    if (!index)
        return NULL;
    index->trace = trace;
    index->ideals = &index->own;
    index->scratch = mr_calloc(trace->chain_count, sizeof *index->scratch);
    if (index->scratch)
        return index;
    free(index);
    return NULL;
}

mr_status mr_syncp_index_new(const mr_trace *trace, const mr_detect_options *options,
                             mr_syncp_index **index, mr_error *error)
{
    mr_syncp_pass pass = {.trace = trace,
                          .outlook = options->outlook,
                          .opaque = options->opaque,
                          .edges = options->edges,
                          .progress = options->progress,
                          .halt = options->halt};
    *index = make(trace);
    if (!*index)
        return mr_error_memory(error, "indexing a trace for sync-preserving races");
    mr_status status = mr_syncp_ideals_init(&(*index)->own, trace)
                           ? mr_syncp_run(&pass, &(*index)->own, error)
                           : mr_error_memory(error, "indexing a trace for sync-preserving races");
    if (status != MR_OK) {
        mr_syncp_index_free(*index);
        *index = NULL;
    }
    return status;
}

mr_syncp_index *mr_syncp_index_of(const mr_trace *trace, mr_syncp_ideals *ideals)
{
    mr_syncp_index *index = make(trace);
    if (!index)
        return NULL;
    index->own = *ideals;
    *ideals = (mr_syncp_ideals){0};
    return index;
}

mr_syncp_index *mr_syncp_index_view(const mr_syncp_index *index)
{
    mr_syncp_index *view = make(index->trace);
    if (view)
        view->ideals = index->ideals;
    return view;
}

void mr_syncp_index_free(mr_syncp_index *index)
{
    if (!index)
        return;
    mr_syncp_ideals_free(&index->own);
    free(index->scratch);
    free(index);
}

/* How many steps of the thread end before `event`. */
static uint32_t steps_before(const mr_syncp_ideals *ideals, uint32_t thread, uint32_t event)
{
    const mr_syncp_thread *t = &ideals->threads[thread];
    size_t low = 0, high = t->step_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->steps[middle].last < event)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)low;
}

/* Adds what comes before the event; returns its step. */
static uint32_t join_before(mr_syncp_index *index, uint32_t event)
{
    uint32_t thread = mr_syncp_thread_of(index->trace, event);
    uint32_t steps = steps_before(index->ideals, thread, event);
    MR_ASSERT(steps < index->ideals->threads[thread].step_count);
    uint32_t row = index->ideals->threads[thread].steps[steps].row;
    mr_syncp_join(index->ideals, index->scratch, row, thread, steps);
    return steps + 1;
}

/* Rule 7: does the ideal in `scratch` have the free of the first access's object, though that comes
 * after it in the trace? (After the second access it cannot have it.) */
static bool is_over(const mr_syncp_index *index, uint32_t first, uint32_t second)
{
    const mr_trace *trace = index->trace;
    uint32_t object =
        mr_op_is_access(trace->op[first]) ? mr_trace_object(trace, trace->operand[first]) : MR_NONE;
    uint32_t end = object != MR_NONE ? trace->object_info[object].free : MR_NONE;
    if (end == MR_NONE || end <= first || end >= second)
        return false;
    uint32_t thread = mr_syncp_thread_of(trace, end);
    return thread == mr_syncp_thread_of(trace, second) ||
           index->scratch[thread] / 2 > steps_before(index->ideals, thread, end);
}

/* Computes in `scratch` the closure of the pair and of all events before `start`. False: the
 * closure contains `first`; then `scratch` may have only a part of it. */
static bool close_pair(mr_syncp_index *index, uint32_t first, uint32_t second, uint32_t start)
{
    const mr_syncp_ideals *ideals = index->ideals;
    uint32_t *ideal = index->scratch;
    MR_REQUIRE(first < second && second < index->trace->event_count);
    memset(ideal, 0, ideals->thread_count * sizeof *ideal);
    for (uint32_t thread = 0; start && thread < ideals->thread_count; thread++)
        ideal[thread] = mr_syncp_entry(ideals, thread, steps_before(ideals, thread, start));
    join_before(index, second);
    uint32_t step = join_before(index, first);
    return start <= first &&
           !mr_syncp_close(ideals, ideal, mr_syncp_thread_of(index->trace, first), step) &&
           !is_over(index, first, second);
}

bool mr_syncp_is_race(mr_syncp_index *index, uint32_t first, uint32_t second)
{
    return close_pair(index, first, second, 0);
}

uint32_t mr_syncp_window(mr_syncp_index *index, uint32_t first, uint32_t second)
{
    /* The pair is a race from `good` on, but not from `bad` on, as the closure only grows with
     * `start`. Most windows are short, so steps that double lead back from the first access. */
    uint32_t bad = first + 1, back = 0;
    uint32_t good = first;
    while (good && !close_pair(index, first, second, good)) {
        bad = good;
        back = back ? back * 2 : 1;
        good = back < first ? first - back : 0;
    }
    MR_ASSERT(good < bad);
    while (bad - good > 1) {
        uint32_t middle = good + (bad - good) / 2;
        if (close_pair(index, first, second, middle))
            good = middle;
        else
            bad = middle;
    }
    return good;
}

/* Is the event in the closure in `scratch`? */
static bool is_included(const mr_syncp_index *index, uint32_t event)
{
    uint32_t thread = mr_syncp_thread_of(index->trace, event);
    uint32_t steps = index->scratch[thread] / 2;
    return steps && event <= index->ideals->threads[thread].steps[steps - 1].last;
}

bool mr_syncp_schedule(mr_syncp_index *index, uint32_t first, uint32_t second, uint32_t start,
                       mr_u32s *events)
{
    const mr_trace *trace = index->trace;
    bool is_race = close_pair(index, first, second, start);
    MR_REQUIRE(is_race);
    for (uint32_t event = start; event < second; event++) {
        uint32_t thread = mr_syncp_thread_of(trace, event);
        bool before = (thread == mr_syncp_thread_of(trace, first) && event < first) ||
                      thread == mr_syncp_thread_of(trace, second);
        if ((before || is_included(index, event)) && !mr_u32s_push(events, event))
            return false;
    }
    return true;
}
