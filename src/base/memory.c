#include "memory.h"

#include "assert.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* 0: never; 1: every allocation from now on. All threads count together. */
static _Atomic uint64_t fail_countdown;

bool mr_memory_fails(void)
{
    uint64_t left = atomic_load_explicit(&fail_countdown, memory_order_relaxed);
    /* A failed exchange reads anew what others have left. */
    while (left > 1 && !atomic_compare_exchange_weak(&fail_countdown, &left, left - 1))
        ;
    return left == 1;
}

void mr_memory_fail_after(uint64_t n)
{
    atomic_store(&fail_countdown, n);
}

void *mr_malloc(size_t fixed_bytes, size_t extra_bytes)
{
    if (mr_memory_fails() || extra_bytes > SIZE_MAX - fixed_bytes)
        return NULL;
    size_t size = fixed_bytes + extra_bytes;
    return malloc(size ? size : 1);
}

void *mr_calloc(size_t count, size_t size_bytes)
{
    if (mr_memory_fails())
        return NULL;
    return calloc(count ? count : 1, size_bytes ? size_bytes : 1);
}

void *mr_realloc(void *old, size_t count, size_t size_bytes)
{
    if (mr_memory_fails() || (size_bytes && count > SIZE_MAX / size_bytes))
        return NULL;
    size_t size = count * size_bytes;
    return realloc(old, size ? size : 1);
}

char *mr_strndup(const char *text, size_t length)
{
    char *copy = mr_malloc(length, 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

size_t mr_grown(size_t capacity, size_t need)
{
    size_t wanted = capacity < 8 ? 16 : capacity * 2;
    return wanted < need ? need : wanted;
}

bool mr_grow(void **array, size_t *capacity, size_t need, size_t size_bytes)
{
    MR_REQUIRE(*array || !*capacity);
    if (need <= *capacity)
        return true;
    size_t wanted = mr_grown(*capacity, need);
    void *grown = mr_realloc(*array, wanted, size_bytes);
    if (!grown)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

bool mr_u32s_push(mr_u32s *array, uint32_t item)
{
    MR_REQUIRE(array->count <= array->capacity);
    if (array->count == array->capacity) {
        void *items = array->items;
        if (!mr_grow(&items, &array->capacity, array->count + 1, sizeof item))
            return false;
        array->items = items;
    }
    array->items[array->count++] = item;
    return true;
}

void mr_u32s_free(mr_u32s *array)
{
    free(array->items);
    *array = (mr_u32s){0};
}

int mr_compare_u32(const void *one, const void *two)
{
    const uint32_t *x = one, *y = two;
    return (*x > *y) - (*x < *y);
}
