/*
 * beginning: accesses before the first other thread was started. Nobody can meet them.
 *
 * The beginning of a log is what comes before the first fork, or before the acquire of a lock that is held at that fork. It is
 * by one thread. A plain access there, of a piece (pieces.h) that is kept, has no event, but for
 *
 *   - the last write of the piece in the beginning;
 *   - where there is none, the first read, which tells the initial value.
 *
 * This changes no verdict about places, in all models and in all orders. Each event of another thread comes after the first
 * fork in all of them. Let T be the trace with these accesses, rho a reordering of it, x the variable of the piece, and w the
 * last write of x in the beginning.
 *
 * - Without w, nobody writes x in the beginning, so a read there sees the initial value, and the first one
 *   tells it. Else the reads of other threads, and those behind the fork, come after w and see w or what came later: never an
 *   earlier write or the initial value. A read before w sees what it saw, in rho as in T, since all that comes before it in
 *   rho is by its own thread.
 * - So rho without these accesses is a reordering of what is left: no read that is left saw one of them. And they can be put
 *   into each reordering of what is left, where their thread has them.
 * - No conflict is lost: fork orders all of them with the accesses of other threads. So does it with each `free` by another
 *   thread. A block that the thread itself has released keeps its accesses.
 * - In the orders an edge to or from such an access says what program order and fork say. In wcp and cp a critical section
 *   counts by what it accesses: a section with such an access ends in the beginning. Its release comes before the
 *   fork by program order, and so before all that the rule would order it with.
 * - No `deref` is lost that says something (pointers.h). Where such a read is next, the memory is as it was in the trace. A
 *   pointer that is stale was written before its block was given out again: the piece is no simple one then.
 *
 * A piece is *simple* when each access in the beginning is plain, of memory that is alive, with a value that is
 * known and that a read finds where the access before left it; where the value is an address in a life, a read finds the
 * life that the last write meant. A piece that is not simple keeps all its events. With BarrierPairs and with benign races
 * no piece is simple. The pass of twins.h finds out.
 *
 * A piece that is sparse (pieces.h) has no conflict but with the release of its memory, so no plain access in the beginning
 * has an event. There need be no pass for it.
 *
 * Where a thread ran that nobody started, there is no beginning.
 */
#ifndef MR_RECORD_BEGINNING_H
#define MR_RECORD_BEGINNING_H

#include "log_reader.h"
#include "settled.h"

/* A lock that is held in the beginning. */
typedef struct mr_beginning_lock {
    uint64_t head, number; /* of the record; the head has role and address */
    uint64_t unit;         /* before the end of the record by which it was acquired */
} mr_beginning_lock;

/* Zero-initialise. */
typedef struct mr_beginning {
    mr_beginning_lock *held; /* owned */
    size_t count, capacity;
    uint64_t end; /* a unit inside the record that ends it, when it has ended */
    bool has_ended;
} mr_beginning;

void mr_beginning_free(mr_beginning *beginning);

/* Takes a record of a lock, or a FORK, that the pass has read. False: no memory. */
bool mr_beginning_note(mr_beginning *beginning, const mr_log_pass *pass, const uint64_t *record);

/* The log has something here that the locks do not tell: the beginning ends. */
void mr_beginning_end(mr_beginning *beginning, const mr_log_pass *pass);

/* Is the pass, which reads or has read an access, in the beginning? When all records were taken. */
static inline bool mr_beginning_has(const mr_beginning *beginning, const mr_log_pass *pass)
{
    return pass->next < beginning->end;
}

/* The accesses of a piece in the beginning. Zero-initialise. */
typedef struct mr_begun {
    int64_t last; /* value */
    uint32_t writes;
    uint32_t pointed; /* the life to which the value pointed when it was written */
    bool has_last, is_odd;
    bool is_given; /* the first access read an address: code that is not recorded wrote it */
} mr_begun;

/* A plain access of `bytes` bytes in memory that is alive. `pointed`: the life of a value of 8 bytes, which is of
 * number 0 unless it may be an address. */
void mr_begun_access(mr_begun *begun, bool writes, uint64_t bytes, mr_settling_value value,
                     const mr_life *pointed);

/* Is the piece simple? When all accesses were noted. */
static inline bool mr_begun_is_simple(const mr_begun *begun)
{
    return !begun->is_odd && !(begun->is_given && begun->writes);
}

#endif
