#include "chains.h"

#include "base/assert.h"
#include "base/memory.h"
#include "trace.h"

#include <stdlib.h>

bool mr_chains_widen(mr_chains *chains, size_t thread_count)
{
    void *threads = mr_realloc(chains->threads, thread_count, sizeof *chains->threads);
    if (!threads)
        return false;
    chains->threads = threads;
    void *next = mr_realloc(chains->next, thread_count, sizeof *chains->next);
    if (!next)
        return false;
    chains->next = next;
    for (; chains->capacity < thread_count; chains->capacity++)
        chains->threads[chains->capacity] = (mr_chain_thread){MR_NONE, MR_NONE, MR_NONE, false};
    return true;
}

/* The chain of the thread, a new one when it has none. */
static uint32_t chain_of(mr_chains *chains, uint32_t thread)
{
    MR_REQUIRE(thread < chains->capacity);
    mr_chain_thread *t = &chains->threads[thread];
    if (t->chain == MR_NONE) {
        MR_ASSERT(chains->count < chains->capacity); /* each thread makes one at most */
        t->chain = chains->count++;
        chains->next[t->chain] = MR_NONE;
    }
    return t->chain;
}

/* Puts a list, `first` to `last`, before that of the thread. */
static void give(mr_chains *chains, uint32_t thread, uint32_t first, uint32_t last)
{
    mr_chain_thread *t = &chains->threads[thread];
    if (first == MR_NONE)
        return;
    MR_ASSERT(chains->next[last] == MR_NONE);
    chains->next[last] = t->free;
    t->last = t->free == MR_NONE ? last : t->last;
    t->free = first;
}

void mr_chains_fork(mr_chains *chains, uint32_t thread, uint32_t child)
{
    MR_REQUIRE(thread < chains->capacity && child < chains->capacity);
    mr_chain_thread *t = &chains->threads[thread];
    uint32_t chain = t->free;
    MR_ASSERT(chains->threads[child].chain == MR_NONE); /* forked once, and not joined before */
    if (chain == MR_NONE) {
        chain_of(chains, child);
        return;
    }
    t->free = chains->next[chain];
    t->last = t->free == MR_NONE ? MR_NONE : t->last;
    chains->next[chain] = MR_NONE;
    chains->threads[child].chain = chain;
}

void mr_chains_join(mr_chains *chains, uint32_t thread, uint32_t child)
{
    MR_REQUIRE(thread < chains->capacity && child < chains->capacity);
    mr_chain_thread *c = &chains->threads[child];
    if (thread == child || c->joined)
        return;
    give(chains, thread, c->free, c->last);
    if (c->chain != MR_NONE) /* else nobody has forked it so far, and somebody may later */
        give(chains, thread, c->chain, c->chain);
    c->free = c->last = MR_NONE;
    c->joined = true;
}

uint32_t *mr_chains_take(mr_chains *chains, uint32_t thread_count, uint32_t *count)
{
    MR_REQUIRE(thread_count <= chains->capacity);
    uint32_t *taken = mr_calloc(thread_count, sizeof *taken);
    for (uint32_t t = 0; taken && t < thread_count; t++)
        taken[t] = chain_of(chains, t);
    *count = chains->count;
    return taken;
}

void mr_chains_free(mr_chains *chains)
{
    free(chains->threads);
    free(chains->next);
    *chains = (mr_chains){0};
}
