/* Race on done: what the other thread writes is read before the join. The counter of the processor's ticks, which programs read
 * without a call, counts the time that sleeps take. Predicted from every order. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;

static uint64_t ticks(void)
{
#if defined(__x86_64__)
    uint32_t low, high;
    __asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
#else
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
#endif
}

/* The same, as the compiler has it. */
static uint64_t ticks_of_compiler(void)
{
#if defined(__x86_64__)
    unsigned processor;
    uint64_t first = __rdtsc(), second = __rdtscp(&processor);
    assert(first <= second);
    return second;
#else
    return ticks();
#endif
}

static void *work(void *unused)
{
    uint64_t start = ticks();
    while (ticks() - start < 100000) {
        sched_yield();
    }
    pthread_mutex_lock(&lock);
    done++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    uint64_t start = ticks();
    usleep(100000);
    uint64_t middle = ticks_of_compiler();
    usleep(200000);
    uint64_t end = ticks();
    double once = (double)(middle - start), twice = (double)(end - middle);
    assert(twice > once && twice < 3 * once);
    int seen = done;
    pthread_join(thread, NULL);
    return seen > 1;
}
