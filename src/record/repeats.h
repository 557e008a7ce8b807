/*
 * repeats: a read that says what the event before it said. A thread that waits in a loop reads one
 * variable again and again. Such a read has no event when the last event of its thread is
 *
 *   - a read of the same variable at the same place, in the same memory order,
 *   - that saw the same write,
 *
 * and the memory is alive. This changes no verdict about places. In a reordering the read can stand
 * right behind the one before, and sees what that one sees; it synchronises with the same writes.
 * Where it is next itself, the reordering without the read before it has that one next.
 */
#ifndef MR_RECORD_REPEATS_H
#define MR_RECORD_REPEATS_H

#include "pieces.h"

typedef struct mr_repeat {
    const mr_piece *piece; /* NULL: the last event is no read of a whole variable */
    uint64_t head, code;   /* of the record, without the value */
    uint32_t version;
} mr_repeat;

/* Zero-initialise. */
typedef struct mr_repeats {
    mr_repeat *items; /* by thread of the log: its last event */
    size_t count, capacity;
} mr_repeats;

void mr_repeats_free(mr_repeats *repeats);

/* Room for the thread. False: no memory. */
bool mr_repeats_fill(mr_repeats *repeats, uint32_t thread);

/* Is the read what the last event of the thread was? */
static inline bool mr_repeats_has(const mr_repeats *repeats, uint32_t thread, const mr_repeat *read)
{
    if (thread >= repeats->count)
        return false;
    const mr_repeat *last = &repeats->items[thread];
    return last->piece == read->piece && last->head == read->head && last->code == read->code &&
           last->version == read->version;
}

#endif
