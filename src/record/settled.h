/*
 * settled: plain reads that say no more than a read before them, or nothing, though other threads write or
 * read their piece (pieces.h). Let W be the writes of a piece that are not `alone`: the others are in an
 * order with all accesses of other threads, by fork and join. What follows is about pieces whose W is a *row*: each
 * w' of W comes after the one before it, w, in one of these ways:
 *
 *   - they are by one thread;
 *   - between them all threads but one were joined;
 *   - between them the thread of w' reads the piece and sees w, and no other write before w, and no read before all
 *     writes, has the value of w.
 *
 * In every reordering in rf and value, all of W that is before a write of W in the trace is before it. Else let w' be
 * the first one in the reordering for which that does not hold. It does for those before w' in the reordering, so
 * none of them is after w' in the trace. The read by which w' comes after w sees a write with the value of w, which
 * is w then; so w is before w', and what is before w is, too.
 *
 * Own. Let W be by one thread. A read by this thread conflicts with no write, and sees what it or an `alone` write left
 * there, in every reordering. So it takes part in rule 7 only, as an access of a sparse piece does
 * (sparse.h), and has an event where such an access would have one. It has none when only its thread
 * releases the life, and did get it or has accessed it before.
 *
 * Settled. Let w be the last of W, and let no other write before w, and no read before all writes, have its
 * value. A read e has no event when
 *
 *   - the last write before e is w, and e sees it;
 *   - its thread has read the piece before, at the same place, and saw w: that read is q;
 *   - q and e are in one *stretch* of the thread.
 *
 * A stretch is
 *
 * - reads and derefs of the thread only, when another thread may release the memory, or e may dangle;
 * - else all that the thread does while it holds the same locks in the same way, in any of its sections.
 *
 * It may dangle when it is an address in a life, but not when w wrote it while that life was there, the thread of
 * w or of e got the life, and no other thread than that of e may release it: then the life is there at e in every
 * reordering that has w.
 *
 * This changes no verdict about places, in rf and value, and in all orders but fhb.
 *
 * - Nothing is added. Let rho be a reordering of the kept events that has q. By its value q saw w, so all
 *   of W is in rho before q, and each `alone` write comes before q or after the thread of e has ended. So
 *   the piece has the value of w from q on, and e can stand where it belongs. In the orders, what w is before by
 *   way of e it is before by way of q: wcp and cp order the section of w before e, when both hold a lock, and q
 *   holds that lock, too. What x or a section before e is before by e, it is by q for the same reason.
 * - Nothing is lost where e is next beside x, and x is a write of W. Then q has not seen w, which comes after
 *   x, or is x: in rf and value that cannot be. In the orders, x is before q in the trace: what orders x
 *   before q orders it before e, and the locks held are the same.
 * - Nor where x is a `free`, before e or beside it: then the stretch has reads and derefs only. Take out q and what
 *   its thread does later, which no other thread needs. What is ordered after q is ordered after e; not so for
 *   the order fhb, which orders a read before a later write that conflicts with it, and may lose this `free`.
 * - Nor what is told of pointers (pointers.h): e sees nothing but w, which is not null where e is not. Where e may
 *   dangle, the stretch has reads and derefs only, so what holds of e holds of q; and q must have a deref, too.
 *   Where it points to a dead life, e has an event.
 *
 * The model branch, in which q may have diverged, may find less.
 *
 * An address that may dangle is no own read.
 *
 * Guarded. Let all writes of W be made while their threads hold a lock L exclusively, and let e be a read whose
 * thread holds L, too. Let the value of w be its own as above, or let all accesses up to e have
 * the same value. Then e and a write of W cannot be next. So when no other thread releases the memory, and e
 * cannot dangle, all that a thread does while it holds L is one stretch, whatever else it holds, if no write of W
 * was made with another lock held, and else all that it does while it holds the same locks. Nothing is lost,
 * since nobody needs e. Nothing is added: by q all of W is before, or (in the model value) every write has the
 * same value. In wcp and cp each section of w whose lock e holds comes before q, so before e.
 *
 * A read that is strange (convert.h) keeps its event. With BarrierPairs and with benign races nothing is
 * settled. The pass of twins.h finds the writers.
 */
#ifndef MR_RECORD_SETTLED_H
#define MR_RECORD_SETTLED_H

#include "pieces.h"

#define MR_SETTLED_NOBODY  UINT32_MAX
#define MR_SETTLED_SEVERAL (UINT32_MAX - 1)

