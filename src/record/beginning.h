/*
 * beginning: accesses before the other threads were started that could meet them.
 *
 * Let T be the first thread of the log. Each other thread came by a fork of T: T started it, or a thread that came by this fork
 * did. Let P be a piece (pieces.h) that is kept, and F the first fork by which another thread came that accesses P or
 * releases its memory while others are there. The *beginning* of P is what T does before F, without what it does from
 * the acquire on of the first lock that it holds at F. All accesses of P in it are by T. When they are *simple*, none
 * of them has an event, but for
 *
 *   - the last write of P in the beginning;
 *   - where there is none, the first read, which tells the initial value.
 *
 * This changes no verdict about places, in all models and in all orders. Let rho be a reordering of the trace with these
 * accesses, and w the last write.
 *
 * - F comes before all that the other threads do with P. So a read in the beginning sees what T left there, in every
 *   reordering. Where T wrote nothing, that is the initial value, and the first read tells it. Else the other reads
 *   of P come after w, and see w or what came later: never an earlier write or the initial value.
 * - So rho without these accesses is a reordering of what is left: no read that is left saw one of them. And they can be put
 *   into each reordering of what is left, where T has them: T got the memory, and who releases it comes after F.
 * - No conflict is lost: F orders all of them with the accesses of other threads, and with each `free` by another
 *   thread.
 * - In the orders an edge to or from such an access says what program order and F say. In wcp and cp a critical section
 *   counts by what it accesses. Before the first fork of T it ends before that fork, and what comes before it is of T alone:
 *   program order and fork say all that the rules would. Later the accesses are in no critical section.
 * - No `deref` is lost that says something (pointers.h). Where such a read is next, P is as it was in the trace, and
 *   so is the life that its value points to: no other thread was there, or none releases it. A pointer that is stale was
 *   written before its block was given out again: the piece is not simple then.
 *
 * The accesses are simple when each is plain, of memory that T got or nobody, and that is alive, with a value that is
 * known and that a read finds where the access before left it; where the value is an address in a life, a read finds the
 * life that the last write meant. After the first fork T holds no lock, and the life is one that T got and no
 * other thread releases. Where this does not hold after the first fork, the beginning is what comes before that. A
 * piece that is not simple keeps all its events. With BarrierPairs and with benign races no piece is simple. The pass of
 * twins.h finds out.
 *
 * Where a thread ran that nobody started, there is no beginning.
 */
#ifndef MR_RECORD_BEGINNING_H
#define MR_RECORD_BEGINNING_H

#include "log_reader.h"
#include "settled.h"

/* A lock that the first thread holds. */
typedef struct mr_beginning_lock {
    uint64_t head, number; /* of the record; the head has role and address */
    uint64_t unit;         /* before the end of the record by which it was acquired */
} mr_beginning_lock;

/* Zero-initialise. */
typedef struct mr_beginning {
    mr_beginning_lock *held; /* owned */
    size_t count, capacity;
    /* By fork of the first thread: a unit inside the record that ends its beginning. Owned. */
    uint64_t *ends;
    size_t fork_count, fork_capacity;
    uint32_t *forks; /* by thread: the fork by which it came, plus 1; 0: none is known; owned */
    size_t thread_count, thread_capacity;
    uint32_t first; /* thread, when `has_first` */
    bool has_first;
    bool is_limited; /* no beginning goes beyond `limit` */
    uint64_t limit;
} mr_beginning;

void mr_beginning_free(mr_beginning *beginning);

/* Takes a record of a lock, or a FORK, that the pass has read. False: no memory. */
bool mr_beginning_note(mr_beginning *beginning, const mr_log_pass *pass, const uint64_t *record);

/* The log has something here that the locks do not tell: no beginning goes on. */
void mr_beginning_stop(mr_beginning *beginning, const mr_log_pass *pass);

/* Does the first thread hold a lock, or is that not known? */
static inline bool mr_beginning_holds(const mr_beginning *beginning)
{
    return beginning->count || beginning->is_limited;
}

/* When all records were taken: */

/* There is no beginning. */
void mr_beginning_distrust(mr_beginning *beginning);

/* Where the beginning of the fork ends, which is given plus 1; 0: at the start of the log. */
static inline uint64_t mr_beginning_end(const mr_beginning *beginning, uint32_t fork)
{
    return fork && fork <= beginning->fork_count ? beginning->ends[fork - 1] : 0;
}

/* Is the pass, which reads or has read an access, before the first fork, and that in the beginning? */
static inline bool mr_beginning_has(const mr_beginning *beginning, const mr_log_pass *pass)
{
    return pass->next < mr_beginning_end(beginning, 1);
}

/* The fork by which the thread came, plus 1; 0: not known. */
static inline uint32_t mr_beginning_fork(const mr_beginning *beginning, uint32_t thread)
{
    return thread < beginning->thread_count ? beginning->forks[thread] : 0;
}

/* Accesses of a piece by the first thread. Zero-initialise. */
typedef struct mr_begun {
    int64_t last; /* value */
    uint32_t writes;
    uint32_t pointed; /* the life to which the value pointed when it was written */
    bool has_last, is_odd;
    bool is_given; /* the first access read an address: code that is not recorded wrote it */
} mr_begun;

/* All that is known of the beginning of a piece, while a pass goes over its accesses. Zero-initialise. */
typedef struct mr_beginnings {
    mr_begun first;   /* before the first fork */
    mr_begun longest; /* before another thread accesses the piece */
    uint64_t last;    /* where the last access was */
    /* The first one by which another thread came that uses the piece, plus 1; 0: none so far. */
    uint32_t fork;
    bool is_over, is_refused;
} mr_beginnings;

/* A plain access of `bytes` bytes in memory that is alive. */
typedef struct mr_begun_access {
    uint64_t bytes;
    mr_settling_value value;
    const mr_life *pointed; /* of a value of 8 bytes; number 0 unless it may be an address */
    bool writes;
    bool may_go;  /* another thread may release what it points to, or got it */
    bool is_held; /* the thread holds a lock */
} mr_begun_access;

/* The first thread accesses the piece; NULL: not so, but atomically, or of dead memory, … */
void mr_beginnings_access(mr_beginnings *beginnings, const mr_beginning *beginning,
                          const mr_log_pass *pass, const mr_begun_access *access);

/* Another thread, which came by the fork, given plus 1, accesses the piece, or releases its memory some time. */
void mr_beginnings_meet(mr_beginnings *beginnings, uint32_t fork, bool accesses);

/* Where the beginning of a simple piece ends, and how often it is written there. False: it is not simple. */
bool mr_beginnings_settle(const mr_beginnings *beginnings, const mr_beginning *beginning,
                          uint64_t *end, uint32_t *writes);

#endif
