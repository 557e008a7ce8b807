/*
 * address_name: an address in the trace of a recorded program. Memory that is released is given out
 * again, so one address is that of several blocks, one after the other. In the trace these have
 * different addresses: the bits above MR_ADDRESS_BITS count how often the address was used before. So a
 * pointer to a block never equals one to a later block there, and no prediction takes one for the
 * other (rule 5 of docs/semantics.md 2 compares values).
 */
#ifndef MR_TRACE_ADDRESS_NAME_H
#define MR_TRACE_ADDRESS_NAME_H

#include <stdbool.h>
#include <stdint.h>

/* Usual floating-point numbers, whose bits may be values, too, lie above MR_ADDRESS_USES_MAX. */
enum { MR_ADDRESS_BITS = 48, MR_ADDRESS_USES_MAX = 0x2fff };

/* The address of memory that was used `uses` times before. */
static inline int64_t mr_address_name(uint64_t address, uint32_t uses)
{
    return (int64_t)(address | (uint64_t)uses << MR_ADDRESS_BITS);
}

/* Without the count. */
static inline int64_t mr_address_plain(int64_t value)
{
    return value & ((INT64_C(1) << MR_ADDRESS_BITS) - 1);
}

/* How often it was used before, when it is an address. */
static inline int64_t mr_address_uses(int64_t value)
{
    return value >> MR_ADDRESS_BITS;
}

/* May the value be an address of a process (2^40 up to 2^47), with a count or without? Another number may look so. */
static inline bool mr_address_is_likely(int64_t value)
{
    int64_t plain = mr_address_plain(value), uses = mr_address_uses(value);
    return uses >= 0 && uses <= MR_ADDRESS_USES_MAX && plain >= INT64_C(1) << 40 &&
           plain < INT64_C(1) << 47;
}

/* Are the values equal, but for the counts of addresses? */
static inline bool mr_address_is_same(int64_t a, int64_t b)
{
    return a == b || (mr_address_is_likely(a) && mr_address_is_likely(b) &&
                      mr_address_plain(a) == mr_address_plain(b));
}

#endif
