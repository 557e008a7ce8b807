/*
 * generate: random small traces, recorded from random thread programs that are really run.
 *
 * Each thread gets a program (accesses, critical sections, forks, joins, …); a random scheduler
 * runs the programs one step at a time on a memory, on locks and on semaphores, so every trace is
 * valid and sequentially consistent. It may stop early: in a deadlock, or when enough events are
 * recorded.
 *
 * The same seed and shape give the same trace, always.
 */
#ifndef MR_TESTS_SUPPORT_GENERATE_H
#define MR_TESTS_SUPPORT_GENERATE_H

#include "random.h"

/* X(enumerator, name): what the traces of a shape are rich in. */
#define MR_SHAPE_MAP(X)                                                                            \
    X(TWO_THREADS, "two-threads")                                                                  \
    X(MANY_THREADS, "many-threads")                                                                \
    X(PLAIN_LOCKS, "plain-locks")                                                                  \
    X(NESTED_LOCKS, "nested-locks")                                                                \
    X(HAND_OVER_HAND, "hand-over-hand")                                                            \
    X(REENTRANT, "reentrant")                                                                      \
    X(OPEN_LOCKS, "open-locks")                                                                    \
    X(DEADLOCK, "deadlock")                                                                        \
    X(TANGLED, "tangled")                                                                          \
    X(CHAINS, "chains")                                                                            \
    X(FORK_JOIN, "fork-join")                                                                      \
    X(SMALL_VALUES, "small-values")                                                                \
    X(UNIQUE_VALUES, "unique-values")                                                              \
    X(SAME_VALUE_WRITES, "same-value-writes")                                                      \
    X(REPEATED_READS, "repeated-reads")                                                            \
    X(INITIAL_READS, "initial-reads")                                                              \
    X(MISSING_VALUES, "missing-values")                                                            \
    X(UNRECORDED_WRITER, "unrecorded-writer")                                                      \
    X(NO_VALUES, "no-values")                                                                      \
    X(MIXED, "mixed")

/* The same for shapes with other operations than plain accesses, locks, fork and join. */
#define MR_KIND_SHAPE_MAP(X)                                                                       \
    X(ATOMICS, "atomics")                                                                          \
    X(MEMORY_ORDERS, "memory-orders")                                                              \
    X(SHARED_LOCKS, "shared-locks")                                                                \
    X(SEMAPHORES, "semaphores")                                                                    \
    X(SIGNALS, "signals")                                                                          \
    X(BRANCHES, "branches")                                                                        \
    X(BRANCHES_MISSING, "branches-missing")                                                        \
    X(OPAQUE, "opaque")                                                                            \
    X(OPAQUE_FORKS, "opaque-forks")                                                                \
    X(ALL_KINDS, "all-kinds")                                                                      \
    X(LIVES, "lives")                                                                              \
    X(LIVES_LOCKS, "lives-locks")                                                                  \
    X(LIVES_FORKS, "lives-forks")                                                                  \
    X(LIVES_KINDS, "lives-kinds")                                                                  \
    X(SPIN_LOCKS, "spin-locks")                                                                    \
    X(MINGLED, "mingled")                                                                          \
    X(MINGLED_LIVES, "mingled-lives")

/* The same for shapes that ask other questions than races (docs/semantics.md 7): pointers that are
 * used, and threads that wait for each other. */
#define MR_GOAL_SHAPE_MAP(X)                                                                       \
    X(POINTERS, "pointers")                                                                        \
    X(POINTER_LOCKS, "pointer-locks")                                                              \
    X(POINTER_KINDS, "pointer-kinds")                                                              \
    X(LOCK_CYCLES, "lock-cycles")                                                                  \
    X(SHARED_CYCLES, "shared-cycles")                                                              \
    X(GUARDED_CYCLES, "guarded-cycles")                                                            \
    X(GOALS, "goals")                                                                              \
    X(MINGLED_GOALS, "mingled-goals")

/* The shapes below MR_SHAPE_COUNT are those of MR_SHAPE_MAP; those of MR_KIND_SHAPE_MAP are below
 * MR_SHAPE_ALL, and those of MR_GOAL_SHAPE_MAP below MR_SHAPE_WITH_GOALS. */
typedef enum mr_shape {
#define MR_SHAPE_ENUM(name, text) MR_SHAPE_##name,
    MR_SHAPE_MAP(MR_SHAPE_ENUM) /* */
    MR_SHAPE_COUNT,
    MR_SHAPE_BEFORE_KINDS = MR_SHAPE_COUNT - 1,
    MR_KIND_SHAPE_MAP(MR_SHAPE_ENUM) /* */
    MR_SHAPE_ALL,
    MR_SHAPE_BEFORE_GOALS = MR_SHAPE_ALL - 1,
    MR_GOAL_SHAPE_MAP(MR_SHAPE_ENUM) /* */
#undef MR_SHAPE_ENUM
    MR_SHAPE_WITH_GOALS
} mr_shape;

const char *mr_shape_name(mr_shape shape);

/* A trace of 4 to 20 events, at most 6 threads, 6 variables, 5 locks (most shapes: 3 of both), 5
 * objects with 2 more variables each, in the STD format; freed by the caller. NULL: no memory. */
char *mr_generate_trace(uint64_t seed, mr_shape shape);

/* The same with 20 to 48 events and up to 14 threads: too many to search exhaustively, enough for
 * chains of critical sections. */
char *mr_generate_longer_trace(uint64_t seed, mr_shape shape);

#endif
