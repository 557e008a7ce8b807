#include "pack.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

bool mr_witness_pack(const mr_trace *trace, mr_witness *witness)
{
    MR_REQUIRE(!witness->packed && (witness->events || !witness->event_count));
    mr_bytes packed = {0};
    mr_bytes_number(&packed, witness->event_count); /* so that it is never empty */
    for (uint32_t i = 0, end; i < witness->event_count; i = end) {
        uint32_t thread = trace->thread[witness->events[i]];
        for (end = i; end < witness->event_count && trace->thread[witness->events[end]] == thread;)
            end++;
        mr_bytes_number(&packed, thread);
        mr_bytes_number(&packed, end - i);
    }
    if (packed.failed) {
        mr_bytes_free(&packed);
        return false;
    }
    free(witness->events);
    witness->events = NULL;
    witness->packed = packed.items;
    witness->packed_bytes = packed.count;
    return true;
}

/* The packed form, from its first run on. */
static mr_bytes_reader runs_of(const mr_witness *witness)
{
    mr_bytes_reader runs = {witness->packed, witness->packed + witness->packed_bytes, false};
    mr_bytes_get(&runs);
    return runs;
}

bool mr_witness_packed_is_valid(const mr_trace *trace, const mr_witness *witness)
{
    mr_bytes_reader runs = runs_of(witness);
    uint64_t events = 0;
    while (runs.next < runs.end) {
        uint32_t thread = mr_bytes_get_u32(&runs, UINT32_MAX);
        events += mr_bytes_get_u32(&runs, witness->event_count);
        if (thread >= trace->threads.count || events > witness->event_count)
            return false;
    }
    return !runs.damaged && events == witness->event_count;
}

/* The events of each thread that the witness has, found in one walk over the trace. */
typedef struct threads {
    uint32_t *next; /* one a thread of the trace: where its next event goes in `events` … */
    uint32_t *end;  /* … and where the last one has gone */
    uint32_t *events;
} threads;

static void collect(const mr_trace *trace, const mr_witness *w, threads *all)
{
    for (mr_bytes_reader runs = runs_of(w); runs.next < runs.end;) {
        uint32_t thread = (uint32_t)mr_bytes_get(&runs);
        all->end[thread] += (uint32_t)mr_bytes_get(&runs);
    }
    uint32_t first = 0;
    for (uint32_t t = 0; t < trace->threads.count; t++) {
        uint32_t count = all->end[t];
        all->next[t] = first;
        first += count;
        all->end[t] = first;
    }
    uint32_t missing = w->event_count;
    for (uint32_t event = w->window_start; missing && event < trace->event_count; event++) {
        uint32_t thread = trace->thread[event];
        if (all->next[thread] == all->end[thread])
            continue;
        all->events[all->next[thread]++] = event;
        missing--;
    }
}

static void read_runs(const mr_trace *trace, const mr_witness *w, threads *all, uint32_t *events)
{
    uint32_t filled = 0;
    for (uint32_t t = trace->threads.count; t-- > 0;) /* back to the first event of each */
        all->next[t] = t ? all->end[t - 1] : 0;
    for (mr_bytes_reader runs = runs_of(w); runs.next < runs.end;) {
        uint32_t thread = (uint32_t)mr_bytes_get(&runs), count = (uint32_t)mr_bytes_get(&runs);
        MR_REQUIRE(count <= w->event_count - filled); /* mr_witness_packed_is_valid */
        memcpy(events + filled, all->events + all->next[thread], count * sizeof *events);
        all->next[thread] += count;
        filled += count;
    }
}

const mr_witness *mr_witness_open(const mr_trace *trace, const mr_witness *witness,
                                  mr_witness *room)
{
    *room = (mr_witness){0};
    if (!witness->packed)
        return witness;
    threads all = {.next = mr_calloc(trace->threads.count, sizeof *all.next),
                   .end = mr_calloc(trace->threads.count, sizeof *all.end),
                   .events = mr_calloc(witness->event_count, sizeof *all.events)};
    uint32_t *events = mr_calloc(witness->event_count, sizeof *events);
    bool complete = all.next && all.end && all.events && events;
    uint32_t *waits = mr_calloc(witness->wait_count, sizeof *waits);
    complete = complete && waits;
    if (complete) {
        *room = *witness;
        if (witness->wait_count)
            memcpy(waits, witness->waits, witness->wait_count * sizeof *waits);
        room->waits = waits;
        room->packed = NULL;
        room->packed_bytes = 0;
        room->events = events;
        collect(trace, witness, &all);
        read_runs(trace, witness, &all, events);
    } else {
        free(events);
        free(waits);
    }
    free(all.next);
    free(all.end);
    free(all.events);
    return complete ? room : NULL;
}
