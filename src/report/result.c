#include "result.h"

#include <stdlib.h>

void mr_result_free(mr_result *result)
{
    for (size_t i = 0; i < result->race_count; i++)
        mr_witness_free(&result->races[i].witness);
    free(result->races);
    free(result->unknowns);
    *result = (mr_result){0};
}
