/*
 * chains: threads of which one is joined before the next one is forked.
 *
 * Thread B follows thread A in a chain when the fork of B comes after a join of A by program order,
 * fork and join alone. Every reordering that has an event of B then has the fork of B, the join of A
 * and all events of A before it. So the events of a chain are in one order everywhere, and a set of
 * events that is closed under program order, fork and join has, of a chain, its first events up to
 * some number: a clock needs an entry a chain, not an entry a thread. A program that runs 100,000
 * threads, eight at a time, has nine chains.
 *
 * A thread that joins another one may give that one's chain to a thread that it forks later, and so
 * may the thread that joins it. Each free chain belongs to one thread, so none is given twice. Threads
 * that are never joined are the last of their chain, and threads that are never forked are alone. The
 * join of a thread without events comes after nothing, so it gives no chain.
 *
 *   mr_chains_widen, mr_chains_fork and mr_chains_join in trace order → mr_chains_take → mr_chains_free
 */
#ifndef MR_TRACE_CHAINS_H
#define MR_TRACE_CHAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mr_chain_thread {
    uint32_t chain;      /* MR_NONE: none so far */
    uint32_t free, last; /* its list of chains that it may give to a thread; MR_NONE: it is empty */
    bool joined;
} mr_chain_thread;

/* Zero-initialise. */
typedef struct mr_chains {
    mr_chain_thread *threads;
    uint32_t *next; /* one a chain: the next one of the list that it is in, MR_NONE: the last */
    size_t capacity;
    uint32_t count;
} mr_chains;

/* There are so many threads from now on, at least as many as before. False: no memory. */
bool mr_chains_widen(mr_chains *chains, size_t thread_count);

void mr_chains_fork(mr_chains *chains, uint32_t thread, uint32_t child);
/* The child has events. */
void mr_chains_join(mr_chains *chains, uint32_t thread, uint32_t child);

/* The chain of each of the threads, 0 … *count - 1, in memory of the caller's. NULL: no memory. */
uint32_t *mr_chains_take(mr_chains *chains, uint32_t thread_count, uint32_t *count);
void mr_chains_free(mr_chains *chains);

#endif
