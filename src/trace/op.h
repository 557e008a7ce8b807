/*
 * op: the operations of a trace event. One table says everything that can be said of an operation
 * in a word: its text, what its operand names, and what it does. All predicates come from the
 * table, and nothing depends on the order of its rows except where an assertion says so.
 *
 * A new operation is a new row. What cannot be said in a word is a `switch` over mr_op without
 * `default`: -Wswitch-enum makes each of them a compile error until it knows the new row. Columns
 * hold operations as bytes; a switch on a byte writes (mr_op), else the compiler says nothing.
 */
#ifndef MR_TRACE_OP_H
#define MR_TRACE_OP_H

#include <stdbool.h>
#include <stdint.h>

/* What the operand of an operation names; each is a namespace of its own. */
typedef enum mr_operand_kind {
    MR_OPERAND_NONE,
    MR_OPERAND_VARIABLE,
    MR_OPERAND_LOCK, /* locks and semaphores */
    MR_OPERAND_THREAD,
    MR_OPERAND_CALL,   /* the identifier of an unrecorded call */
    MR_OPERAND_OBJECT, /* a piece of memory that has a life */
} mr_operand_kind;

/* What an operation does. An operation may do several of these things. */
typedef enum mr_op_property {
    MR_READS = 1 << 0, /* sees the value of its variable */
    MR_WRITES = 1 << 1,
    MR_ATOMIC = 1 << 2,   /* does not conflict with another atomic access */
    MR_ACQUIRES = 1 << 3, /* its lock; the outermost acquire begins a critical section */
    MR_RELEASES = 1 << 4,
    MR_SHARED = 1 << 5, /* acquires or releases so that others may hold the lock shared, too */
    MR_GIVES = 1 << 6,  /* a unit to its semaphore */
    MR_TAKES = 1 << 7,
    MR_FORKS = 1 << 8,   /* its thread has no event before */
    MR_JOINS = 1 << 9,   /* its thread has no event after */
    MR_BEGINS = 1 << 10, /* is the first event of the thread that does it */
    MR_ENDS = 1 << 11,
    MR_CALLS = 1 << 12, /* begins a call that was not recorded */
    MR_RETURNS = 1 << 13,
    MR_BINDS = 1 << 14, /* depends on all that its thread read before (docs/semantics.md 2.6) */
    MR_STARTS_LIFE = 1 << 15, /* of its object: no access of it comes before */
    MR_ENDS_LIFE = 1 << 16,   /* conflicts with the accesses of its object */
    MR_FENCES = 1 << 17,      /* orders memory, without a variable of its own */
} mr_op_property;

/* X(with, enumerator, text in the file, operand kind, what it does) */
#define MR_OP_MAP(X, with)                                                                         \
    X(with, READ, "r", VARIABLE, MR_READS)                                                         \
    X(with, WRITE, "w", VARIABLE, MR_WRITES)                                                       \
    X(with, ATOMIC_READ, "ar", VARIABLE, MR_READS | MR_ATOMIC)                                     \
    X(with, ATOMIC_WRITE, "aw", VARIABLE, MR_WRITES | MR_ATOMIC)                                   \
    X(with, ATOMIC_UPDATE, "au", VARIABLE, MR_READS | MR_WRITES | MR_ATOMIC)                       \
    X(with, ACQUIRE, "acq", LOCK, MR_ACQUIRES)                                                     \
    X(with, RELEASE, "rel", LOCK, MR_RELEASES)                                                     \
    X(with, SHARED_ACQUIRE, "racq", LOCK, MR_ACQUIRES | MR_SHARED)                                 \
    X(with, SHARED_RELEASE, "rrel", LOCK, MR_RELEASES | MR_SHARED)                                 \
    X(with, FORK, "fork", THREAD, MR_FORKS | MR_BINDS)                                             \
    X(with, JOIN, "join", THREAD, MR_JOINS)                                                        \
    X(with, BEGIN, "begin", NONE, MR_BEGINS)                                                       \
    X(with, END, "end", NONE, MR_ENDS)                                                             \
    X(with, POST, "post", LOCK, MR_GIVES)                                                          \
    X(with, WAIT, "wait", LOCK, MR_TAKES)                                                          \
    X(with, CALL_BEGIN, "mbegin", CALL, MR_CALLS | MR_BINDS)                                       \
    X(with, CALL_END, "mend", CALL, MR_RETURNS)                                                    \
    X(with, BRANCH, "branch", NONE, MR_BINDS)                                                      \
    X(with, ALLOC, "alloc", OBJECT, MR_STARTS_LIFE)                                                \
    X(with, FREE, "free", OBJECT, MR_ENDS_LIFE)                                                    \
    X(with, DEREF, "deref", VARIABLE, 0)                                                           \
    X(with, FENCE, "fence", NONE, MR_FENCES)

typedef enum mr_op {
#define MR_OP_ENUM(with, name, text, kind, does) MR_OP_##name,
    MR_OP_MAP(MR_OP_ENUM, unused)
#undef MR_OP_ENUM
} mr_op;

/* Not in the enum: a switch would have to name it. */
#define MR_OP_BYTE(with, name, text, kind, does) char name;
enum { MR_OP_COUNT = sizeof(struct {MR_OP_MAP(MR_OP_BYTE, unused)}) };
#undef MR_OP_BYTE

