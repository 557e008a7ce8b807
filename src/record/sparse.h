/*
 * sparse: which accesses of sparse pieces (pieces.h) have an event. One thread alone accesses such a
 * piece, or none writes it, or fork and join order each write with what others do. So each read sees
 * the same write in every reordering, and the accesses race with the free of their object only. They
 * take part in rule 7 (docs/semantics.md 2): they come after the alloc and before the free.
 *
 * The other events of a thread, and the first access of a guest to a life, divide what the thread
 * does into stretches. In a stretch the first access of each (object, place) has an event:
 *
 *   kept(e)  ⇔  no access of the stretch before e has the object and the place of e
 *
 * This changes no verdict about places.
 *
 * - Nothing is lost. Let rho be a reordering of all events, after which e and the free are next. Let
 *   q be the event kept for e. Without q and what its thread does later, rho is a reordering: what
 *   it leaves out are accesses of sparse pieces, which no other thread needs. After it q and the
 *   free are next.
 * - Nothing is added. Let rho be a reordering of the kept events. An access of a sparse piece needs
 *   nothing but what comes before it in its thread and the alloc of its object, and the alloc is
 *   before the stretch (a guest's first access begins one). So the events of a stretch in rho may
 *   all stand where the first of them stands, which is before the free of their objects, and each e
 *   may stand there, too, behind its q.
 *
 * The place is the address of the code. A table of fixed size remembers what is kept. What it forgets
 * is kept again, which is allowed.
 */
#ifndef MR_RECORD_SPARSE_H
#define MR_RECORD_SPARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MR_SPARSE_KNOWN = 1 << 14 };

/* Zero-initialise. */
typedef struct mr_sparse {
    struct {
        uint64_t stretch, code;
        uint32_t life;
    } known[MR_SPARSE_KNOWN];
    uint64_t *stretch_of; /* by thread of the log; 0: its first one */
    size_t count, capacity;
    uint64_t last; /* number of the last stretch */
} mr_sparse;

void mr_sparse_free(mr_sparse *sparse);

/* The thread begins a stretch. False: no memory. */
bool mr_sparse_begin(mr_sparse *sparse, uint32_t thread);

/* The number in `known` of an access. */
static inline size_t mr_sparse_slot(uint64_t code, uint32_t life)
{
    return ((code ^ (uint64_t)life << 40) * 0x9E3779B97F4A7C15u) >> 50;
}

/* Has an access with the object and the place an event in the current stretch of the thread? */
static inline bool mr_sparse_knows(const mr_sparse *sparse, uint32_t thread, uint64_t code,
                                   uint32_t life)
{
    size_t slot = mr_sparse_slot(code, life);
    return thread < sparse->count && sparse->known[slot].stretch == sparse->stretch_of[thread] &&
           sparse->known[slot].code == code && sparse->known[slot].life == life &&
           sparse->known[slot].stretch;
}

/* It has one now. */
void mr_sparse_note(mr_sparse *sparse, uint32_t thread, uint64_t code, uint32_t life);

#endif
