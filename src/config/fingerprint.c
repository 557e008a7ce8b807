/* fingerprint: the values in force, as one number. */
#include "config.h"

#include <string.h>
#include <xxhash.h>

uint64_t mr_config_fingerprint(const mr_config *config)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < mr_option_count; i++) {
        char number[32];
        const char *key = mr_options[i].key, *value = mr_config_value_text(config, i, number);
        if (mr_config_is_run_only(i))
            continue;
        hash = XXH3_64bits_withSeed(key, strlen(key) + 1, hash);
        hash = XXH3_64bits_withSeed(value, strlen(value) + 1, hash);
    }
    return hash;
}