/* Accesses of a piece, while a pass goes over them. Zero-initialise. */
typedef struct mr_settling {
    uint64_t values; /* bits for the values so far, by their hash; 0: none so far */
    int64_t last_value, greatest;
    uint64_t seen; /* bit i: thread i, of the first 64, has seen the last write */
    /* The thread of the last write of W, plus 1; 0: W is empty; MR_SETTLED_NOBODY: not a row. */
    uint32_t writer;
    uint32_t writes;      /* so far, `alone` ones too */
    uint32_t first, last; /* of W: how many writes there were with it; 0: none yet */
    uint32_t moment;      /* of the last one of W */
    bool is_unique;       /* no other write before the last one has its value, and no first read */
    bool is_known;        /* the value of the last write is */
    bool has_unknown;     /* a value was not known */
    bool has_several;     /* writers */
} mr_settling;

/* A value, as a pass finds it. */
typedef struct mr_settling_value {
    int64_t value; /* two that differ may be the same here, never the other way round */
    bool is_known;
} mr_settling_value;

/* The bit of a value. */
static inline uint64_t mr_settling_bit(int64_t value)
{
    return 1ull << ((uint64_t)value * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

/* Notes a value. Is it another one than all so far? */
static inline bool mr_settling_is_new(mr_settling *self, mr_settling_value value)
{
    uint64_t bit = mr_settling_bit(value.value);
    bool is_greater = !self->values || value.value > self->greatest;
    self->has_unknown = self->has_unknown || !value.is_known;
    bool is_new = !self->has_unknown && (is_greater || !(self->values & bit));
    self->greatest = is_greater ? value.value : self->greatest;
    self->values |= bit;
    return is_new;
}

/* A write by the thread. `moment` counts how often all other threads had been joined before. */
static inline void mr_settling_write(mr_settling *self, uint32_t thread, bool alone,
                                     uint32_t moment, mr_settling_value value)
{
    bool has_seen = self->is_unique && thread < 64 && self->seen >> thread & 1;
    bool is_new = mr_settling_is_new(self, value);
    self->writes++;
    self->seen = 0;
    self->last_value = value.value;
    self->is_known = value.is_known;
    if (alone)
        return;
    bool is_same = !self->writer || self->writer == thread + 1;
    bool follows =
        self->writer != MR_SETTLED_NOBODY && (is_same || has_seen || self->moment != moment);
    self->has_several = self->has_several || !is_same;
    self->writer = follows ? thread + 1 : MR_SETTLED_NOBODY;
    self->first = self->first ? self->first : self->writes;
    self->last = self->writes;
    self->moment = moment;
    self->is_unique = is_new;
}

/* A read by the thread; its value counts when nothing was written so far. */
static inline void mr_settling_read(mr_settling *self, uint32_t thread, mr_settling_value value)
{
    bool is_last = self->is_known && value.is_known && value.value == self->last_value;
    if (!self->writes)
        mr_settling_is_new(self, value);
    else if (is_last && self->writes == self->last && thread < 64)
        self->seen |= UINT64_C(1) << thread;
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
    uint32_t held; /* number of the lock */
    bool shared;
} mr_settled_section;

typedef struct mr_settled_thread {
    uint64_t reads;               /* number of its row of reads; 0: its first one */
    uint64_t locks;               /* stands for what it holds */
    mr_settled_section *sections; /* that it is in */
    size_t count, capacity;
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

/* The thread has an event that is no read, deref or acquire. False: no memory. */
bool mr_settled_end(mr_settled *settled, uint32_t thread);

/* The thread acquires or releases the lock. False: no memory. */
bool mr_settled_acquire(mr_settled *settled, uint32_t thread, uint32_t lock, bool shared);
bool mr_settled_release(mr_settled *settled, uint32_t thread, uint32_t lock, bool shared);

typedef struct mr_settled_question {
    uint64_t code;
    uint32_t thread, variable;
    bool is_released; /* another thread may release the memory, or its value may dangle */
    bool is_pointer;  /* it counts only while it has a deref */
    bool is_guarded;  /* the thread holds the lock under which the piece is written */
    bool is_nested;   /* a write of the piece was made with another lock held, too */
} mr_settled_question;

/* The lock, plus 1, under which all writes were so far (0: there were none), after one by the thread.
 * MR_SETTLED_NOBODY: there is no such lock, or it is not known. */
uint32_t mr_settled_guard(const mr_settled *settled, uint32_t thread, uint32_t guard);
/* Is the thread in more than one section? */
bool mr_settled_is_nested(const mr_settled *settled, uint32_t thread);
/* Does the thread hold this lock? */
bool mr_settled_holds(const mr_settled *settled, uint32_t thread, uint32_t guard);

/* Has such a read an event already, in the stretch of its thread? Notes that it has one. */
bool mr_settled_knows(mr_settled *settled, const mr_settled_question *read);

/* The value that the code read last of the variable has a deref. */
void mr_settled_use(mr_settled *settled, uint32_t thread, uint64_t code, uint32_t variable);

#endif
