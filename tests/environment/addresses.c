/* Each thread takes, enlarges and releases memory by its own random numbers; prints the addresses of all of it, of the stacks
 * and of thread-local variables. They do not depend on the order of the threads. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { THREADS = 4, ROUNDS = 400, KEPT = 8, MAPPED = 10000 };

static struct {
    void *seen[ROUNDS], *stack, *local;
} of[THREADS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int turns;
static __thread int local;

static void *map(int round)
{
    char *mapped = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(mapped, 1, MAPPED);
    if (round % 2 == 0)
        mapped = mremap(mapped, MAPPED, 8 * MAPPED, MREMAP_MAYMOVE);
    if (mapped[MAPPED - 1] != 1)
        abort();
    if (round % 3 == 0)
        munmap(mapped, (round % 2 == 0 ? 8 : 1) * MAPPED);
    return mapped;
}

static char *take(int round, size_t bytes)
{
    void *block = NULL;
    if (round % 7 == 0)
        posix_memalign(&block, 256, bytes);
    else if (round % 5 == 0)
        block = calloc(1, bytes);
    else
        block = malloc(bytes);
    for (size_t i = 0; round % 5 == 0 && round % 7 != 0 && i < bytes; i += 64)
        if (((char *)block)[i] != 0)
            abort();
    return block;
}

static void *work(void *argument)
{
    long me = (long)argument;
    unsigned random = 12345 + (unsigned)me;
    char *kept[KEPT] = {NULL};
    of[me].stack = &me;
    of[me].local = &local;
    for (int i = 0; i < ROUNDS; i++) {
        random = random * 1103515245 + 12345;
        size_t bytes = 1 + (random >> 16) % (i % 20 == 0 ? 900000 : 700);
        char **block = &kept[(random >> 8) % KEPT];
        if (i % 17 == 0) {
            of[me].seen[i] = map(i);
        } else {
            if (*block && (random & 1) != 0) {
                char first = **block;
                char *longer = realloc(*block, bytes);
                if (longer == NULL || *longer != first)
                    abort();
                *block = longer;
            } else {
                free(*block);
                *block = take(i, bytes);
            }
            memset(*block, i, bytes);
            of[me].seen[i] = *block;
        }
        pthread_mutex_lock(&mutex);
        turns++;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        printf("%p %p %#lx\n", of[i].stack, of[i].local, (unsigned long)threads[i]);
        for (int j = 0; j < ROUNDS; j++)
            printf("%p\n", of[i].seen[j]);
    }
}
