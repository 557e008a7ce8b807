/* One thread takes blocks, another releases them: 400 MB in all, of which there are 64 blocks at a time. And 3000 threads, one
 * after the other, each with 1 MB of its own. Prints the memory that was used at most, in MB. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { BLOCKS = 400000, BYTES = 1000, ROOM = 64, THREADS = 3000, PARTS = 1000 };

static void *blocks[ROOM], *result;
static int first, last;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, room = PTHREAD_COND_INITIALIZER;

static void *give(void *unused)
{
    for (int i = 0; i < BLOCKS; i++) {
        void *block = malloc(BYTES);
        memset(block, 1, BYTES);
        pthread_mutex_lock(&mutex);
        while (last - first == ROOM)
            pthread_cond_wait(&room, &mutex);
        blocks[last++ % ROOM] = block;
        pthread_cond_signal(&more);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void *take(void *unused)
{
    for (int i = 0; i < BLOCKS; i++) {
        pthread_mutex_lock(&mutex);
        while (last == first)
            pthread_cond_wait(&more, &mutex);
        void *block = blocks[first++ % ROOM];
        pthread_cond_signal(&room);
        pthread_mutex_unlock(&mutex);
        free(block);
    }
    return unused;
}

static void *work(void *unused)
{
    void *parts[PARTS];
    for (int i = 0; i < PARTS; i++)
        memset(parts[i] = malloc(BYTES), 1, BYTES);
    for (int i = 0; i < PARTS; i++)
        free(parts[i]);
    result = strdup("done");
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    struct rusage usage;
    pthread_create(&threads[0], NULL, give, NULL);
    pthread_create(&threads[1], NULL, take, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[0], NULL, work, NULL);
        pthread_join(threads[0], NULL);
    }
    getrusage(RUSAGE_SELF, &usage);
    printf("%ld\n", usage.ru_maxrss / 1024);
}
