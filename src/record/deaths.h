/*
 * deaths: where and by whom memory is released, for the objects of the trace (docs/semantics.md 1:
 * alloc, free). The first pass notes the deaths, the second meets them in the same order.
 *
 * A death is a part of a life that ends at once. Most lives end whole; a mapping may end in parts,
 * and then each part is an object. The stack of a thread ends at the thread's END. A life that ends
 * because its memory is given out again has no death: it is not known who released it.
 *
 * Memory: 40 bytes for each death, 4 for each life.
 */
#ifndef MR_RECORD_DEATHS_H
#define MR_RECORD_DEATHS_H

#include "log_reader.h"

#define MR_DEATH_NONE UINT32_MAX

typedef struct mr_death {
    uint64_t start, end;
    uint32_t life, thread; /* thread of the log that released it */
    uint32_t next;         /* the death of another part of the life, or MR_DEATH_NONE */
    bool alone;            /* no other thread was there */
    bool unseen;           /* nothing is known about its order: no object of the trace ends by it */
} mr_death;

typedef struct mr_deaths {
    mr_death *items; /* in the order of the log */
    size_t count, capacity;
    uint32_t *last; /* by life: its last death, plus 1; 0: none */
    size_t life_count, life_capacity;
    uint32_t *counted; /* by life: 1: all its deaths are unseen */
    size_t counted_count, counted_capacity;
    uint32_t *stacks; /* by thread of the log: the life of its stack; 0: none is known */
    size_t stack_count, stack_capacity;
} mr_deaths;

/* Zero-initialise. */
void mr_deaths_free(mr_deaths *deaths);

/* A record GIVEN, TAKEN or END. `alone`: no other thread is there. False: no memory. */
bool mr_deaths_note(mr_deaths *deaths, const mr_log_pass *pass, const uint64_t *record, bool alone);

/* How many parts of lives the record ends, for both passes: their deaths are the next ones. */
size_t mr_deaths_of(const mr_log_pass *pass, const uint64_t *record);

/* The death of the byte at the address in its life, or MR_DEATH_NONE. */
uint32_t mr_deaths_find(const mr_deaths *deaths, uint32_t life, uint64_t address);
/* The last death of the life, or MR_DEATH_NONE; `next` leads to the others. */
uint32_t mr_deaths_last(const mr_deaths *deaths, uint32_t life);
/* The life of the thread's stack, 0: none. */
uint32_t mr_deaths_stack(const mr_deaths *deaths, uint32_t thread);

#endif
