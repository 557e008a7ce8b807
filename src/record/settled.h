/*
 * settled: plain reads that say no more than a read before them, or nothing, though other threads write or
 * read their piece (pieces.h). Let W be the writes of a piece that are not `alone`: the others are in an
 * order with all accesses of other threads, by fork and join. What follows is about pieces whose W is by
 * one thread, their *writer*.
 *
 * Own. A read by the writer conflicts with no write, and sees what the writer or an `alone` write left
 * there, in every reordering. So it takes part in rule 7 only, as an access of a sparse piece does
 * (sparse.h), and has an event where such an access would have one. It has none when only its thread
 * releases the life, and did get it or has accessed it before.
 *
 * Settled. Let w be the last of W, and let no other write before w, and no read before all writes, have its
 * value. A read e by another thread has no event when
 *
 *   - the last write before e is w, and e sees it;
 *   - its thread has read the piece before, at the same place, and saw w: that read is q;
 *   - between q and e the thread has only events of plain reads.
 *
 * This changes no verdict about places.
 *
 * - Nothing is lost. Let rho be a reordering of all events, after which e and x are next. Take q and what
 *   its thread does later out of rho. These are plain reads, which no other thread needs. Then q and x are
 *   next, at the same places. The same with happens-before: e and q are in the same orders with others.
 * - Nothing is added. Let rho be a reordering of the kept events that has q. By its value q saw w, so all
 *   of W is in rho before q, and each `alone` write comes before q or after the thread of e has ended. So
 *   the piece has the value of w from q on, and e can stand where it belongs. In the model branch q may
 *   have diverged; then e may, too.
 *
 * A read that may give an address keeps its event, because of what is told of pointers (pointers.h). So
 * does one that is not of a whole piece, or is strange (convert.h). With BarrierPairs and with benign races
 * nothing is settled. The pass of twins.h finds the writers.
 */
#ifndef MR_RECORD_SETTLED_H
#define MR_RECORD_SETTLED_H

#include "pieces.h"

#define MR_SETTLED_NOBODY UINT32_MAX

/* The writes of a piece, while a pass goes over them. Zero-initialise. */
typedef struct mr_settling {
    uint64_t values; /* bits for the values so far, by their hash */
    /* The thread that W is by, plus 1; 0: W is empty; MR_SETTLED_NOBODY: several. */
    uint32_t writer;
    uint32_t writes; /* so far, `alone` ones too */
    uint32_t last;   /* of W: how many writes there were with it; 0: its value is not its own */
} mr_settling;

/* The bit of a value. */
static inline uint64_t mr_settling_bit(int64_t value)
{
    return 1ull << ((uint64_t)value * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

/* A write by the thread, with the bit of its value; 0: the value is not known. */
static inline void mr_settling_write(mr_settling *self, uint32_t thread, bool alone, uint64_t bit)
{
    self->writes++;
    if (!alone) {
        if (self->writer && self->writer != thread + 1)
            self->writer = MR_SETTLED_NOBODY;
        else
            self->writer = thread + 1;
        self->last = bit && !(self->values & bit) ? self->writes : 0;
    }
    self->values |= bit ? bit : ~0ull;
}

/* A read; its value counts when nothing was written so far. */
static inline void mr_settling_read(mr_settling *self, uint64_t bit)
{
    if (!self->writes)
        self->values |= bit ? bit : ~0ull;
}

/* The piece is none that can be settled. */
static inline void mr_settling_refuse(mr_settling *self)
{
    self->writer = MR_SETTLED_NOBODY;
}

enum { MR_SETTLED_KNOWN = 1 << 16 };

typedef struct mr_settled_read {
    uint64_t code, stretch;
    uint32_t piece, thread; /* number of the piece, plus 1; 0: nothing is known here */
} mr_settled_read;

/* The reads of settled pieces that have an event. What the table forgets has one again. */
typedef struct mr_settled {
    mr_settled_read *known; /* by hash */
    uint64_t *stretch_of;   /* by thread of the log: number of its row of reads; 0: its first one */
    size_t count, capacity;
    uint64_t last; /* number of the last row */
} mr_settled;

/* False: no memory. mr_settled_free in either case. */
bool mr_settled_init(mr_settled *settled);
void mr_settled_free(mr_settled *settled);

/* The thread has an event that is no plain read. False: no memory. */
bool mr_settled_end(mr_settled *settled, uint32_t thread);

/* Has such a read of the piece, by its number, an event already, in the row of reads of its thread? Notes
 * that it has one. */
bool mr_settled_knows(mr_settled *settled, uint32_t thread, uint64_t code, size_t piece);

#endif
