/*
 * memory: the allocation calls of the library, in one place so that tests can make them fail, and
 * growable arrays on top of them.
 *
 * Every function returns NULL or false when there is no memory; callers pass that on as
 * MR_ERR_MEMORY. Memory is given back with free().
 */
#ifndef MR_BASE_MEMORY_H
#define MR_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `fixed_bytes` plus `extra_bytes`, for structs that end in an array; refuses an overflow. */
void *mr_malloc(size_t fixed_bytes, size_t extra_bytes);
/* `count` zeroed elements of `size_bytes`. */
void *mr_calloc(size_t count, size_t size_bytes);
/* Resizes to `count` elements; the old block stays valid when NULL is returned. */
void *mr_realloc(void *old, size_t count, size_t size_bytes);
/* A copy of the `length` bytes at `text`, terminated. */
char *mr_strndup(const char *text, size_t length);

/* For tests: the n-th allocation from now (1: the next) and all later ones fail; 0: none does. */
void mr_memory_fail_after(uint64_t n);
/* Counts an allocation that is made elsewhere (mmap). True: it is to fail, as mr_memory_fail_after asks. */
bool mr_memory_fails(void);

/* The capacity of an array of `capacity` elements when it grows to hold at least `need`: at least twice as many. */
size_t mr_grown(size_t capacity, size_t need);

/*
 * Grows `*array` so that it holds at least `need` elements of `size_bytes`; `*capacity` is kept in
 * elements and at least doubles, so pushes are O(1) amortised. On failure nothing changes.
 */
bool mr_grow(void **array, size_t *capacity, size_t need, size_t size_bytes);

/* A growable array of 32-bit numbers; zero-initialise, free with mr_u32s_free. */
typedef struct mr_u32s {
    uint32_t *items;
    size_t count, capacity;
} mr_u32s;

bool mr_u32s_push(mr_u32s *array, uint32_t item);
void mr_u32s_free(mr_u32s *array);

/* For qsort and bsearch of 32-bit numbers, in ascending order. */
int mr_compare_u32(const void *one, const void *two);

#endif
