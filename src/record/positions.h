/*
 * positions: where events stand in the recorded program, for replay (formats/mrt/mrt_positions.h).
 * Counts the operations of each thread while a pass reads the log, and numbers the codes.
 */
#ifndef MR_RECORD_POSITIONS_H
#define MR_RECORD_POSITIONS_H

#include "base/bytes.h"
#include "pairs.h"

typedef struct mr_position_module {
    uint64_t bias, start, end;
    uint32_t number;
    bool allocates, is_gone;
} mr_position_module;

/* Zero-initialise; free with mr_position_count_free. */
typedef struct mr_position_count {
    uint64_t *of; /* by thread of the log: operations so far */
    size_t count, capacity;
    mr_position_module *modules;
    size_t module_count, module_capacity;
    size_t last;    /* of the modules, found last */
    mr_pairs codes; /* by number */
    mr_bytes lines; /* of the run: modules */
} mr_position_count;

void mr_position_count_free(mr_position_count *count);

/* Room for a thread that has none. False: no memory. */
bool mr_position_grow(mr_position_count *count, uint32_t thread);
static inline bool mr_position_room(mr_position_count *count, uint32_t thread)
{
    return thread < count->count || mr_position_grow(count, thread);
}
/* The record counts, or not: mr_log_counts. */
bool mr_position_counts(mr_position_count *count, const uint64_t *record);

/* A MODULE or UNLOAD record. False: no memory. */
bool mr_position_module_record(mr_position_count *count, const uint64_t *record);

/* The number of the code of a record, whose event is all of it or not; MR_PAIRS_NONE: no memory. */
uint32_t mr_position_code(mr_position_count *count, const uint64_t *record, bool is_whole);

#endif
