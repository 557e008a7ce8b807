/*
 * pointers: which reads give the address of something that their thread then uses (op `deref`,
 * docs/semantics.md 1). A read is a *pointer* when it is of 8 bytes and of one kept variable, and saw
 * a number v that may be an address. It may be used by the first access of its thread in the heap block
 * of v, elsewhere in the 8 bytes at v, and by a free of v.
 *
 * That the address fits proves nothing: the thread may have it from elsewhere (`mine->first = head ==
 * mine`), and behind a test the test may have made the access right (`if (p) p->x`). So the caller asks
 * whether the code brings the value from the read to the access (symbols/flow.h). A free of a variable
 * that was 0 before is not told, because a null pointer may be freed, and the engine would tell null.
 *
 * Each thread has the last MR_POINTERS_KEPT of them. A later read of the variable takes the place of
 * an earlier one, because a deref is about the last read. A pointer is not looked at any more after
 * MR_POINTERS_PATIENCE accesses of its thread: what is used is used soon.
 *
 * The access need not be of a kept variable. Then its deref is *loose*: it is written before the next
 * event of the thread, unless that is a `free`, to which it would seem to belong; then it is dropped.
 *
 * A look-up takes O(1). A thread without an unused pointer is seen by one comparison.
 */
#ifndef MR_RECORD_POINTERS_H
#define MR_RECORD_POINTERS_H

#include "emitter.h"
#include "lifetimes.h"

enum {
    MR_POINTERS_KEPT = 4,
    MR_POINTERS_PATIENCE = 64,
    MR_POINTERS_LOWEST = 4096, /* no address is lower */
    MR_POINTERS_BYTES = 8,     /* that count where v is in no heap block */
};

typedef struct mr_pointer {
    uint64_t value, start, end; /* an access in [start, end) uses it */
    uint64_t code;              /* address of the code that read it */
    bool is_returned;           /* by an atomic access, which returns it */
    uint32_t variable;
    uint32_t patience; /* 0: used, or given up; then only a free counts */
    uint32_t
        stale; /* the event that read it, + 1, when it points to a block that was freed and given out again; or 0 */
} mr_pointer;

typedef struct mr_thread_pointers {
    mr_pointer items[MR_POINTERS_KEPT];
    uint32_t count, next; /* `next`: the place of the next one */
    uint32_t unused;      /* pointers with patience */
    bool has_loose;
    mr_emitted loose;
} mr_thread_pointers;

typedef struct mr_pointers {
    mr_thread_pointers *threads; /* by thread of the log; owned */
    size_t count, capacity;
    bool *was_null; /* by variable; owned */
    size_t variable_count, variable_capacity;
} mr_pointers;

/* Zero-initialise. */
void mr_pointers_free(mr_pointers *all);

/* The variable, of 8 bytes, was 0. False: no memory. */
bool mr_pointers_note_null(mr_pointers *all, uint32_t variable);

/* The thread read the whole of a kept variable: `read` has all but start, end and patience. `life` is that of the value, when it may
 * be an address. False: no memory. */
bool mr_pointers_note(mr_pointers *all, uint32_t thread, const mr_pointer *read,
                      const mr_life *life);

/* Can the value be an address? */
static inline bool mr_pointers_may_be_address(uint64_t value)
{
    return value >= MR_POINTERS_LOWEST && value < UINT64_C(1) << 47;
}

/* Has the thread a pointer that it has not used so far? */
static inline bool mr_pointers_wait(const mr_pointers *all, uint32_t thread)
{
    return thread < all->count && all->threads[thread].unused;
}

/* Does the thread's access at the address use a pointer? Asked once for each of its accesses, while
 * mr_pointers_wait: patience ends by it. */
bool mr_pointers_look(mr_pointers *all, uint32_t thread, uint64_t address);

/* The pointer that the access uses, which was looked for and found. It counts as used from here on. */
const mr_pointer *mr_pointers_take(mr_pointers *all, uint32_t thread, uint64_t address);

/* The pointer that the thread frees, which ends its use; or NULL. */
const mr_pointer *mr_pointers_take_free(mr_pointers *all, uint32_t thread, uint64_t address);

/* The thread's loose deref, or NULL. */
static inline mr_emitted *mr_pointers_loose(const mr_pointers *all, uint32_t thread)
{
    return thread < all->count && all->threads[thread].has_loose ? &all->threads[thread].loose
                                                                 : NULL;
}

/* The thread, which has a pointer, has this loose deref. */
void mr_pointers_set_loose(mr_pointers *all, uint32_t thread, const mr_emitted *event);
/* It has none any more. */
void mr_pointers_drop_loose(mr_pointers *all, uint32_t thread);

#endif
