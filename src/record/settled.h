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
 *   - q and e are in one *stretch* of the thread.
 *
 * What a stretch is depends on who releases the memory, and on what e points to.
 *
 * - Another thread may release it, or e may dangle: a stretch has plain and atomic reads and derefs only.
 * - Else: q and e are in the same critical sections, or both in none, and between them the thread posts
 *   nothing and has no `alloc`. The sections may also be others of the same locks, held alike, when q is in a
 *   *clean* row of sections: from the begin of the outermost one to q there are reads, derefs and acquires
 *   alone.
 *
 * This changes no verdict about places.
 *
 * - Nothing is added. Let rho be a reordering of the kept events that has q. By its value q saw w, so all
 *   of W is in rho before q, and each `alone` write comes before q or after the thread of e has ended. So
 *   the piece has the value of w from q on, and e can stand where it belongs. In the model branch q may
 *   have diverged; then e may, too.
 * - Nothing is lost where e is next beside x, and x is a write of W. Then q has not seen w, which comes after
 *   x in its thread: in rf and value that cannot be. In the orders, x is before q in the trace: what orders x
 *   before q orders it before e, and the locks held are the same. In branch, q has diverged. So it needs no
 *   writes of others, others need none of what its thread writes from there on, and the thread starts none.
 *   Take q and what its thread does later out of the reordering. No post and no `alloc` is missed, and no
 *   release where the sections are the same. Where they are others of the same locks, those of q go to the end
 *   with what they have before q, which nobody needs: there nobody else holds the locks, as at e. Then q and x
 *   are next.
 * - Nor where x is a `free`, before e or beside it. Take out q and what its thread does later: reads, which
 *   no other thread needs. What is ordered after q is ordered after e; not so for the order fhb, which orders
 *   a read before a later write that conflicts with it, and may lose this `free`.
 * - Nor what is told of pointers (pointers.h), in rf and value: e sees nothing but w, which is not null where
 *   e is not. It may dangle when it points into a life: whoever releases that one, the memory may have been in
 *   another life before, which was released. Then the stretch has reads and derefs only, so what holds of e
 *   holds of q; and q must have a deref, too. Where it points to a dead life, e has an event. The model branch
 *   may tell less of pointers.
 *
 * An address that may dangle is no own read.
 *
 * Guarded. Let all writes of W be made by a thread that holds a lock L exclusively, and let e be a read by
 * another thread that holds L, too. Let the value of w be its own as above, or let all accesses up to e have
 * the same value. Then e and a write of W cannot be next. So when no other thread releases the memory, and e
 * cannot dangle, all that a thread does is one stretch: e has no event when its thread has had an event q at
 * the same place, after w and with L held. Nothing is lost, since nobody needs e. Nothing is added: by q
 * all of W is before, or (in the model value) every write has the same value. In wcp and cp the section
 * of w comes before q, so before e.
 *
 * A read that is strange (convert.h) keeps its event. With BarrierPairs and with benign races nothing is
 * settled. The pass of twins.h finds the writers.
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
    uint32_t writes;      /* so far, `alone` ones too */
    uint32_t first, last; /* of W: how many writes there were with it; 0: none yet */
    bool is_unique;       /* no other write before the last one has its value, and no first read */
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
        self->first = self->first ? self->first : self->writes;
        self->last = self->writes;
        self->is_unique = bit && !(self->values & bit);
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

enum { MR_SETTLED_BITS = 18 };

typedef struct mr_settled_read {
    uint64_t code, stretch;
    uint32_t variable, thread; /* `variable`: its number, plus 1; 0: nothing is known here */
    bool is_used;              /* a deref follows */
} mr_settled_read;

/* A critical section that a thread is in: which lock it holds, and how. */
typedef struct mr_settled_section {
    uint64_t lock, number; /* `lock` stands for it, and for how */
    uint32_t held;         /* number of the lock */
    bool shared;
} mr_settled_section;

typedef struct mr_settled_thread {
    uint64_t reads;               /* number of its row of reads; 0: its first one */
    uint64_t given;               /* what it posted last, or allocated; 0: nothing */
    uint64_t locks;               /* stands for what it holds */
    mr_settled_section *sections; /* that it is in */
    size_t count, capacity;
    bool is_clean;
} mr_settled_thread;

/* The reads of settled pieces that have an event. What the table forgets has one again. */
typedef struct mr_settled {
    mr_settled_read *known;     /* by hash */
    mr_settled_thread *threads; /* by thread of the log */
    size_t count, capacity;
    uint64_t last; /* number given last */
} mr_settled;

/* False: no memory. mr_settled_free in either case. */
bool mr_settled_init(mr_settled *settled);
void mr_settled_free(mr_settled *settled);

/* The thread has an event that is no read, deref or acquire. `gives`: it may be a post or an `alloc`. False:
 * no memory. */
bool mr_settled_end(mr_settled *settled, uint32_t thread, bool gives);

/* The thread acquires or releases the lock. False: no memory. */
bool mr_settled_acquire(mr_settled *settled, uint32_t thread, uint32_t lock, bool shared);
bool mr_settled_release(mr_settled *settled, uint32_t thread, uint32_t lock, bool shared);

typedef struct mr_settled_question {
    uint64_t code;
    uint32_t thread, variable;
    bool is_released; /* another thread may release the memory, or its value may dangle */
    bool is_pointer;  /* it counts only while it has a deref */
    bool is_guarded;  /* its stretch is all that the thread does */
} mr_settled_question;

/* The lock, plus 1, under which all writes were so far (0: there were none), after one by the thread.
 * MR_SETTLED_NOBODY: there is no such lock, or it is not known. */
uint32_t mr_settled_guard(const mr_settled *settled, uint32_t thread, uint32_t guard);
/* Does the thread hold this lock? */
bool mr_settled_holds(const mr_settled *settled, uint32_t thread, uint32_t guard);

/* Has such a read an event already, in the stretch of its thread? Notes that it has one. */
bool mr_settled_knows(mr_settled *settled, const mr_settled_question *read);

/* The value that the code read last of the variable has a deref. */
void mr_settled_use(mr_settled *settled, uint32_t thread, uint64_t code, uint32_t variable);

#endif
