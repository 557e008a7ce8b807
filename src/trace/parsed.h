/*
 * parsed: the fields of one event, and the kinds of directives, as a reader of text finds them and as
 * the builder (builder.h) takes them.
 */
#ifndef MR_TRACE_PARSED_H
#define MR_TRACE_PARSED_H

#include "base/slice.h"
#include "memory_order.h"
#include "op.h"

/* The fields point into the line. */
typedef struct mr_parsed {
    mr_op op;
    mr_slice thread, location;
    mr_slice name; /* what the operand names; empty for operations without operand */
    bool has_value;
    int64_t value;         /* read or written; for au the one read; for alloc the address */
    int64_t written_value; /* au; alloc: the size in bytes */
    mr_memory_order memory_order;
    mr_slice reach; /* mbegin only: "x1,x2,…", may be empty */
} mr_parsed;

typedef enum mr_directive {
    MR_DIRECTIVE_LOCATION, /* #@loc 345 src/bank.c:67 */
    MR_DIRECTIVE_VARIABLE, /* #@var V12 bank.balance */
    MR_DIRECTIVE_THREAD,   /* #@thread T1 worker */
    MR_DIRECTIVE_LOCK,     /* #@lock L3 accounts_mu */
    MR_DIRECTIVE_OBJECT,   /* #@object O7 the account's block */
    MR_DIRECTIVE_TYPE,     /* #@type V12 int32 */
    MR_DIRECTIVE_COUNT
} mr_directive;

#endif
