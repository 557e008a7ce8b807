#include "length.h"

#include <stdlib.h>
#include <string.h>

static bool is_length(const char *name)
{
    const char *length = getenv("TEST_LENGTH");
    return length && strcmp(length, name) == 0;
}

bool mr_length_full(void)
{
    return is_length("full") || is_length("third");
}

bool mr_length_few(void)
{
    return is_length("few");
}

uint64_t mr_number_from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

uint64_t mr_length_of(uint64_t share, uint64_t full)
{
    const bool is_step = share > full;
    if (mr_length_few())
        return is_step ? 2 * share : (share + 3) / 4;
    if (is_length("third") && !is_step) {
        uint64_t least =
            2 * share < full ? 2 * share : full; /* else it would be what `make test` runs */
        return full / 3 > least ? full / 3 : least;
    }
    return mr_length_full() ? full : share;
}

uint64_t mr_length(const char *name, uint64_t share, uint64_t full)
{
    return mr_number_from_environment(name, mr_length_of(share, full));
}
