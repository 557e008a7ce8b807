#include "minimise.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t mr_switch_count(const mr_trace *trace)
{
    uint32_t count = 0;
    for (uint32_t event = 1; event < trace->event_count; event++)
        count += trace->thread[event] != trace->thread[event - 1];
    return count;
}

static mr_status write_order(const mr_ran *ran, const uint32_t *events, const char *path,
                             mr_error *error)
{
    const mr_prefix prefix = {.trace = ran->trace,
                              .positions = &ran->positions,
                              .info = &ran->info,
                              .events = events,
                              .event_count = ran->trace->event_count};
    return mr_prefix_write(&prefix, path, error);
}

/* Runs by the order; `*same`: it fails in the same way. */
static mr_status try_order(mr_minimise *self, const mr_ran *ran, const uint32_t *events,
                           const char *path, mr_ran *again, bool *same, mr_error *error)
{
    mr_run_request request = self->request;
    mr_run_outcome outcome = {.kind = MR_RUN_GOOD};
    request.schedule = path;
    self->runs++;
    mr_status status = write_order(ran, events, path, error);
    if (!status)
        status = mr_runner_run(self->runner, &request, again, error);
    if (!status)
        status = mr_outcome_judge(again, self->reference, self->oracle, &outcome, error);
    *same = !status && again->trace && outcome.identity == self->identity;
    return status;
}

/* The order of the trace, but for the events of the thread of `event` that come next after it: they
 * follow at once. False: the thread has none, or they follow already. `*end`: where the next switch is. */
static bool join(const mr_trace *trace, uint32_t event, uint32_t *events)
{
    uint32_t thread = trace->thread[event], next = event + 1, count = 0;
    while (next < trace->event_count && trace->thread[next] != thread)
        next++;
    if (next == trace->event_count || next == event + 1)
        return false;
    uint32_t end = next;
    while (end < trace->event_count && trace->thread[end] == thread)
        end++;
    for (uint32_t i = 0; i <= event; i++)
        events[count++] = i;
    for (uint32_t i = next; i < end; i++)
        events[count++] = i;
    for (uint32_t i = event + 1; i < next; i++)
        events[count++] = i;
    for (uint32_t i = end; i < trace->event_count; i++)
        events[count++] = i;
    return true;
}

/* One switch less, by the first attempt that works from `*from` on. */
static mr_status improve(mr_minimise *self, mr_ran *best, const char *path, uint32_t *from,
                         bool *better, mr_error *error)
{
    mr_status status = MR_OK;
    uint32_t *events = mr_calloc(best->trace->event_count + 1ull, sizeof *events);
    *better = false;
    if (!events)
        return mr_error_memory(error, "making the schedule shorter");
    while (!status && !*better && self->runs < self->most_runs &&
           *from + 1 < best->trace->event_count) {
        uint32_t event = (*from)++;
        mr_ran again = {.trace = NULL};
        bool same = false;
        if (best->trace->thread[event] == best->trace->thread[event + 1] ||
            !join(best->trace, event, events))
            continue;
        status = try_order(self, best, events, path, &again, &same, error);
        *better = same && mr_switch_count(again.trace) < mr_switch_count(best->trace);
        if (*better) {
            mr_ran old = *best;
            *best = again;
            again = old;
        }
        mr_ran_free(&again);
    }
    free(events);
    return status;
}

static mr_status write_best(mr_minimise *self, mr_ran *best, const char *path, mr_error *error)
{
    uint32_t *events = mr_calloc(best->trace->event_count + 1ull, sizeof *events);
    mr_ran again = {.trace = NULL};
    if (!events)
        return mr_error_memory(error, "making the schedule shorter");
    self->request.trace_path = self->trace;
    for (uint32_t i = 0; i < best->trace->event_count; i++)
        events[i] = i;
    mr_status status = try_order(self, best, events, path, &again, &self->repeats, error);
    self->request.trace_path = NULL;
    mr_ran_free(&again);
    free(events);
    return status;
}

mr_status mr_minimise_run(mr_minimise *self, mr_ran *best, const char *schedule, mr_error *error)
{
    bool better = true;
    uint32_t from = 0;
    char path[MR_RUNNER_PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/shorter", self->runner->folder);
    mr_status status = write_best(self, best, schedule, error);
    while (!status && self->repeats && better)
        status = improve(self, best, path, &from, &better, error);
    remove(path);
    return status || !self->repeats ? status : write_best(self, best, schedule, error);
}
