/*
 * Sorting with a comparison of the program. A library that moves elements between comparisons would
 * change what they read without a trace. So a table of pointers is sorted, by merging, as glibc
 * sorts large elements: the same comparisons in the same order, and a stable result. Then the
 * elements are moved at once.
 */
#include "calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t bytes);
void __libc_free(void *block);

typedef struct order {
    __compar_d_fn_t compare;
    void *context;
} order;

/* Sorts count pointers, with as many more as room. */
static void merge_sort(const char **of, size_t count, const char **room, const order *by)
{
    if (count <= 1) {
        return;
    }
    size_t left = count / 2;
    size_t i = 0;
    size_t j = left;
    size_t filled = 0;
    merge_sort(of, left, room, by);
    merge_sort(of + left, count - left, room, by);
    while (i < left && j < count) {
        bool first = by->compare(of[i], of[j], by->context) <= 0;
        room[filled++] = first ? of[i++] : of[j++];
    }
    while (i < left) {
        room[filled++] = of[i++];
    }
    for (size_t k = 0; k < filled; k++) {
        of[k] = room[k];
    }
}

/* The elements in their new places. */
static void move(char *base, size_t size, const char **of, size_t count, char *copy)
{
    MR_REAL(memcpy)(copy, base, count * size);
    for (size_t i = 0; i < count; i++) {
        MR_REAL(memcpy)(base + i * size, copy + (of[i] - base), size);
    }
}

static void sort(void *base, size_t count, size_t size, const order *by, uintptr_t code)
{
    size_t table = 2 * sizeof(char *);
    size_t bytes;
    char *room = NULL;
    if (count < 2 || size == 0) {
        return;
    }
    if (!__builtin_mul_overflow(count, table + size, &bytes)) {
        int saved_errno = errno;
        room = __libc_malloc(bytes);
        errno = saved_errno;
    }
    if (room == NULL) {
        MR_REAL(qsort_r)(base, count, size, by->compare, by->context);
        return;
    }
    const char **of = (const char **)(void *)room;
    for (size_t i = 0; i < count; i++) {
        of[i] = (char *)base + i * size;
    }
    merge_sort(of, count, of + count, by);
    mr_thread *thread = mr_memory_begin(code);
    if (thread != NULL) {
        in(base, count * size);
    }
    move(base, size, of, count, room + count * table);
    if (thread != NULL) {
        out(base, count * size);
        mr_leave(thread);
    }
    __libc_free(room);
}

/* The comparison has no context: it is the context. */
static int compare_without(const void *a, const void *b, void *compare)
{
    return ((__compar_fn_t)compare)(a, b);
}

MR_EXPORT void qsort(void *base, size_t count, size_t size, __compar_fn_t compare)
{
    if (mr_self == NULL) {
        MR_REAL(qsort)(base, count, size, compare);
        return;
    }
    sort(base, count, size, &(order){compare_without, (void *)compare}, MR_CALLER);
}

MR_EXPORT void qsort_r(void *base, size_t count, size_t size, __compar_d_fn_t compare,
                       void *context)
{
    if (mr_self == NULL) {
        MR_REAL(qsort_r)(base, count, size, compare, context);
        return;
    }
    sort(base, count, size, &(order){compare, context}, MR_CALLER);
}
