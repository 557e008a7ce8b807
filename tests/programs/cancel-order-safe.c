/* No race: pthread_cancel orders what its caller did before what the cancelled threads clean up, whichever
 * wait it ends. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 5 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, kept = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t none;
static int reason, entered, ends[2];

static void clean(void *seen)
{
    *(int *)seen = reason;
}

static void unlock(void *unused)
{
    (void)unused;
    pthread_mutex_unlock(&lock);
}

static void wait_for_ever(int how)
{
    char byte;
    pthread_mutex_lock(&lock);
    entered++;
    if (how == 0) {
        pthread_cleanup_push(unlock, NULL);
        pthread_cond_wait(&never, &lock);
        pthread_cleanup_pop(0);
    }
    pthread_mutex_unlock(&lock);
    if (how == 1) {
        sem_wait(&none);
    } else if (how == 2) {
        read(ends[0], &byte, 1);
    }
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    if (how == 3) {
        pthread_mutex_lock(&kept);
    }
    for (;;) {
        __asm__ volatile("");
    }
}

static void *work(void *argument)
{
    int seen = 0;
    pthread_cleanup_push(clean, &seen);
    wait_for_ever(*(int *)argument);
    pthread_cleanup_pop(1);
    return argument;
}

static int all_entered(void)
{
    pthread_mutex_lock(&lock);
    int count = entered;
    pthread_mutex_unlock(&lock);
    return count == THREADS;
}

int main(void)
{
    pthread_t threads[THREADS];
    int hows[THREADS];
    sem_init(&none, 0, 0);
    if (pipe(ends) != 0) {
        abort();
    }
    pthread_mutex_lock(&kept);
    for (int i = 0; i < THREADS; i++) {
        hows[i] = i;
        pthread_create(&threads[i], NULL, work, &hows[i]);
    }
    while (!all_entered()) {
        sched_yield();
    }
    reason = 1;
    for (int i = 0; i < THREADS; i++) {
        pthread_cancel(threads[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        if (result != PTHREAD_CANCELED) {
            abort();
        }
    }
    pthread_mutex_unlock(&kept);
    return 0;
}
