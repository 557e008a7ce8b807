/* Predicted from every order. As arguments-safe.c, and the caller reads the last number before the join. */
#include <pthread.h>
#include <stdarg.h>

enum { COUNT = 24 };

static void *add(void *number)
{
    *(long *)number += 1;
    return NULL;
}

static __attribute__((noinline)) long value_at(const long *number)
{
    return *number;
}

static __attribute__((noinline)) long share(void)
{
    long numbers[COUNT] = {0}, sum = 0;
    pthread_t thread;
    for (int i = 0; i < COUNT; i++) {
        pthread_create(&thread, NULL, add, &numbers[i]);
        if (i == COUNT - 1) {
            sum += value_at(&numbers[i]) > 1;
        }
        pthread_join(thread, NULL);
        sum += numbers[i];
    }
    return sum;
}

static __attribute__((noinline)) long sum_of(int count, ...)
{
    long sum = 0;
    va_list rest;
    va_start(rest, count);
    while (count-- > 0) {
        sum += va_arg(rest, long);
    }
    va_end(rest);
    return sum;
}

static __attribute__((noinline)) long difference(long a, long b)
{
    return value_at(&a) - value_at(&b);
}

int main(void)
{
    long sum = share();
    sum += sum_of(12, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L, 11L, 12L);
    sum += difference(77, 55);
    sum += share();
    return sum != 2 * COUNT + 78 + 22;
}
