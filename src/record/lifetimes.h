/*
 * lifetimes: which life of which memory an address belongs to while a log is read. A piece of memory
 * that is given to the program (malloc, mmap, the stack of a thread) begins a life; when it is
 * taken away, or given anew, that life is over. Memory that nobody gave, static memory above all,
 * has one life from 0 on, number 0.
 *
 * O(log of the lives at that time) a call; a look-up near the last ones is O(1).
 */
#ifndef MR_RECORD_LIFETIMES_H
#define MR_RECORD_LIFETIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mr_life {
    uint64_t start, end; /* of what is left of it */
    uint64_t origin;     /* where it began when it was given; addresses in it count from here */
    uint32_t number;     /* 1, 2, … in the order of the log; 0: static memory */
    uint32_t thread;     /* of the log: who was given it */
    uint32_t site;       /* for the caller: where it was given */
    uint32_t ordinal;    /* for the caller: how many were given there before it */
    uint64_t bytes;      /* when it was given */
    uint8_t kind;        /* mr_log_memory */
} mr_life;

typedef struct mr_life_node mr_life_node;

enum { MR_LIFETIMES_NEAR = 1024 };

/* Zero-initialise with mr_lifetimes_init; free with mr_lifetimes_free. */
typedef struct mr_lifetimes {
    mr_life_node *nodes; /* owned; a treap, 0 is no node */
    size_t count, capacity;
    uint32_t root, free_node;
    uint32_t given; /* number of the last life */
    mr_life everything;
    uint32_t near[MR_LIFETIMES_NEAR]; /* node found last, by address */
} mr_lifetimes;

void mr_lifetimes_init(mr_lifetimes *lives);
void mr_lifetimes_free(mr_lifetimes *lives);

/* A new life of [start, start + bytes). False: no memory. */
bool mr_lifetimes_give(mr_lifetimes *lives, uint64_t start, uint64_t bytes, uint8_t kind,
                       uint32_t thread);
/* The lives there are over. False: no memory. */
bool mr_lifetimes_take(mr_lifetimes *lives, uint64_t start, uint64_t bytes);
/* The life of the byte, never NULL; valid until the next give or take. */
mr_life *mr_lifetimes_find(mr_lifetimes *lives, uint64_t address);

#endif
