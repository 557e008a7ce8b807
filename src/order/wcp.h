/*
 * wcp: weak-causally-precedes (Kini, Mathur, Viswanathan, PLDI 2017), one event at a time.
 *
 * Words. TO is the order of the events of one thread, of fork and join, and of the edges of
 * edges.h. HB is happens-before (hb.h). CS(r), for a release r, is the events of its thread from
 * the matching acquire to r. Two sections of a lock by different threads exclude each other unless
 * both are shared.
 *
 * The relation. ≺ is the smallest relation that obeys three rules.
 *
 *   (a) r ≺ e, when r is a release of l; e is a later access inside a section of l that CS(r)
 *       excludes, whether this section is released or not; and CS(r) has an access that conflicts
 *       with e.
 *
 *   (b) r1 ≺ r2, when r1 and r2 are releases of the same lock by different threads, r1 earlier;
 *       their sections exclude each other; and e1 ≺ e2 for some e1 in CS(r1) and some e2 in CS(r2).
 *       By (c) the last condition is the same as: acquire(r1) ≺ r2.
 *
 *   (c) x ≺ z, when x HB y ≺ z or x ≺ y HB z.
 *
 * Event a is WCP-before event b when a TO b or a ≺ b. So the events of one thread are ordered, a
 * fork is before the child's events, and the events of a thread are before its join.
 *
 * This is Definition 3 of the paper. Four things are made precise.
 *
 *   1. Fork and join belong to TO, and through HB to (c), but they are no edges of ≺. The edge of a
 *      fork orders the events that are TO-before the fork. It does not order what is only HB-before
 *      the fork, because of locks. If the fork were an edge of ≺, (c) would put everything that is
 *      HB-before the fork WCP-before the child. That would hide a race that shows when two sections
 *      before the fork are swapped.
 *
 *   2. The premise of (b) is ≺, as in the definition, not TO. Take a section of a parent before a
 *      fork, and a section of the child, of the same lock. TO orders them, and no reordering needs
 *      more. If r1 ≺ r2 followed from that, (c) would put before r2 also what is only HB-before r1,
 *      and in a reordering that need not come before r2. For the same reason (b) is about sections
 *      of different threads, as in Algorithm 1, where a thread's queues take the sections of the
 *      other threads. The sections of one thread are ordered by TO, and a lock that only one thread
 *      uses orders nothing.
 *
 *   3. Conflicting accesses are by different threads. Algorithm 1 as printed also joins the times
 *      of the thread's own sections, which orders more than rule (a) says.
 *
 *   4. The paper has mutexes, fork and join. Other edges are treated like fork and join: a post and
 *      the wait that takes its unit, an atomic write and the atomic reads that see it, and the
 *      edges of calls that were not recorded. In the model rf every reordering keeps the edges of
 *      atomics and calls. A wait could take another unit in a reordering, so the edge of a
 *      semaphore can lose a race (docs/semantics.md 6). Plain accesses conflict with atomic ones
 *      (mr_ops_conflict) in (a), too.
 *
 * Points 1 to 3 leave pairs unordered rather than ordered. A pair that is unordered by mistake is a
 * candidate that gets no witness; a pair that is ordered by mistake could be a lost race. One kind
 * of pair stays unordered although every reordering keeps its order: a section of l forks a thread,
 * and this thread then acquires l. The release of the first section comes before that acquire. When
 * TO and ≺ do not say so, WCP does not say so either.
 *
 * Clocks. Each thread has three clocks, about its last event e. H is what is HB-before e; hb keeps
 * it. P is what is ≺-before e. K is what is TO-before e. An edge r ≺ e joins the H of r to P, which
 * is the left half of (c). P flows along all HB edges, which is the right half. K flows along hard
 * edges only: fork, join, and those of edges.h. Then a is before b exactly when a's local time is
 * within P or K of b.
 *
 * Rule (a). For each lock and contended variable four sections are kept: the last one that read,
 * the last one that wrote, and for each of the two the last one of another thread than its. The
 * releases of exclusive sections are HB-ordered, so the H of the last one contains the H of the
 * others. Of shared sections the same is kept for each reader, and an exclusive section looks at
 * all readers. A release does not go through the accesses of its section: an access registers its
 * section at once, and no other thread looks before the lock is free again. In an exclusive section whose P has the last release by
 * another thread there is nothing to join: the others are HB-before that one.
 *
 * Rule (b) uses sections.h. At its release a thread passes sections of other threads, in order, as
 * long as their acquire is ≺-before the release. Earlier sections of the lock are HB-before later
 * ones. So the thread stops at the first section that it cannot pass, and joins the time of the
 * last one that it passed. The same holds for the shared sections of one reader. What the section
 * of one reader adds to P may let sections of another reader pass; the release passes these, too.
 *
 * Cost: O(readers of the lock) for an exclusive release, and for the first access of a variable in
 * an exclusive section; O(threads) for an edge that brings news; else O(1) expected for each access
 * and lock held. Memory: 32 bytes for each pair of a lock and a variable that was accessed under it, and a
 * map slot where the variable has more than eight of them; 32 bytes more when there was an atomic access, and
 * what sections.h says. With an
 * outlook only locks of several threads and contended variables count.
 */
