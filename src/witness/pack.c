#include "pack.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { LAST = 0x7f, MORE = 0x80, NUMBER_BYTES = 5 };

static size_t put(uint8_t *to, uint32_t number)
{
    size_t count = 0;
    for (; number > LAST; number >>= 7)
        to[count++] = (uint8_t)(number | MORE);
    to[count++] = (uint8_t)number;
    return count;
}

static uint32_t get(const uint8_t **from)
{
    uint32_t number = 0;
    int shift = 0;
    for (; **from & MORE; shift += 7)
        number |= (uint32_t)(*(*from)++ & LAST) << shift;
    return number | (uint32_t) * (*from)++ << shift;
}

/* Bytes of the packed form, which is written to `to` unless that is NULL. */
static size_t write_runs(const mr_trace *trace, const mr_witness *w, uint8_t *to)
{
    uint8_t number[NUMBER_BYTES] = {0};
    size_t bytes = 0;
    for (uint32_t i = 0, end; i < w->event_count; i = end) {
        uint32_t thread = trace->thread[w->events[i]];
        for (end = i; end < w->event_count && trace->thread[w->events[end]] == thread;)
            end++;
        bytes += put(to ? to + bytes : number, thread);
        bytes += put(to ? to + bytes : number, end - i);
    }
    return bytes;
}

bool mr_witness_pack(const mr_trace *trace, mr_witness *witness)
{
    size_t bytes = write_runs(trace, witness, NULL);
    uint8_t *packed = mr_malloc(1, bytes); /* never empty: NULL means not packed */
    if (!packed)
        return false;
    write_runs(trace, witness, packed);
    free(witness->events);
    witness->events = NULL;
    witness->packed = packed;
    witness->packed_bytes = bytes;
    return true;
}

/* The events of each thread that the witness has, found in one walk over the trace. */
typedef struct threads {
    uint32_t *next; /* one a thread of the trace: where its next event goes in `events` … */
    uint32_t *end;  /* … and where the last one has gone */
    uint32_t *events;
} threads;

static void collect(const mr_trace *trace, const mr_witness *w, threads *all)
{
    const uint8_t *end = w->packed + w->packed_bytes;
    for (const uint8_t *at = w->packed; at < end;) {
        uint32_t thread = get(&at);
        all->end[thread] += get(&at);
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
    const uint8_t *end = w->packed + w->packed_bytes;
    uint32_t filled = 0;
    for (uint32_t t = trace->threads.count; t-- > 0;) /* back to the first event of each */
        all->next[t] = t ? all->end[t - 1] : 0;
    for (const uint8_t *at = w->packed; at < end;) {
        uint32_t thread = get(&at), count = get(&at);
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
    if (complete) {
        *room = *witness;
        room->packed = NULL;
        room->packed_bytes = 0;
        room->events = events;
        collect(trace, witness, &all);
        read_runs(trace, witness, &all, events);
    } else {
        free(events);
    }
    free(all.next);
    free(all.end);
    free(all.events);
    return complete ? room : NULL;
}
