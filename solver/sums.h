/*
 * sums: proofs that a question has no answer, from variables that are counted up and down, such as
 * counts of references.
 *
 * A *counter* is a variable by value with atomic updates. In a reordering an update reads and writes
 * what it did in the trace (rule 6 of docs/semantics.md 2). So it changes the variable by the same
 * number wherever it stands: its *change*. What an update m reads is what its base wrote and the changes
 * since then: the *base* is the last plain write before m, or what is carried in.
 *
 * Let every witness contain L, and U contain every witness (cone.h); before(e) is as in
 * windows/precedence.h. Let m be an update of L whose base is the same in each witness. S is the set of
 * updates between base and m in a witness. It contains the *fixed* ones, those of before(m). It may
 * contain the *free* ones: the others of U that m is not before. Where each write of U outside
 * before(m) reads, and none reads what m wrote, m is the last write of every witness. Then the updates of
 * L are fixed, too, and one of them that comes after m is a contradiction.
 *
 * With each update u, S contains the updates of before(u) since the base. So a free update that counts
 * down brings along those of its before(u) that count up. Let parts of free downs be paired with as large
 * parts of free ups of their before(u), no part twice. A down of S has its partners in S, so these add up to
 * nothing, and what is left of ups only adds. So the sum of S is at least that of the fixed ones less the
 * parts of downs without a partner. When m reads less than that, there is no witness. The same holds with up
 * and down exchanged. How partners are chosen decides how good the bound is, not whether it is right: the
 * latest there is.
 *
 * A question about lists of stops is refuted, too, when the questions about one stop of each list are.
 */
#ifndef MR_SOLVER_SUMS_H
#define MR_SOLVER_SUMS_H

#include "encoder/goal.h"
#include "windows/precedence.h"

/* A write of a counter. */
typedef struct mr_counter_item {
    uint32_t event;
    uint32_t read;  /* of an update: the number of the value that it reads */
    bool plain;     /* it reads nothing */
    int64_t change; /* of an update; of a plain write: the value */
    /* Of the updates of its chain up to this item: how far they count up and down. So what a stretch of a chain adds is a
     * difference. */
    int64_t ups, downs;
    uint32_t plains; /* of its chain up to this item: plain writes */
} mr_counter_item;

/* The writes of one thread: items[first … end), in program order. */
typedef struct mr_counter_chain {
    uint32_t thread, first, end;
} mr_counter_chain;

typedef struct mr_counter {
    uint32_t variable;
    uint32_t chains_first, chains_end, items_first, items_end, plains_first, plains_end;
} mr_counter;

/* The counters of a window. */
typedef struct mr_counters {
    const mr_window *window;
    mr_counter *counters;
    mr_counter_chain *chains;
    mr_counter_item *items;
    uint32_t *in_order; /* of a counter: its items in trace order, from items_first on */
    uint32_t *plains;   /* of a counter: its plain items, from plains_first on */
    uint32_t count, most_items, most_chains;
} mr_counters;

/* In memory of `arena`. None in another model than value. False: no memory. O(writes of the window). */
bool mr_counters_build(mr_counters *counters, const mr_window *window, mr_arena *arena);

/*
 * Is it certain that there is no witness? The search is bounded; what it looks at adds to `*effort`.
 * Without memory of `arena` nothing is certain. For each counter with updates in L and others in U, and each thread with
 * one in L: O(log) for each thread that uses it, and for each update that may come after the last one of L as long as
 * those read something else; where the free updates might not suffice, O(log) for each of them and each thread.
 */
bool mr_sums_refute(const mr_counters *counters, const mr_precedence *precedence,
                    const mr_goal *goal, const uint32_t *required, const uint32_t *allowed,
                    uint64_t *effort, mr_arena *arena);

#endif
