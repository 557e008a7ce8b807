#include "estimate.h"

#include "base/assert.h"
#include "relevant.h"

/* The figures of the header. */
enum {
    EVENT_BYTES = 5,
    KEPT_BYTES = 25,
    WINDOW_EVENT_BYTES = 240,
    WINDOW_CHAIN_BYTES = 1,
    VARIABLE_BYTES = 12
};

bool mr_far_bytes_find(mr_far_bytes *bytes, const mr_trace *trace, mr_model model, uint32_t size)
{
    mr_relevant relevant = {0};
    uint32_t kept = 0;
    bool complete = mr_relevant_find(&relevant, trace, model);
    for (uint32_t event = 0; complete && event < trace->event_count; event++) {
        mr_trace_pass(trace, event);
        kept += mr_relevant_keeps(&relevant, trace, model, event);
    }
    mr_relevant_free(&relevant);
    MR_ASSERT(kept <= trace->event_count);
    uint64_t window = size && size < kept ? size : kept;
    *bytes = (mr_far_bytes){
        .kept = kept,
        .reduction_bytes = (uint64_t)EVENT_BYTES * trace->event_count + (uint64_t)KEPT_BYTES * kept,
        .reduced_bytes = (uint64_t)KEPT_BYTES * kept,
        .window_bytes =
            window * (WINDOW_EVENT_BYTES + (uint64_t)WINDOW_CHAIN_BYTES * trace->chain_count) +
            (uint64_t)VARIABLE_BYTES * trace->variables.count};
    return complete;
}

uint64_t mr_far_bytes_peak(const mr_far_bytes *bytes)
{
    uint64_t later = bytes->reduced_bytes + bytes->window_bytes;
    return bytes->reduction_bytes > later ? bytes->reduction_bytes : later;
}
