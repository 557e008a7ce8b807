/* No race: the program has a malloc of its own, with a lock, and glibc calls it before a thread runs code of the program. */
#include <pthread.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 20 };

static alignas(16) unsigned char room[ROOM];
static size_t used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *malloc(size_t bytes)
{
    size_t whole = (bytes + 31) & ~(size_t)15; /* with its size before it */
    void *block = NULL;
    pthread_mutex_lock(&lock);
    if (whole <= ROOM - used) {
        size_t *size = (size_t *)(void *)(room + used);
        *size = bytes;
        block = room + used + 16;
        used += whole;
    }
    pthread_mutex_unlock(&lock);
    return block;
}

void free(void *block)
{
    (void)block;
}

void *calloc(size_t count, size_t bytes)
{
    return malloc(count * bytes); /* of zeros */
}

void *realloc(void *block, size_t bytes)
{
    void *other = malloc(bytes);
    size_t old = block == NULL ? 0 : *(size_t *)(void *)((unsigned char *)block - 16);
    if (other != NULL && block != NULL) {
        memcpy(other, block, old < bytes ? old : bytes);
    }
    return other;
}

static void *work(void *unused)
{
    for (int i = 0; i < 3; i++) {
        int *number = malloc(sizeof *number);
        if (number != NULL) {
            *number = i;
        }
        free(number);
    }
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
