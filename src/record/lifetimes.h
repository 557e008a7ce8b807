/*
 * lifetimes: the life that an address belongs to while a pass reads the log. A life begins when the
 * program gets a piece of memory (malloc, mmap, the stack of a thread). It ends when the program
 * gives the memory back, or when the same memory is given out again. All other memory, static
 * memory for example, belongs to life number 0, which starts at address 0.
 *
 * A heap block that was released and that nobody can get yet is `dead`: an access to it is one after
 * its release.
 *
 * A call takes O(log of the lives at that time); a look-up near a recent one takes O(1).
 */
#ifndef MR_RECORD_LIFETIMES_H
#define MR_RECORD_LIFETIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mr_life {
    uint64_t start, end; /* the part that is still alive: [start, end) */
    uint64_t origin;     /* the first address when the life began; offsets count from here */
    uint32_t number;     /* 1, 2, … in the order of the log; 0: static memory */
    uint32_t thread;     /* thread of the log that got the memory */
    uint32_t site;       /* for the caller: the location that got the memory */
    uint32_t ordinal;    /* for the caller: number of earlier lives from the same location */
    uint64_t bytes;      /* size when the life began */
    uint8_t kind;        /* mr_log_memory */
    bool dead : 1;       /* released, and not given out again */
    bool alone : 1;      /* for the caller: it began while no other thread was there */
    uint16_t uses;       /* for the caller: of its memory, before (addresses.h) */
    uint32_t since;      /* for the caller: the segment in which it began (ordered.h) */
} mr_life;

typedef struct mr_life_node mr_life_node;

enum { MR_LIFETIMES_NEAR = 1 << 15, MR_LIFETIMES_GAPS = 16 };

/* [start, end) has no byte of a life; empty: nothing is known. */
typedef struct mr_life_gap {
    uint64_t start, end;
} mr_life_gap;

/* A part [start, end) of a life that ended. */
typedef struct mr_life_end {
    mr_life life; /* as it was */
    uint64_t start, end;
} mr_life_end;

/* Zero-initialise with mr_lifetimes_init; free with mr_lifetimes_free. */
typedef struct mr_lifetimes {
    mr_life_node *nodes; /* owned; a treap, 0 is no node */
    size_t count, capacity;
    uint32_t root, free_node;
    uint32_t given;     /* number of the last life */
    mr_life everything; /* life number 0 */
    mr_life_end *ended; /* owned; by the last mr_lifetimes_take, in the order of addresses */
    size_t ended_count, ended_capacity;
    uint32_t near[MR_LIFETIMES_NEAR];    /* a cache of look-ups: the node found last, by hash of the
                                         address */
    mr_life_gap gaps[MR_LIFETIMES_GAPS]; /* the same for static memory: gaps found last */
} mr_lifetimes;

void mr_lifetimes_init(mr_lifetimes *lives);
void mr_lifetimes_free(mr_lifetimes *lives);

/* A life of [start, start + bytes) begins. False: no memory. */
bool mr_lifetimes_give(mr_lifetimes *lives, uint64_t start, uint64_t bytes, uint8_t kind,
                       uint32_t thread);
/* The lives of [start, start + bytes) end there. A life that is longer keeps the rest. `stays`: a
 * life that ends whole stays as a dead one. False: no memory. */
bool mr_lifetimes_take(mr_lifetimes *lives, uint64_t start, uint64_t bytes, bool stays);
/* The dead life at the address, if there is one, is no more. */
void mr_lifetimes_forget(mr_lifetimes *lives, uint64_t address);
/* The life of the byte at `address`, never NULL. The pointer is valid until the next give or take.
 */
mr_life *mr_lifetimes_find(mr_lifetimes *lives, uint64_t address);

/* How many of the bytes from `address` on lie in the life of the first one. */
uint64_t mr_lifetimes_reach(mr_lifetimes *lives, uint64_t address, uint64_t bytes);

/* Does all of [start, start + bytes) belong to life number 0? */
bool mr_lifetimes_is_free(const mr_lifetimes *lives, uint64_t start, uint64_t bytes);

#endif
