/* A block is freed while writes are ignored, beside a read of another thread: the program says that it is no race. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);

static int seen, done;

static void *other(void *block)
{
    seen = *(int *)block;
    __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int *block = calloc(4, sizeof *block);
    pthread_create(&thread, NULL, other, block);
    while (!__atomic_load_n(&done, __ATOMIC_RELAXED))
        sched_yield();
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    free(block);
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    pthread_join(thread, NULL);
    return seen;
}
