/*
 * lock_sets: the locks that each thread holds, as numbers of interned sets.
 *
 * A lock set contains each lock that its thread holds, with the modes in which it holds it. Number 0
 * is the empty set. Two sets *exclude* each other when some lock is in both, and not held shared
 * alone in both: then no reordering has both threads hold their sets at once (docs/semantics.md 2,
 * rule 2).
 *
 *   mr_lock_sets_grow → mr_lock_sets_change, mr_lock_sets_now, mr_lock_sets_exclude …
 *     → mr_lock_sets_free
 *
 * A change costs O(locks held); the first mr_lock_sets_now after it the same, and one look into a
 * hash table. Memory: 8 bytes for each lock of each different set, and 24 for each set.
 */
#ifndef MR_ORDER_LOCK_SETS_H
#define MR_ORDER_LOCK_SETS_H

#include "base/table.h"
#include "trace/op.h"

/* A lock and the modes in which it is held: lock << 2 | modes. */
typedef uint64_t mr_held_lock;

typedef struct mr_lock_set {
    size_t first; /* of its locks in `members` */
    uint32_t count;
    uint64_t bits; /* one for each lock, of which several may share one */
} mr_lock_set;

typedef struct mr_lock_holder {
    mr_held_lock *held; /* ascending */
    size_t count, capacity;
    uint32_t set; /* the number of the set, when it is not `stale` */
    bool stale;
    bool has_events; /* for the caller, at first false */
} mr_lock_holder;

/* Zero-initialise. */
typedef struct mr_lock_sets {
    mr_lock_holder *holders; /* by thread */
    size_t holder_count, holder_capacity;
    mr_held_lock *members; /* of all sets */
    size_t member_count, member_capacity;
    mr_lock_set *sets;
    size_t set_count, set_capacity;
    mr_table table;
} mr_lock_sets;

/* There are so many threads from now on; fewer than before is fine. False: no memory, here and
 * below. */
bool mr_lock_sets_grow(mr_lock_sets *sets, uint32_t thread_count);
void mr_lock_sets_free(mr_lock_sets *sets);

/* An outermost acquire or release, exclusive or shared. */
bool mr_lock_sets_change(mr_lock_sets *sets, mr_op op, uint32_t thread, uint32_t lock);

/* The number of the set that the thread holds now. */
bool mr_lock_sets_now(mr_lock_sets *sets, uint32_t thread, uint32_t *set);

/* O(1) when they have no lock in common that `bits` sees, else O(locks of both). */
bool mr_lock_sets_exclude(const mr_lock_sets *sets, uint32_t one, uint32_t other);

#endif
