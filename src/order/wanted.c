#include "wanted.h"

#include "base/assert.h"
#include "base/memory.h"

#include <stdlib.h>

void mr_wanted_free(mr_wanted *wanted)
{
    free(wanted->locations);
    mr_map_free(&wanted->pairs);
    *wanted = (mr_wanted){0};
}

bool mr_wanted_add(mr_wanted *wanted, uint32_t location_count, uint32_t location, uint32_t other)
{
    MR_ASSERT(location < location_count && other < location_count);
    if (!wanted->locations) {
        wanted->locations = mr_calloc(location_count, sizeof *wanted->locations);
        wanted->location_count = wanted->locations ? location_count : 0;
    }
    if (!wanted->locations || !mr_map_at(&wanted->pairs, mr_map_key_of_two(location, other), 1))
        return false;
    MR_ASSERT(wanted->location_count == location_count);
    wanted->locations[location] = wanted->locations[other] = 1;
    return true;
}

bool mr_wanted_pair(const mr_wanted *wanted, uint32_t location, uint32_t other)
{
    if (!wanted)
        return true;
    bool is_listed = mr_map_get(&wanted->pairs, mr_map_key_of_two(location, other), 0) != 0;
    return is_listed != wanted->all_but;
}