const char *mr_op_name(mr_op op); /* "acq" … */
mr_operand_kind mr_op_operand_kind(mr_op op);

/* How many events do one of `wanted`, when `counts` has those of each operation? */
uint64_t mr_op_total(const uint64_t counts[MR_OP_COUNT], unsigned wanted);

/* The operation called by the `length` bytes at `text`; false when there is none. */
bool mr_op_parse(const char *text, uint32_t length, mr_op *op);

/* Does the operation do one of `wanted`, or all of it? Properties are joined by |. The compiler
 * leaves of it comparisons of `op` with the rows that do. */
#define MR_OP_DOES(op, wanted)     (0 MR_OP_MAP(MR_OP_ROW_DOES, (op, wanted)))
#define MR_OP_DOES_ALL(op, wanted) (0 MR_OP_MAP(MR_OP_ROW_DOES_ALL, (op, wanted)))
#define MR_OP_ROW_DOES(with, name, text, kind, does)                                               \
    || (((does) & (MR_OP_SECOND with)) != 0 && (MR_OP_FIRST with) == MR_OP_##name)
#define MR_OP_ROW_DOES_ALL(with, name, text, kind, does)                                           \
    || ((~(does) & (MR_OP_SECOND with)) == 0 && (MR_OP_FIRST with) == MR_OP_##name)
#define MR_OP_FIRST(op, wanted)  op
#define MR_OP_SECOND(op, wanted) wanted

/* An access reads or writes a variable; an atomic update does both. */
static inline bool mr_op_is_access(uint8_t op)
{
    return MR_OP_DOES(op, MR_READS | MR_WRITES);
}

static inline bool mr_op_is_atomic(uint8_t op)
{
    return MR_OP_DOES(op, MR_ATOMIC);
}

/* An access that is not atomic. */
static inline bool mr_op_is_plain(uint8_t op)
{
    return mr_op_is_access(op) && !mr_op_is_atomic(op);
}

static inline bool mr_op_reads(uint8_t op)
{
    return MR_OP_DOES(op, MR_READS);
}

static inline bool mr_op_writes(uint8_t op)
{
    return MR_OP_DOES(op, MR_WRITES);
}

/* Reads and writes in one step, so that an event of it has two values. */
static inline bool mr_op_updates(uint8_t op)
{
    return MR_OP_DOES_ALL(op, MR_READS | MR_WRITES);
}

/* Acquires or releases a lock, in either way. */
static inline bool mr_op_acquires(uint8_t op)
{
    return MR_OP_DOES(op, MR_ACQUIRES);
}

static inline bool mr_op_releases(uint8_t op)
{
    return MR_OP_DOES(op, MR_RELEASES);
}

/* Acquires or releases a lock shared. */
static inline bool mr_op_is_shared(uint8_t op)
{
    return MR_OP_DOES(op, MR_SHARED);
}

/* Gives or takes a unit of a semaphore. */
static inline bool mr_op_gives(uint8_t op)
{
    return MR_OP_DOES(op, MR_GIVES);
}

static inline bool mr_op_takes(uint8_t op)
{
    return MR_OP_DOES(op, MR_TAKES);
}

static inline bool mr_op_forks(uint8_t op)
{
    return MR_OP_DOES(op, MR_FORKS);
}

static inline bool mr_op_joins(uint8_t op)
{
    return MR_OP_DOES(op, MR_JOINS);
}

static inline bool mr_op_begins(uint8_t op)
{
    return MR_OP_DOES(op, MR_BEGINS);
}

static inline bool mr_op_ends(uint8_t op)
{
    return MR_OP_DOES(op, MR_ENDS);
}

/* Begins or ends a call that was not recorded. */
static inline bool mr_op_calls(uint8_t op)
{
    return MR_OP_DOES(op, MR_CALLS);
}

static inline bool mr_op_returns(uint8_t op)
{
    return MR_OP_DOES(op, MR_RETURNS);
}

/* Model branch: cannot happen in a thread that read something else than it did in the trace. */
static inline bool mr_op_binds(uint8_t op)
{
    return MR_OP_DOES(op, MR_BINDS);
}

/* Begins or ends the life of an object. */
static inline bool mr_op_starts_life(uint8_t op)
{
    return MR_OP_DOES(op, MR_STARTS_LIFE);
}

static inline bool mr_op_ends_life(uint8_t op)
{
    return MR_OP_DOES(op, MR_ENDS_LIFE);
}

static inline bool mr_op_fences(uint8_t op)
{
    return MR_OP_DOES(op, MR_FENCES);
}

/* Has two numbers: an update what it reads and writes, an alloc address and size. */
static inline bool mr_op_has_pair(uint8_t op)
{
    return mr_op_updates(op) || mr_op_starts_life(op);
}

/* Is it as a write to what conflicts with it? */
static inline bool mr_op_conflicts_as_write(uint8_t op)
{
    return MR_OP_DOES(op, MR_WRITES | MR_ENDS_LIFE);
}

/* Do two accesses of one variable by different threads conflict (docs/semantics.md 3)? A free of
 * the variable's object is a plain write of it. */
static inline bool mr_ops_conflict(uint8_t op, uint8_t other)
{
    return (mr_op_conflicts_as_write(op) || mr_op_conflicts_as_write(other)) &&
           !(mr_op_is_atomic(op) && mr_op_is_atomic(other));
}

#endif
