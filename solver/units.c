#include "units.h"

#include "base/assert.h"

#include <string.h>

/* `otherwise`: when Z3 cannot say. */
static uint32_t read_counter(Z3_context context, Z3_solver solver, uint32_t otherwise)
{
    uint32_t counter = otherwise;
    Z3_stats statistics = Z3_solver_get_statistics(context, solver);
    if (!statistics)
        return otherwise;
    Z3_stats_inc_ref(context, statistics);
    for (unsigned i = 0; i < Z3_stats_size(context, statistics); i++)
        if (strcmp(Z3_stats_get_key(context, statistics, i), "rlimit count") == 0)
            counter = Z3_stats_get_uint_value(context, statistics, i);
    Z3_stats_dec_ref(context, statistics);
    return counter;
}

void mr_units_count(mr_units *units, Z3_context context, Z3_solver solver)
{
    uint32_t counter = read_counter(context, solver, units->counter);
    units->used += (uint32_t)(counter - units->counter);
    units->counter = counter;
}

bool mr_units_used_up(const mr_units *units)
{
    return units->limit && units->used >= units->limit;
}

uint32_t mr_units_left(const mr_units *units)
{
    MR_REQUIRE(!mr_units_used_up(units));
    return units->limit ? units->limit - (uint32_t)units->used : 0;
}
