#include "memory_order.h"

#include <string.h>

static const char *const suffixes[MR_MEMORY_ORDER_COUNT] = {
#define MR_MEMORY_ORDER_SUFFIX(name, suffix) suffix,
    MR_MEMORY_ORDER_MAP(MR_MEMORY_ORDER_SUFFIX)
#undef MR_MEMORY_ORDER_SUFFIX
};

const char *mr_memory_order_suffix(mr_memory_order order)
{
    return suffixes[order];
}

bool mr_memory_order_parse(const char *text, uint32_t length, mr_memory_order *order)
{
    for (int i = 0; i < MR_MEMORY_ORDER_COUNT; i++) {
        if (strlen(suffixes[i]) == length && !memcmp(suffixes[i], text, length)) {
            *order = (mr_memory_order)i;
            return true;
        }
    }
    return false;
}

bool mr_memory_order_fits(mr_op op, mr_memory_order order)
{
    if (order == MR_ORDER_SC)
        return true;
    if (order == MR_ORDER_TRY)
        return mr_op_acquires((uint8_t)op);
    if (mr_op_fences((uint8_t)op))
        return order != MR_ORDER_RLX;
    if (!mr_op_is_atomic((uint8_t)op))
        return false;
    if (order == MR_ORDER_RLX || mr_op_updates((uint8_t)op))
        return true;
    return order == (mr_op_reads((uint8_t)op) ? MR_ORDER_ACQ : MR_ORDER_REL);
}
