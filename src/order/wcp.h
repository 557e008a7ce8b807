/*
 * wcp: weak-causally-precedes (Kini, Mathur, Viswanathan, PLDI 2017), one event at a time.
 *
 * Let TO be the order of the events of a thread, of fork and join and of the edges of edges.h, HB
 * happens-before (both as in hb.h), and CS(r) the events of r's thread from the matching acquire to
 * the release r. Two sections of a lock by different threads exclude each other unless both are
 * shared. ≺ is the smallest relation with
 *
 *   (a) r ≺ e, for a release r of l and a later access e inside a section of l (be it released or
 *       not) that CS(r) excludes, when CS(r) has an access that conflicts with e;
 *
 *   (b) r1 ≺ r2, for releases of the same lock by different threads whose sections exclude each
 *       other, r1 earlier, when e1 ≺ e2 for some e1 in CS(r1) and e2 in CS(r2). Because of (c) this
 *       is: when acquire(r1) ≺ r2;
 *
 *   (c) x ≺ z, when x HB y ≺ z or x ≺ y HB z.
 *
 * a is WCP-before b when a TO b or a ≺ b. So events of one thread are ordered; so are a fork and
 * the child's events, and the events of a thread and its join.
 *
 * This is Definition 3 of the paper, with three things made precise.
 *
 *   Fork and join belong to TO, and through HB to (c), but they are no edges of ≺: they order their
 *   own past, and pass nothing on that locks alone have ordered. If they were edges of ≺, (c) would
 *   put everything that is HB-before a fork WCP-before the child, and hide races that show when two
 *   critical sections before the fork are swapped.
 *
 *   The premise of (b) is ≺, as in the definition, not TO. Let a section of the parent before a
 *   fork and one of the child have the same lock. TO orders them, which is all that every
 *   reordering must keep. Deriving r1 ≺ r2 from it would, by (c), also put before r2 what is
 *   merely HB-before r1, and that need not come before r2 in a reordering. For the same reason
 *   (b) speaks of sections of different threads, as Algorithm 1 does (its queues are for t' ≠ t):
 *   the sections of one thread are ordered by TO, and a lock that one thread alone uses orders
 *   nothing.
 *
 *   Conflicting accesses are by different threads. (Algorithm 1 as printed joins the times of the
 *   thread's own sections too, which orders more than rule (a) says.)
 *
 *   The paper has mutexes, fork and join only. A post and the wait that takes its unit, an atomic
 *   write and the atomic reads that see it, and the edges of calls that were not recorded are
 *   treated as fork and join are. For atomics and calls that is what every reordering in the sense
 *   of rf keeps; of a semaphore another unit might do, so there a race can be lost, as
 *   docs/semantics.md 6 has it. Reads and writes that conflict with only atomic ones are conflicts
 *   (mr_ops_conflict) in (a), too.
 *
 * Each of the three leaves pairs unordered rather than ordered; a pair that is wrongly unordered is
 * a candidate that finds no witness, a pair that is wrongly ordered could be a lost race. What
 * remains unordered although every reordering keeps it: when a section of l forks a thread that
 * then takes l, the first release comes before that acquire; if TO and ≺ do not say so, WCP does
 * not either.
 *
 * Three clocks of the last event e of each thread: H, what is HB-before e (kept by hb); P, what is
 * ≺-before e; K, what is TO-before e. An edge r ≺ e joins the H of r to P, which is the left half
 * of (c). P flows along all HB edges, which is the right half. K flows along hard edges only: fork,
 * join, and those of edges.h.
 * Then a is before b when a's local time is within b's P or K.
 *
 * Rule (a): for each lock and contended variable, the last section that read, the last that wrote,
 * and the same for another thread than that; the releases of exclusive sections are HB-ordered, so
 * the last one knows all. Of shared sections the same is kept for each reader, and an exclusive
 * section asks all of them. The releasing thread need not go through its accesses: an access
 * registers its section at once, and nobody else asks before the lock is free again.
 *
 * Rule (b): sections.h. At its release a thread passes sections of other threads, in order, while
 * their acquire is ≺-before it; earlier sections of the lock are HB-before later ones, so it can
 * stop at the first that is not, and needs to join the last one passed only. The same holds for the
 * shared sections of one reader. When what a reader's section brings lets sections of another
 * reader pass, the release passes these, too.
 *
 * Cost: O(readers of the lock) for an exclusive release and for the first access of a variable in
 * an exclusive section; O(threads) an edge that brings news, else O(1) expected for each access and
 * lock held. Memory: 28 bytes and a map slot for each pair of lock and variable that was accessed
 * under it (with an outlook: shared locks, contended variables), and what sections.h says.
 */
#ifndef MR_ORDER_WCP_H
#define MR_ORDER_WCP_H

#include "hb.h"
#include "sections.h"

typedef struct mr_held {
    uint32_t lock, section;
    uint32_t user; /* the thread as a user of the lock */
    uint32_t log;  /* the lock when held exclusively, else that of a reader (sections.h) */
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
    mr_touch *touches;
    size_t touch_count, touch_capacity;
    mr_map touch_numbers; /* (log, variable) */
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

/*
 * Hard edges (edges.h), from the last event of a thread, the last with its local time, to the next
 * one of another. They also serve those who use `hb` alone.
 */
void mr_wcp_publish(mr_wcp *wcp, uint32_t thread, mr_stamp *stamp);
bool mr_wcp_follow(mr_wcp *wcp, uint32_t thread, const mr_stamp *stamp);
void mr_wcp_drop_stamp(mr_wcp *wcp, mr_stamp *stamp);

#endif
