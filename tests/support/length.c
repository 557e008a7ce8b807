#include "length.h"

#include <stdlib.h>
#include <string.h>

bool mr_length_full(void)
{
    const char *length = getenv("TEST_LENGTH");
    return length && strcmp(length, "full") == 0;
}

uint64_t mr_number_from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

uint64_t mr_length(const char *name, uint64_t share, uint64_t full)
{
    return mr_number_from_environment(name, mr_length_full() ? full : share);
}
