/* The worker writes under the lock under which main says that the page is closed. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>

enum { BYTES = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int closed;

static void *work(void *page)
{
    pthread_mutex_lock(&lock);
    if (!closed) {
        *(int *)page = 1;
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t worker;
    int *page = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *page = 0;
    pthread_create(&worker, NULL, work, page);
    pthread_mutex_lock(&lock);
    closed = 1;
    pthread_mutex_unlock(&lock);
    munmap(page, BYTES);
    return pthread_join(worker, NULL);
}
