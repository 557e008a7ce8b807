/*
 * arena: the memory of malloc for recorded threads. A thread that does the same gets the same
 * addresses, whatever other threads do meanwhile: so a pointer has the same value in every order of
 * the threads, and a schedule can be run again (docs/recording.md, Addresses).
 *
 * Each thread has a slot of the address space, by its number, and takes new blocks from there. A
 * block that is freed goes to a list of the thread that frees it, whichever slot it is from, and
 * only that thread takes it again, last in, first out. So each address follows from what the thread
 * itself did before.
 *
 * Memory is bounded nevertheless. When a thread needs more room, and another one keeps more than
 * 16 MiB of freed blocks of that size, it takes those. What a thread has freed when it ends goes
 * back to the system, page by page. Large freed blocks beyond 32 MiB give their pages back at once.
 *
 * Blocks have no header. A table says what each granule of 64 KiB is: part of a span of small
 * blocks of one size, or the first of a large block. An overflow of a block damages blocks only.
 *
 * The stack of a thread, and with it its thread-local variables and its pthread_t, is at the end of
 * its slot; mappings that the program asks for without an address are large blocks.
 *
 * Called by the owner of the baton only, but for mr_arena_has and mr_arena_usable. Memory that
 * glibc asks for inside the runtime, or in a call that blocks, is not from here: it depends on the
 * order, and the program does not see it.
 */
#ifndef MR_RUNTIME_ARENA_H
#define MR_RUNTIME_ARENA_H

#include "state.h"

enum { MR_RING_MAX = 256 };

/* Blocks that a thread has freed and that stay out of use for a while (quarantine.h). */
typedef struct mr_ring {
    struct {
        void *block;
        size_t bytes;
    } of[MR_RING_MAX];
    size_t first, count, bytes;
    struct mr_ring *next; /* that is not empty */
} mr_ring;

/* The arena of a new thread, by its number; NULL: there is none, its blocks are glibc's. */
mr_arena *mr_arena_make(uint32_t number);
/* The thread could not be created. */
void mr_arena_unused(mr_arena *arena);
/* The thread has ended, and its stack is not used any more. */
void mr_arena_end(mr_arena *arena);
/* In the child of a fork: what the threads of the parent had stays. */
void mr_arena_forget(void);

/* Memory for the thread's stack, with a guard below it. NULL: none. */
void *mr_arena_stack(mr_arena *arena, size_t bytes, size_t guard_bytes);

/* A block. NULL: there is no room, or the alignment is too large. */
void *mr_arena_take(mr_arena *arena, size_t bytes, size_t alignment, bool zeroed);
/* Gives a block to the thread's list. NULL: in a process without threads of its own, it is lost. */
void mr_arena_give(mr_arena *arena, void *block);
/* The same block with another size; false: it has to move. */
bool mr_arena_resize(void *block, size_t bytes);
/* Moves the content of a large block to another, page by page; false: it is to be copied. */
bool mr_arena_move(void *to, void *from, size_t bytes);

bool mr_arena_has(const void *block);
size_t mr_arena_usable(const void *block);

/* An address for a mapping of the thread; NULL: the kernel's choice. mr_arena_unmapped: the mapping
 * is gone, wholly. */
void *mr_arena_map(mr_arena *arena, size_t bytes);
void mr_arena_unmapped(mr_arena *arena, void *at, size_t bytes);

/* The bytes that such a mapping, or a large block, may have without moving; 0: it is none. */
size_t mr_arena_room(const void *at);

/* The ring of a thread without an arena is shared. */
mr_ring *mr_arena_ring(mr_arena *arena);

#endif
