#include "order_result.h"

#include <stdlib.h>

const char *mr_standing_name(mr_standing standing)
{
    static const char *const names[] = {"race", "sound", "candidate", "no-race", "unknown"};
    return names[standing];
}

const char *mr_proof_name(mr_proof proof)
{
    static const char *const names[] = {"", "first", "fhb", "shb", "syncp", "c17", "decision"};
    return names[proof];
}

void mr_order_result_free(mr_order_result *result)
{
    if (result->races != NULL)
        for (size_t i = 0; i < result->list.race_count; i++)
            mr_witness_free(&result->races[i].witness);
    free(result->races);
    mr_race_list_free(&result->list);
    mr_observed_free(&result->observed);
    *result = (mr_order_result){0};
}
