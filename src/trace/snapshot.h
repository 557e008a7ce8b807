/*
 * snapshot: what a window needs of the events before it, block by block, and what it needs of the whole trace. With
 * it a part of a trace can be decided without the rest (formats/mrt/mrt_part.h).
 *
 *   mr_snapshot_init → (mr_snapshot_add → use of the lists)* → mr_snapshot_free
 *
 * What is said of a variable follows the rules of trace/index.c. One pass, O(events); memory 24 bytes a variable, and
 * 16 to 24 for each place of a variable with more than two.
 */
#ifndef MR_TRACE_SNAPSHOT_H
#define MR_TRACE_SNAPSHOT_H

#include "base/keys.h"
#include "events.h"

/* A thread is in a section of a lock. */
typedef struct mr_open_section {
    uint32_t op; /* MR_OP_ACQUIRE or MR_OP_SHARED_ACQUIRE */
    uint32_t thread, lock;
    uint32_t depth; /* how often it has to be released */
} mr_open_section;

/* A section in a list: of a lock, or of a lock and a thread that shares it. */
typedef struct mr_section_link {
    mr_open_section section; /* depth 0: it is not open */
    uint32_t before, after;  /* in the list; as `first` */
} mr_section_link;

/* The sections that are open, in the order of their outermost acquires. Zero-initialise. */
typedef struct mr_open_sections {
    mr_section_link *own, *shared; /* by lock; by number in `sharers` */
    size_t own_capacity, shared_capacity;
    mr_keys sharers;      /* (lock, thread) */
    uint32_t first, last; /* 2 * lock + 1, or 2 * number + 2; 0: none */
    uint32_t count;
} mr_open_sections;

/* An acquire or release. False: the sections do not allow it, or (`*memory` is false) there is no memory. O(1). */
bool mr_open_sections_step(mr_open_sections *open, uint8_t op, uint32_t thread, uint32_t lock,
                           bool *memory);
/* Copies them to `items`, which has room for open->count. */
void mr_open_sections_list(const mr_open_sections *open, mr_open_section *items);
void mr_open_sections_free(mr_open_sections *open);

/* What the events so far say of a variable. */
typedef struct mr_variable_state {
    uint32_t last_value; /* that the last write wrote, 0: unknown; MR_NONE: no write so far */
    uint32_t initial_value, by_source; /* as in mr_variable_info */
    uint32_t block;                    /* number + 1 of the last block with an access */
    uint32_t places[2]; /* places of accesses + 1, 0: none: the first one, and the last other one */
} mr_variable_state;

typedef struct mr_snapshot {
    mr_variable_state *variables;
    uint32_t *place_counts; /* by variable: how many places access it */
    /* Set by the caller: variables with 0 here (or behind the end) have no use for their place_counts. NULL: all have. */
    const uint8_t *marks; /* borrowed */
    uint32_t mark_count;
    size_t variable_capacity;
    mr_keys
        more_places; /* (variable, place) of variables with more than two; without the first ones */
    mr_open_sections now; /* after the events so far */
    uint32_t block_count;
    /* Of the block added last, as it was at its begin: the open sections, and for each variable that it accesses, in
     * the order of the first accesses, last_value. */
    mr_open_section *open;
    uint32_t *carried;
    size_t open_count, open_capacity, carried_count, carried_capacity;
} mr_snapshot;

void mr_snapshot_init(mr_snapshot *snapshot);
void mr_snapshot_free(mr_snapshot *snapshot);

/* A block of a valid trace; `value` is its value column, NULL when it has no values. False: no memory. */
bool mr_snapshot_add(mr_snapshot *snapshot, const mr_events *events, const uint32_t *value,
                     const mr_update *updates);

/* What the events so far say of a variable, which may have had none. */
mr_variable_state mr_snapshot_variable(const mr_snapshot *snapshot, uint32_t variable);

/* The most places that access one of the variables that are marked. */
uint32_t mr_snapshot_most_places(const mr_snapshot *snapshot, const uint8_t *marks, uint32_t count);

#endif
