#include "whole.h"

#include "base/assert.h"

#include <stdlib.h>

static void mark(mr_whole *whole, uint32_t event)
{
    whole->marks[event / 8] |= (uint8_t)(1 << event % 8);
}

/* A plain access: marks the write of another thread that it reads from. Without branches, which would be guessed wrong. */
static inline void mark_source(mr_whole *whole, uint32_t event)
{
    const mr_trace *trace = whole->trace;
    uint32_t write = mr_op_reads(trace->op[event]) ? trace->link[event] : MR_NONE;
    uint32_t source = write != MR_NONE ? write : event;
    bool is_other = trace->thread[source] != trace->thread[event];
    whole->marks[source / 8] |= (uint8_t)(is_other << source % 8);
}

/* The write of another thread, atomic or plain, that the event reads from; else MR_NONE. */
static uint32_t read_source(const mr_trace *trace, uint32_t event)
{
    uint32_t write = mr_op_reads(trace->op[event]) ? trace->link[event] : MR_NONE;
    return write != MR_NONE && trace->thread[write] != trace->thread[event] ? write : MR_NONE;
}

static bool add_reader(mr_whole *whole, uint32_t lock, uint32_t thread)
{
    uint32_t *number = mr_map_at(&whole->reader_numbers, mr_map_key(lock, thread), MR_NONE);
    void *readers = whole->readers;
    if (!number)
        return false;
    if (*number != MR_NONE)
        return true;
    if (!mr_grow(&readers, &whole->reader_capacity, whole->reader_count + 1,
                 sizeof *whole->readers))
        return false;
    whole->readers = readers;
    whole->readers[whole->reader_count++] = (mr_single_lock){thread, whole->first_reader[lock]};
    *number = whole->first_reader[lock] = whole->single_count++;
    return true;
}

static bool look_at(mr_whole *whole, uint32_t event, bool with_reads)
{
    const mr_trace *trace = whole->trace;
    uint8_t op = trace->op[event];
    uint32_t source = mr_op_takes(op) ? mr_whole_post(whole, event)
                      : with_reads    ? read_source(trace, event)
                                      : mr_whole_atomic_source(whole, event);
    MR_ASSERT(source == MR_NONE || source < event);
    if (source != MR_NONE)
        mark(whole, source);
    return !MR_OP_DOES_ALL(op, MR_ACQUIRES | MR_SHARED) ||
           add_reader(whole, trace->operand[event], trace->thread[event]);
}

static bool run(mr_whole *whole, bool with_reads)
{
    const mr_trace *trace = whole->trace;
    whole->marks = mr_calloc((size_t)trace->event_count / 8 + 1, 1);
    whole->first_reader = mr_calloc(trace->locks.count, sizeof *whole->first_reader);
    if (!whole->marks || !whole->first_reader)
        return false;
    whole->single_count = trace->locks.count;
    for (uint32_t lock = 0; lock < trace->locks.count; lock++)
        whole->first_reader[lock] = MR_NONE;
    for (uint32_t event = 0; event < trace->event_count; event++) {
        if (!mr_op_is_plain(trace->op[event])) {
            if (!look_at(whole, event, with_reads))
                return false;
        } else if (with_reads) {
            mark_source(whole, event);
        }
    }
    for (size_t i = 0; i < whole->edges->count; i++)
        mark(whole, whole->edges->items[i].from);
    return true;
}

mr_status mr_whole_init(mr_whole *whole, const mr_trace *trace, const mr_barrier_edges *edges,
                        mr_opaque opaque, bool with_reads, mr_error *error)
{
    *whole = (mr_whole){.trace = trace, .edges = edges};
    mr_status status = MR_OK;
    if (!edges) {
        whole->edges = &whole->own;
        status = mr_barrier_edges_find(trace, opaque, &whole->own, error);
    }
    if (status != MR_OK)
        return status;
    return run(whole, with_reads) ? MR_OK : mr_error_memory(error, "looking what events follow");
}

void mr_whole_free(mr_whole *whole)
{
    mr_barrier_edges_free(&whole->own);
    free(whole->marks);
    free(whole->first_reader);
    free(whole->readers);
    mr_map_free(&whole->reader_numbers);
    *whole = (mr_whole){0};
}

/* The first reader's lock from `lock` on that is not of the event's thread. */
static uint32_t other_reader(const mr_whole *whole, uint32_t event, uint32_t lock)
{
    const mr_trace *trace = whole->trace;
    while (lock != MR_NONE &&
           whole->readers[lock - trace->locks.count].thread == trace->thread[event])
        lock = whole->readers[lock - trace->locks.count].next;
    return lock;
}

uint32_t mr_whole_first_lock(const mr_whole *whole, uint32_t event)
{
    const mr_trace *trace = whole->trace;
    uint32_t lock = trace->operand[event];
    if (!mr_op_is_shared(trace->op[event]))
        return lock;
    uint32_t reader =
        mr_map_get(&whole->reader_numbers, mr_map_key(lock, trace->thread[event]), MR_NONE);
    MR_ASSERT(reader != MR_NONE && reader < whole->single_count); /* it has acquired the lock */
    return reader;
}

uint32_t mr_whole_next_lock(const mr_whole *whole, uint32_t event, uint32_t lock)
{
    const mr_trace *trace = whole->trace;
    if (mr_op_is_shared(trace->op[event]))
        return MR_NONE;
    uint32_t next = lock < trace->locks.count ? whole->first_reader[lock]
                                              : whole->readers[lock - trace->locks.count].next;
    return other_reader(whole, event, next);
}
