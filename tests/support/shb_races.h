/* shb_races: the static races of SHB, one example each, for tests that compare with them. */
#ifndef MR_TESTS_SUPPORT_SHB_RACES_H
#define MR_TESTS_SUPPORT_SHB_RACES_H

#include "trace/trace.h"

typedef struct mr_shb_race {
    uint32_t first, second; /* events, first before second in the trace */
} mr_shb_race;

typedef struct mr_shb_races {
    mr_shb_race *items; /* one example per static race (unordered pair of locations), in the order
                           of `second`; the example has the latest possible `first` */
    size_t count, capacity;
} mr_shb_races;

/* The static races as mr_detect finds them, in short. Fills `races` (zero-initialised by the
 * caller, freed with mr_shb_races_free). */
mr_status mr_shb_find(const mr_trace *trace, mr_shb_races *races, mr_error *error);
void mr_shb_races_free(mr_shb_races *races);

#endif
