/*
 * ordered: finds the accesses that are ordered with all accesses that they conflict with, while the first pass
 * reads the log (scan.h). pieces.h leaves them out. There are two orders: happens-before, for a trace that
 * serves the order shb alone (`run --quick`), and what every reordering keeps (`must`), for all others.
 *
 * Happens-before. Let HB be happens-before of the trace of everything, SHB the order of order/shb.h, and let U be the pieces
 * that have two conflicting accesses unordered by HB. The trace without the plain accesses of other pieces
 * has the same races of SHB:
 *
 * - A race of SHB is unordered by SHB, so by HB, so it is on a piece of U.
 * - Plain accesses give HB no edge. They give SHB those from a write to the reads that see it. Outside U
 *   such a write is before the read by HB already. So SHB is the same on what is left.
 *
 * Here HB may have fewer edges than in the trace, never more: then U is larger, which loses nothing. The
 * pieces of atomic accesses and of descriptors are always kept, because they give edges; so is what is
 * kept for other reasons (accesses of dead memory, BarrierPairs). When a record breaks a rule of locks,
 * the trace may lack an edge, so the trace is made as usual (`given_up`). The caller makes it as usual, too,
 * when it has dropped an event.
 *
 * Edges: locks, fork and join, units of semaphores, annotated orders, atomic accesses of the same bytes. Not:
 * alloc before access, numbers of descriptors, the order of the reads from one pipe or eventfd,
 * cancellation.
 *
 * What every reordering keeps (`must`). Let M be program order, fork and join, and each post before each wait
 * that cannot be without it: a wait that takes all units that its semaphore ever gets, or a wait of a semaphore
 * that gets its units by one record. Such are the sleeps of condition variables and the uses of barriers. Let U
 * be the pieces that have two conflicting accesses which M does not order, or which are both in critical
 * sections of different threads. The trace without the plain accesses of other pieces has the same
 * reorderings, and the same races in all orders:
 *
 * - In every reordering that has an event, all that is M-before it comes before it (docs/semantics.md 2, rules
 *   1, 3 and 4). So M keeps the order of all conflicting accesses outside U: none of them race, and each read
 *   sees the same write in every reordering that has it. Rule 6 says nothing about it then, in rf and in value.
 *   In the model branch, which is not for recordings, a thread that diverged may hand over what it wrote; who
 *   reads it does not diverge.
 * - M is part of the happens-before of each order, so no order reports a pair outside U, and no edge from a
 *   write to a read is missed.
 * - In wcp and cp two conflicting accesses in sections of one lock order the first release before the second
 *   access. Such pairs are in U. That the orders of two pairs together may be between sections, where those of
 *   neighbours are not, is why a cell keeps who has accessed it in sections (`guard`).
 *
 * - A pointer outside U is as one in memory that one thread uses: its reads see no other value, and a use of what
 *   it points to after the release of that is found where it is used.
 *
 * Where an edge may not be in the trace (a thread that has ended has no events), or a post not be the only one,
 * all is given up.
 *
 * Lives (rule 7 of docs/semantics.md 2). The alloc of a life comes before the first access of a guest; where
 * HB says so too, that access is not needed. A release writes the life; when all accesses of a line are
 * before it by HB, none of them is kept for it.
 *
 * A *segment* is a stretch of one thread in which its local time (order/clock.h) is the same. A cell has 4
 * bytes, or one where accesses divide them. It keeps the segment of its last write, and the segments of
 * the reads since that are unordered with each other. This is FastTrack (Flanagan, Freund, PLDI 2009) on
 * cells: it finds the first unordered pair of each cell. A line that one thread accesses has no cells: the
 * segments of its last access and of its last write (pieces.h) stand for all of them.
 *
 * Memory: 160 bytes for each line that several threads access, 544 when its first cells are of one byte,
 * 672 when they are divided later; 8 for each segment, 16 for each life.
 */
#ifndef MR_RECORD_ORDERED_H
#define MR_RECORD_ORDERED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mr_happens mr_happens;

/* Zero-initialise. */
typedef struct mr_ordered {
    bool on;              /* set by the caller */
    bool must;            /* the same: leave out only what every reordering keeps in order */
    bool is_guarded;      /* the current thread is in a critical section, and `must` */
    bool given_up;        /* also set by the caller, when an edge may be missing in the trace */
    uint32_t now, thread; /* the segment of the current thread; 0: none yet */
    mr_happens *happens;  /* owned; NULL: none yet */
} mr_ordered;

void mr_ordered_free(mr_ordered *self);

/* These functions never fail: without memory all is given up. */

/* The records are of this thread from now on. */
void mr_ordered_switch(mr_ordered *self, uint32_t thread);
/* A record of a lock, semaphore or order, with the number of its object. */
void mr_ordered_object(mr_ordered *self, const uint64_t *record, uint32_t object);
/* A FORK, JOIN or END record. */
void mr_ordered_thread(mr_ordered *self, const uint64_t *record);
/* The current thread releases all of the life. */
void mr_ordered_release(mr_ordered *self, uint32_t life);

/* Is the segment before what the current thread does next? */
bool mr_ordered_before(const mr_ordered *self, uint32_t segment);

/* Accesses of a line so far: of these bytes, all before the end of the segment. */
typedef struct mr_ordered_past {
    uint32_t segment;
    uint64_t bits;
} mr_ordered_past;

/* Of lines with accesses in critical sections. */
#define MR_ORDERED_SEVERAL (UINT32_MAX >> 1)

/* A second thread comes to a line, or bytes of it are kept. `guarded`: the thread that has accessed the line in
 * a critical section, plus 1; MR_ORDERED_SEVERAL; 0: none has. Returns the number of its cells plus 1; 0: all
 * is given up. */
uint32_t mr_ordered_cells(mr_ordered *self, mr_ordered_past reads, mr_ordered_past writes,
                          uint32_t guarded);

/* A plain access of these bytes. `cells` is their number plus 1. Returns those of them that are kept. */
uint64_t mr_ordered_access(mr_ordered *self, uint32_t cells, uint64_t bits, bool writes);
/* An atomic access of bytes of one line. */
void mr_ordered_atomic(mr_ordered *self, uint32_t cells, uint64_t bits, bool reads, bool writes);
/* The bytes are kept. Returns those that were not before. */
uint64_t mr_ordered_keep(mr_ordered *self, uint32_t cells, uint64_t bits);

/* Which bytes must be kept of a line? `cells` 0: one thread accesses it. */
uint64_t mr_ordered_kept(const mr_ordered *self, uint32_t cells);
/* Are all accesses of the line before the release of the life? `segment`: of the last access of a line
 * without cells. */
bool mr_ordered_released(const mr_ordered *self, uint32_t life, uint32_t cells, uint32_t segment);

#endif
