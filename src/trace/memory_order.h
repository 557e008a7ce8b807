/*
 * memory_order: how an atomic access or a fence orders the memory of other threads (C17 7.17.3,
 * docs/semantics.md 8). A text says it behind the operation: ar.acq(x), fence.rel().
 *
 * At the same place stands that an acquire of a lock was a try: acq.try(l). Its thread would not have
 * waited for ever, so it takes part in no deadlock (docs/semantics.md 9). Nothing else looks at that.
 */
#ifndef MR_TRACE_MEMORY_ORDER_H
#define MR_TRACE_MEMORY_ORDER_H

#include "op.h"

/* X(enumerator, suffix of the operation in a text) */
#define MR_MEMORY_ORDER_MAP(X)                                                                     \
    X(SC, ".sc")                                                                                   \
    X(RLX, ".rlx")                                                                                 \
    X(ACQ, ".acq")                                                                                 \
    X(REL, ".rel")                                                                                 \
    X(ACQREL, ".acqrel")                                                                           \
    X(TRY, ".try")

typedef enum mr_memory_order {
#define MR_MEMORY_ORDER_ENUM(name, suffix) MR_ORDER_##name,
    MR_MEMORY_ORDER_MAP(MR_MEMORY_ORDER_ENUM)
#undef MR_MEMORY_ORDER_ENUM
} mr_memory_order;

enum { MR_MEMORY_ORDER_COUNT = MR_ORDER_TRY + 1 };

const char *mr_memory_order_suffix(mr_memory_order order); /* ".acq" … */

/* The order that the `length` bytes at `text`, from the '.' on, name; false when there is none. */
bool mr_memory_order_parse(const char *text, uint32_t length, mr_memory_order *order);

/* Can an event of this operation have it? Every event can be sc: that is also what stands for "has
 * none". A read cannot release, a write cannot acquire, a fence does something. Only an acquire of a
 * lock can be a try. */
bool mr_memory_order_fits(mr_op op, mr_memory_order order);

/* Does an event that has it acquire, release (sc does both)? Of an atomic access that reads or
 * writes, and of a fence. */
static inline bool mr_memory_order_acquires(mr_memory_order order)
{
    return order == MR_ORDER_SC || order == MR_ORDER_ACQ || order == MR_ORDER_ACQREL;
}

static inline bool mr_memory_order_releases(mr_memory_order order)
{
    return order == MR_ORDER_SC || order == MR_ORDER_REL || order == MR_ORDER_ACQREL;
}

#endif
