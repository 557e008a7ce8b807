/* op: the operations of a trace event, one table for names and operand kinds. */
#ifndef MR_TRACE_OP_H
#define MR_TRACE_OP_H

#include <stdbool.h>
#include <stdint.h>

/* What the operand of an operation names; each of the first three is a namespace of its own. */
typedef enum mr_operand_kind {
    MR_OPERAND_NONE,
    MR_OPERAND_VARIABLE,
    MR_OPERAND_LOCK, /* locks and semaphores */
    MR_OPERAND_THREAD,
    MR_OPERAND_CALL, /* the identifier of an unrecorded call */
} mr_operand_kind;

/* X(enumerator, text in the file, operand kind) */
#define MR_OP_MAP(X)                                                                               \
    X(READ, "r", VARIABLE)                                                                         \
    X(WRITE, "w", VARIABLE)                                                                        \
    X(ATOMIC_READ, "ar", VARIABLE)                                                                 \
    X(ATOMIC_WRITE, "aw", VARIABLE)                                                                \
    X(ATOMIC_UPDATE, "au", VARIABLE)                                                               \
    X(ACQUIRE, "acq", LOCK)                                                                        \
    X(RELEASE, "rel", LOCK)                                                                        \
    X(SHARED_ACQUIRE, "racq", LOCK)                                                                \
    X(SHARED_RELEASE, "rrel", LOCK)                                                                \
    X(FORK, "fork", THREAD)                                                                        \
    X(JOIN, "join", THREAD)                                                                        \
    X(BEGIN, "begin", NONE)                                                                        \
    X(END, "end", NONE)                                                                            \
    X(POST, "post", LOCK)                                                                          \
    X(WAIT, "wait", LOCK)                                                                          \
    X(CALL_BEGIN, "mbegin", CALL)                                                                  \
    X(CALL_END, "mend", CALL)                                                                      \
    X(BRANCH, "branch", NONE)

typedef enum mr_op {
#define MR_OP_ENUM(name, text, kind) MR_OP_##name,
    MR_OP_MAP(MR_OP_ENUM)
#undef MR_OP_ENUM
        MR_OP_COUNT
} mr_op;

const char *mr_op_name(mr_op op); /* "acq" … */
mr_operand_kind mr_op_operand_kind(mr_op op);

/* The operation called by the `length` bytes at `text`; false when there is none. */
bool mr_op_parse(const char *text, uint32_t length, mr_op *op);

/* An access reads or writes a variable; an atomic update does both. */
static inline bool mr_op_is_access(uint8_t op)
{
    return op <= MR_OP_ATOMIC_UPDATE;
}

static inline bool mr_op_is_atomic(uint8_t op)
{
    return op >= MR_OP_ATOMIC_READ && op <= MR_OP_ATOMIC_UPDATE;
}

static inline bool mr_op_reads(uint8_t op)
{
    return op == MR_OP_READ || op == MR_OP_ATOMIC_READ || op == MR_OP_ATOMIC_UPDATE;
}

static inline bool mr_op_writes(uint8_t op)
{
    return op == MR_OP_WRITE || op == MR_OP_ATOMIC_WRITE || op == MR_OP_ATOMIC_UPDATE;
}

/* Do two accesses of one variable by different threads conflict (docs/semantics.md 3)? */
static inline bool mr_ops_conflict(uint8_t op, uint8_t other)
{
    return (mr_op_writes(op) || mr_op_writes(other)) &&
           !(mr_op_is_atomic(op) && mr_op_is_atomic(other));
}

#endif
