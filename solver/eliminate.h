/*
 * eliminate: what is certain about a question, by propagation on clocks, with elimination of
 * writers that a read cannot see. Settles most questions that are no race, and leaves the others
 * smaller.
 *
 * The question: required events L, cone C (cone.h), the accesses of two threads one of which is to
 * be next. A *witness* is a reordering within U after which that is so; it contains L. For each row
 * e (encoder/known.h) B(e) is a set of rows, a prefix of each thread, with
 *
 *   (I)  a witness that contains e contains B(e), before e.
 *
 * E is a set of rows, the rest of each thread from some row on, that no witness contains. B starts
 * as what FORCED says (windows/precedence.h), L as given, E empty. The rules below keep (I), keep L
 * in every witness and E out of each, and are repeated until nothing changes or a budget is used
 * up. No race: a row of L is in E, or no access is left at which a thread can stop.
 *
 * Written u → e: "u joins B(e), with B(u)". When u is in E, or e in B(e), then e joins E.
 *
 *   - closure: B(e) contains B(u) for each u in B(e), and the rows before e in its thread. L
 *     contains B(e) for each e of L. e with a row of E in B(e) is in E.
 *   - stops: A thread that has an access of its list in L stops at a later one, so what stands
 *     before the next one, and what that needs to be next, is in L. One that cannot reach the last
 *     access of its list stops at an earlier one; what comes after that is in E.
 *   - lives: rule 7 takes part by what FORCED says of the alloc, and by U, which has no end of an
 *     access of the question (cone.h).
 *   - locks: Let acq1, acq2 be the acquires of two sections that exclude each other, e = acq2 in a
 *     witness. If acq1 is in B(e) or in L, the witness has both, so rel1 before acq2 or rel2 before
 *     acq1. The second is impossible when rel2 is not in C, or in E, or acq1 is in B(rel2), which
 *     acq1 in B(e) implies. Then rel1 → acq2, and if there is no rel1, acq2 is in E. A section held
 *     at the start has acq1 before everything. It is enough to look at the latest such section of a
 *     thread and kind: those before it are left before it is entered.
 *   - reads: Let r be a read that is consistent in every witness that contains it: in models rf
 *     and value each one, in model branch those r of L with a branch, fork or mbegin of L after
 *     them, and those before a write that such a read certainly sees. In a witness with r let s be
 *     the last write before r (not r itself, when it is an update), or none. An access f of the
 *     variable is *foreign* to r when it is a write, or a consistent read that saw something else
 *     (another write, or another value, as the variable is treated). Nothing foreign is between s
 *     and r: a write would be the last one, and a read that is there sees what r sees. So s is one
 *     of P(r): the writes of C, not of E, that r can see (the same write or value as in the
 *     trace), not hidden from r (windows/hidden.h), with not r in B(s) and no foreign f in B(r) with
 *     s in B(f). "None" is possible when
 *     what r saw is what is carried in, and nothing foreign is in B(r): a foreign read before r
 *     has a write before it.
 *       - (a) P(r) is empty: r is in E.
 *       - (b) B(r) contains the intersection of B(s) + s over all s of P(r), unless "none" is
 *         possible.
 *     For r of L, so that each witness has r:
 *       - (c) f foreign, all of P(r) in B(f): r → f. Else s before f before r.
 *       - (d) f foreign, in B(r), and P(r) in one thread, its last element m not f: f → m. s is f
 *         or after f, and is m or before m, in a witness with m too.
 *       - (e) only "none" is possible, f foreign: r → f. A read that saw something else has a write
 *         before it, and all writes are after r.
 *     In (c) to (e) the earliest f of a thread (in (d) the latest) stands for the others.
 *   - occupied: Let r be a read that a stretch of another thread excludes (windows/occupied.h): in a witness with r and the
 *     acquire of the stretch, r is before the acquire or after the end.
 *       - The acquire is in B(r), or the stretch is there from the start: end → r, and r is in E if the end is not in C, or in E.
 *       - r is in L, and the end is not in C, or in E, or r is in B(end): r → acquire.
 *     The latest such stretch of a thread, and then the earliest, stands for the others.
 *
 * An element of P(r) that is in a thread before another one of P(r), and so on, need not be looked
 * at: the intersection is that over the first of each thread, and "all of P(r) in B(f)" is asked of
 * the last of each thread.
 *
 * Semaphores take part by what FORCED knows of them.
 *
 * Regions. Most proofs need only rows close to the stops. So the rules are first applied to the last
 * rows in trace order, until nothing changes; then to four times as many, and so on, up to all rows.
 * Every rule is right whenever it is applied, and B, L and E only grow, so what all rows give in the
 * end is the same. A row that is not looked at yet has in B what FORCED says, and costs nothing
 * (deduction.h).
 */
