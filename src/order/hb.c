#include "hb.h"

#include <stdlib.h>

bool mr_hb_init(mr_hb *hb, const mr_trace *trace)
{
    uint32_t threads = trace->threads.count;
    *hb = (mr_hb){.trace = trace};
    mr_clock_pool_init(&hb->pool, threads);
    hb->clock = mr_calloc(threads, sizeof(mr_clock *));
    hb->local = mr_calloc(threads, sizeof(uint32_t));
    hb->release = mr_calloc(trace->locks.count, sizeof(mr_time));
    if (!hb->clock || !hb->local || !hb->release || !mr_sharing_find(&hb->sharing, trace))
        return false;
    for (uint32_t thread = 0; thread < threads; thread++)
        hb->local[thread] = 1;
    return true;
}

void mr_hb_free(mr_hb *hb)
{
    if (hb->clock)
        for (uint32_t thread = 0; thread < hb->trace->threads.count; thread++)
            mr_clock_drop(&hb->pool, &hb->clock[thread]);
    if (hb->release)
        for (uint32_t lock = 0; lock < hb->trace->locks.count; lock++)
            mr_clock_drop(&hb->pool, &hb->release[lock].clock);
    free(hb->clock);
    free(hb->local);
    free(hb->release);
    mr_sharing_free(&hb->sharing);
    mr_clock_pool_free(&hb->pool);
    *hb = (mr_hb){0};
}

bool mr_hb_step(mr_hb *hb, uint32_t event)
{
    const mr_trace *trace = hb->trace;
    uint32_t thread = trace->thread[event], operand = trace->operand[event];
    switch (trace->op[event]) {
    case MR_OP_ACQUIRE:
        return !mr_sharing_synchronises(&hb->sharing, trace, event) ||
               hb->release[operand].thread == thread ||
               mr_clock_learn(&hb->pool, &hb->clock[thread], hb->release[operand]);
    case MR_OP_RELEASE:
        if (mr_sharing_synchronises(&hb->sharing, trace, event)) {
            mr_time_set(&hb->pool, &hb->release[operand], mr_hb_now(hb, thread));
            hb->local[thread]++;
        }
        return true;
    case MR_OP_FORK:
        if (!mr_clock_learn(&hb->pool, &hb->clock[operand], mr_hb_now(hb, thread)))
            return false;
        hb->local[thread]++;
        return true;
    case MR_OP_JOIN:
        return mr_clock_learn(&hb->pool, &hb->clock[thread], mr_hb_now(hb, operand));
    default:
        return true;
    }
}
