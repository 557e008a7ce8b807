/* No race: memory holds an atomic counter first, which is also read byte by byte, and a condition variable later. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static union {
    _Atomic long count;
    unsigned char bytes[sizeof(long)];
    pthread_cond_t ready;
} memory;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int stage, seen;

static void *count(void *none)
{
    atomic_fetch_add(&memory.count, 1);
    return none;
}

static void *wait_for_stages(void *none)
{
    pthread_mutex_lock(&mutex);
    while (stage < 3) {
        pthread_cond_wait(&memory.ready, &mutex);
        seen++;
    }
    pthread_mutex_unlock(&mutex);
    return none;
}

static void in_two(void *(*one)(void *), void *(*other)(void *))
{
    pthread_t first, second;
    pthread_create(&first, NULL, one, NULL);
    pthread_create(&second, NULL, other, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
}

static void *next_stages(void *none)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&mutex);
        stage++;
        pthread_cond_broadcast(&memory.ready);
        pthread_mutex_unlock(&mutex);
    }
    return none;
}

int main(void)
{
    in_two(count, count);
    int sum = 0;
    for (size_t i = 0; i < sizeof memory.bytes; i++)
        sum += memory.bytes[i];
    pthread_cond_init(&memory.ready, NULL);
    in_two(wait_for_stages, next_stages);
    return sum != 2;
}
