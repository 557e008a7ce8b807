/* No error: a static annotated lock that is destroyed while it is held, locks in memory that is used
 * again, one that is held while a child is forked, and a recursive one. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void __tsan_mutex_create(void *lock, unsigned flags);
void __tsan_mutex_destroy(void *lock, unsigned flags);
void __tsan_mutex_pre_lock(void *lock, unsigned flags);
void __tsan_mutex_post_lock(void *lock, unsigned flags, int recursion);
int __tsan_mutex_pre_unlock(void *lock, unsigned flags);
void __tsan_mutex_post_unlock(void *lock, unsigned flags);

enum { LINKER_INIT = 1, WRITE_REENTRANT = 2, READ = 8, NOT_STATIC = 256 };

static int fixed, last;

static void take(int *lock, unsigned flags)
{
    __tsan_mutex_pre_lock(lock, flags);
    __tsan_mutex_post_lock(lock, flags, 1);
}

static void give_back(int *lock, unsigned flags)
{
    __tsan_mutex_pre_unlock(lock, flags);
    __tsan_mutex_post_unlock(lock, flags);
}

/* The lock goes with its memory. */
static void *take_new(void *unused)
{
    int *block = malloc(100000);
    take(block, 0);
    free(block);
    return unused;
}

int main(void)
{
    int status = 0;
    pthread_t thread;
    __tsan_mutex_create(&fixed, LINKER_INIT);
    take(&fixed, 0);
    __tsan_mutex_destroy(&fixed, 0);
    give_back(&fixed, 0);
    __tsan_mutex_create(&last, WRITE_REENTRANT);
    take(&last, 0);
    take(&last, 0);
    take(&last, READ);
    give_back(&last, READ);
    give_back(&last, 0);
    __tsan_mutex_destroy(&last, NOT_STATIC); /* held, but it may be static */
    for (int i = 0; i < 2; i++) {
        pthread_create(&thread, NULL, take_new, NULL);
        pthread_join(thread, NULL);
    }
    if (fork() == 0) {
        give_back(&last, 0);
        _exit(0);
    }
    give_back(&last, 0);
    wait(&status);
    return status;
}