#ifndef MR_SOLVER_ELIMINATE_H
#define MR_SOLVER_ELIMINATE_H

#include "encoder/known.h"

typedef enum mr_eliminated {
    MR_ELIMINATED_ALL,     /* there is no race */
    MR_ELIMINATED_SOME,    /* passed on, with what is known */
    MR_ELIMINATED_NOTHING, /* passed on: too large, or nothing was certain within the budget */
    MR_ELIMINATED_NO_MEMORY,
} mr_eliminated;

typedef struct mr_eliminate_limits {
    uint64_t effort;       /* clock entries and items looked at; 0: no limit */
    uint64_t memory_bytes; /* of the clocks; 0: no limit */
} mr_eliminate_limits;

/*
 * `rows`: those of the window; NULL: they are made here, in time that grows with the window. On SOME,
 * the stops of the goal, `required` and `cone` are narrowed to what the rules leave, and `known` is
 * filled, in memory of `arena`; else they are as before. The narrowed question has the same
 * witnesses within the cone. A pass costs O(rows of the region · (threads + log)); passes are few,
 * but bounded by the budget only. Besides, O(threads + objects + events from the start of the
 * region to the end of C).
 */
mr_eliminated mr_eliminate(const mr_precedence *forced, const mr_rows *rows, mr_goal *goal,
                           uint32_t *required, uint32_t *cone, const mr_eliminate_limits *limits,
                           mr_known *known, mr_arena *arena);

/*
 * Looks for a proof alone: ALL or NOTHING, and `*effort`. U (cone.h) stands for C, which need not be
 * computed, and the region has no rows after the last stop. Most proofs need a few rows before the
 * stops; in a large window the cone takes longer than they do. Whatever is in `arena` is of no use
 * afterwards. Right because every witness is in U, and rows that are not looked at have in B what
 * FORCED says. L must be in U.
 */
mr_eliminated mr_eliminate_near(const mr_precedence *forced, const mr_rows *rows,
                                const mr_goal *goal, const uint32_t *required,
                                const uint32_t *allowed, const mr_eliminate_limits *limits,
                                uint64_t *effort, mr_arena *arena);

/* Fills the clocks of all rows of C, for those that look at `known`; after SOME, in the same arena.
 * Once is enough. NOTHING: they do not fit into memory_bytes, and nothing is known. */
mr_eliminated mr_eliminate_complete(mr_known *known);

/* Lists what each read may see, for a formula; most questions are settled without one. After SOME, in
 * the same arena; O(reads · (threads + log) + writes listed). Once is enough. False: no memory. */
bool mr_eliminate_list_sources(mr_known *known);

/*
 * Raises the clocks of `forced` (precedence of mode FORCED) by what the rules say without a
 * question: L is empty and C is the whole window, so (I) is about every reordering of the window,
 * which is what FORCED asks for. Nothing gets into E, since the trace is a witness of everything.
 * `forced->refined` is set when a clock grew. Not in model branch, where no read is consistent
 * without L. Whatever the budget leaves out is only not known. False: no memory of `arena`. As
 * mr_eliminate, with C the whole window; what changed is kept in `arena`.
 */
bool mr_eliminate_refine(mr_precedence *forced, const mr_rows *rows,
                         const mr_eliminate_limits *limits, mr_arena *arena);

#endif