#ifndef MR_ORDER_WCP_H
#define MR_ORDER_WCP_H

#include "hb.h"
#include "sections.h"

typedef struct mr_held {
    uint32_t lock, section;
    uint32_t user;   /* the thread as a user of the lock */
    uint32_t log;    /* the lock when held exclusively, else that of a reader (sections.h) */
    bool knows_log;  /* P has all releases of the log by other threads */
    uint64_t serial; /* of the section, among all */
} mr_held;

/* Locks held by a thread, in the order of acquiring. */
typedef struct mr_held_list {
    mr_held *items;
    size_t count, capacity;
} mr_held_list;

/* Sections of one log that accessed one variable; MR_NONE: there is none. */
typedef struct mr_touch {
    uint32_t last[2];  /* by kind of access: the last section */
    uint32_t other[2]; /* the last section of another thread than last's */
    uint32_t log;
    uint32_t next;    /* touch of the variable that was looked for after this one, + 1; 0: none */
    uint32_t atomics; /* the touch of the atomic accesses + 1; 0: none */
    uint32_t beside;  /* next touch in the circle of all touches of the variable, + 1 */
} mr_touch;

typedef struct mr_wcp_thread {
    mr_clock *before; /* P */
    mr_clock *hard;   /* K */
    mr_held_list held;
} mr_wcp_thread;

typedef struct mr_wcp_lock {
    mr_clock *release; /* P of the last rel */
    mr_clock *shared;  /* P of all rrel since, joined */
} mr_wcp_lock;

/* The time of an event with a hard edge from it; `before` (its P) and `hard` (its K) where there is
 * WCP. Each has one reference. */
typedef struct mr_stamp {
    mr_time time;
    mr_clock *before, *hard;
} mr_stamp;

/* Zero-initialise. */
typedef struct mr_wcp {
    mr_hb hb;
    mr_sections sections;
    mr_wcp_thread *threads;
    mr_wcp_lock *locks;
    size_t thread_count, thread_capacity, lock_count, lock_capacity;
    uint64_t section_count; /* so far */
    mr_touch *touches;
    size_t touch_count, touch_capacity;
    mr_map touch_numbers; /* (log, variable), of variables with more than CIRCLE_MOST touches */
} mr_wcp;

/* There are so many threads and locks from now on; hb is grown with it. False: no memory. */
bool mr_wcp_grow(mr_wcp *wcp, uint32_t thread_count, uint32_t lock_count);
void mr_wcp_free(mr_wcp *wcp);

/*
 * The steps. Afterwards `before` and `hard` of the event's thread are the event's. Acquires and
 * releases: outermost ones only (mr_hb_enters, mr_hb_leaves); with an outlook (mr_sections_foresee)
 * those of locks of several threads only. mr_wcp_sync: acq, rel, racq, rrel, fork, join. False: no
 * memory.
 *
 * `touch` is a hint of the variable's: the number of one of its touches + 1, at first 0.
 */
bool mr_wcp_access(mr_wcp *wcp, uint32_t thread, uint32_t variable, uint8_t op, uint32_t *touch);
bool mr_wcp_sync(mr_wcp *wcp, mr_op op, uint32_t thread, uint32_t operand);

/* How many sections are open? O(threads). */
size_t mr_wcp_open_sections(const mr_wcp *wcp);
/* Forgets all sections, as if the open ones ended where no event comes, and all touches: the variables' hints must be 0 again. The clocks stay. */
void mr_wcp_forget(mr_wcp *wcp);

/*
 * Hard edges (edges.h), from the last event of a thread, the last with its local time, to the next
 * one of another. They also serve those who use `hb` alone.
 */
void mr_wcp_publish(mr_wcp *wcp, uint32_t thread, mr_stamp *stamp);
bool mr_wcp_follow(mr_wcp *wcp, uint32_t thread, const mr_stamp *stamp);
void mr_wcp_drop_stamp(mr_wcp *wcp, mr_stamp *stamp);

#endif
