#include "addresses.h"

#include "base/memory.h"
#include "pointers.h"
#include "trace/address_name.h"

#include <stdlib.h>
#include <string.h>

void mr_addresses_free(mr_addresses *addresses)
{
    mr_pairs_free(&addresses->starts);
    free(addresses->uses);
    free(addresses->held);
    *addresses = (mr_addresses){.use_count = 0};
}

/* Room for the item; new ones are 0. */
static bool fill(uint16_t **items, size_t *count, size_t *capacity, size_t item)
{
    void *grown = *items;
    if (item < *count)
        return true;
    if (!mr_grow(&grown, capacity, item + 1, sizeof **items))
        return false;
    *items = grown;
    memset(*items + *count, 0, (item + 1 - *count) * sizeof **items);
    *count = item + 1;
    return true;
}

bool mr_addresses_begin(mr_addresses *addresses, mr_life *life)
{
    uint32_t known = addresses->starts.count;
    uint32_t at = mr_pairs_add(&addresses->starts, (mr_pair){life->origin, 0});
    if (at == MR_PAIRS_NONE ||
        !fill(&addresses->uses, &addresses->use_count, &addresses->use_capacity, at))
        return false;
    uint16_t *uses = &addresses->uses[at];
    if (at < known)
        *uses = *uses < MR_ADDRESS_USES_MAX ? (uint16_t)(*uses + 1) : 0;
    life->uses = *uses;
    return true;
}

/* The value as the trace has it; `*uses`: the count in it. */
static int64_t name_of(mr_lifetimes *lives, int64_t value, uint32_t *uses)
{
    *uses = 0;
    if (!mr_pointers_may_be_address((uint64_t)value))
        return value;
    *uses = mr_lifetimes_find(lives, (uint64_t)value)->uses;
    return mr_address_name((uint64_t)value, *uses);
}

/* In `held`, above the count: a read saw an address that no event wrote, or another value than the last event left. */
#define UNSEEN UINT16_C(0x8000)

bool mr_addresses_name(mr_addresses *addresses, mr_lifetimes *lives, mr_emitted *event,
                       bool as_left)
{
    uint32_t uses = 0;
    if (!fill(&addresses->held, &addresses->held_count, &addresses->held_capacity, event->operand))
        return false;
    uint16_t *held = &addresses->held[event->operand];
    uint16_t count = *held & (uint16_t)~UNSEEN, unseen = *held & UNSEEN;
    if (!event->has_value) {
        *held = unseen;
        return true;
    }
    bool reads = mr_op_reads((uint8_t)event->op);
    if (reads && !as_left && (count || mr_pointers_may_be_address((uint64_t)event->value)))
        unseen = UNSEEN;
    if (as_left && count && reads) {
        uses = count - 1u;
        event->value = mr_address_name((uint64_t)event->value, uses);
    } else {
        event->value = name_of(lives, event->value, &uses);
    }
    if (mr_op_updates((uint8_t)event->op))
        event->written_value = name_of(lives, event->written_value, &uses);
    *held = (uint16_t)(uses + 1) | unseen;
    return true;
}

bool mr_addresses_are_seen(const mr_addresses *addresses, uint32_t variable)
{
    return variable < addresses->held_count && !(addresses->held[variable] & UNSEEN);
}
