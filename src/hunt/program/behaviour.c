#include "behaviour.h"

#include "base/memory.h"

#include <stdlib.h>

uint64_t mr_hash_join(uint64_t hash, uint64_t more)
{
    hash ^= more + UINT64_C(0x9e3779b97f4a7c15) + (hash << 6) + (hash >> 2);
    hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 27) * UINT64_C(0x94d049bb133111eb);
    return hash ^ hash >> 31;
}

uint64_t mr_hash_text(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    while (*text)
        hash = (hash ^ (uint8_t)*text++) * UINT64_C(0x100000001b3);
    return hash;
}

/* Who created whom as the how many-th. */
static void name_threads(mr_behaviour *self, const mr_trace *trace)
{
    for (uint32_t t = 0; t < trace->threads.count; t++)
        self->thread[t] = mr_hash_text(
            trace->thread_info[t].fork == MR_NONE ? "main" : mr_names_display(&trace->threads, t));
    uint64_t *forks = self->with; /* by thread, for now */
    for (uint32_t event = 0; event < trace->event_count; event++) {
        if (!mr_op_forks(trace->op[event]))
            continue;
        uint32_t parent = trace->thread[event];
        self->thread[trace->operand[event]] = mr_hash_join(self->thread[parent], ++forks[parent]);
    }
    for (uint32_t t = 0; t < trace->threads.count; t++)
        forks[t] = 0;
}

uint64_t mr_behaviour_value(const mr_behaviour *self, const mr_trace *trace, uint32_t variable,
                            uint32_t write)
{
    uint32_t value = write == MR_NONE ? trace->variable_info[variable].initial_value
                                      : mr_trace_written_value(trace, write);
    if (value)
        return mr_hash_join(1, (uint64_t)trace->values[value]);
    return write == MR_NONE ? 2
                            : mr_hash_join(self->place[trace->location[write]],
                                           self->thread[trace->thread[write]]);
}

static uint64_t seen(const mr_behaviour *self, const mr_trace *trace, uint32_t read)
{
    uint32_t value = mr_trace_read_value(trace, read);
    return value ? mr_hash_join(1, (uint64_t)trace->values[value])
                 : mr_behaviour_value(self, trace, trace->operand[read], trace->link[read]);
}

/* What an event is, but for what it sees. */
static uint64_t what(const mr_behaviour *self, const mr_trace *trace, uint32_t event)
{
    return mr_hash_join(self->place[trace->location[event]], trace->op[event]);
}

uint64_t mr_behaviour_seeing(const mr_behaviour *self, const mr_trace *trace, uint32_t read,
                             uint32_t write)
{
    uint64_t value = mr_behaviour_value(self, trace, trace->operand[read], write);
    return mr_hash_join(self->before[read], mr_hash_join(what(self, trace, read), value));
}

bool mr_behaviour_make(mr_behaviour *self, const mr_trace *trace)
{
    uint32_t threads = trace->threads.count;
    uint64_t room = trace->event_count > threads ? trace->event_count : threads;
    uint64_t *history = mr_calloc(threads + 1ull, sizeof *history);
    uint64_t *just = mr_calloc(threads + 1ull, sizeof *just); /* what counted last */
    self->place = mr_calloc(trace->locations.count + 1ull, sizeof *self->place);
    self->thread = mr_calloc(threads + 1ull, sizeof *self->thread);
    self->before = mr_calloc(room + 1, sizeof *self->before);
    self->with = mr_calloc(room + 1, sizeof *self->with);
    bool ok = history && just && self->place && self->thread && self->before && self->with;
    for (uint32_t i = 0; ok && i < trace->locations.count; i++)
        self->place[i] = mr_hash_text(trace->locations.items[i].text);
    if (ok)
        name_threads(self, trace);
    for (uint32_t t = 0; ok && t < threads; t++)
        history[t] = mr_hash_join(self->thread[t], self->input);
    for (uint32_t event = 0; ok && event < trace->event_count; event++) {
        uint32_t thread = trace->thread[event];
        uint8_t op = trace->op[event];
        self->before[event] = history[thread];
        if (mr_op_reads(op)) {
            uint64_t now = mr_hash_join(what(self, trace, event), seen(self, trace, event));
            bool again = now == just[thread] && !mr_op_writes(op);
            if (!again)
                history[thread] = mr_hash_join(history[thread], now);
            just[thread] = now;
        } else if (!mr_op_is_access(op)) {
            history[thread] = mr_hash_join(history[thread], what(self, trace, event));
            just[thread] = 0;
        }
        self->with[event] = history[thread];
    }
    self->signature = 0;
    for (uint32_t t = 0; ok && t < threads; t++) /* threads may have other numbers */
        self->signature += mr_hash_join(history[t], 3);
    free(history);
    free(just);
    return ok;
}

void mr_behaviour_free(mr_behaviour *self)
{
    free(self->place);
    free(self->thread);
    free(self->before);
    free(self->with);
    *self = (mr_behaviour){.signature = 0};
}
