/* huge: large pages for large tables, where the system gives them on request: one page fault for
 * each 2 MiB instead of each 4 KiB, and fewer misses when a table is used at random. */
#ifndef MR_BASE_HUGE_H
#define MR_BASE_HUGE_H

#include <stdbool.h>
#include <stddef.h>

/* Asks for large pages for a block of memory. Pages that were written already stay small, and a
 * block below 4 MiB is left alone. The system may refuse; nothing depends on it. */
void mr_huge_ask(void *memory, size_t bytes);

/* A zeroed block. One of 1 MiB or more is mapped for itself, at a multiple of 2 MiB, with large pages
 * where the system gives them, and goes back to the system when it is freed: memory that was used
 * before has small pages. NULL: no memory. */
void *mr_huge_new(size_t bytes);
void mr_huge_free(void *memory, size_t bytes); /* NULL is fine */
/* The same for a table that is read before it is written. A page of zeros that is read first is put in its place twice, and the
 * second time all threads are interrupted. So the small pages of a block below 4 MiB are there from the start. */
void *mr_huge_new_present(size_t bytes);
/* Is a block of so many bytes mapped for itself? Then other pages may be mapped into it. */
bool mr_huge_is_mapped(size_t bytes);

/* Makes a block of `old_bytes` (NULL: none) one of `new_bytes`. What is new in it may hold anything. A mapped block
 * moves without being copied, and keeps its large pages. NULL: no memory, and nothing has changed. */
void *mr_huge_resize(void *memory, size_t old_bytes, size_t new_bytes);

/* mr_grow (memory.h) for an array that is such a block. */
bool mr_huge_grow(void **array, size_t *capacity, size_t need, size_t size_bytes);

#endif
