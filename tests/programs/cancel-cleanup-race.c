/* Race on cleaned: a thread is cancelled in a wait on a condition variable of several processes. What cleans up waits for a
 * semaphore, and then counts beside the main thread. Predicted from every order.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>

static pthread_mutex_t waiting = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never;
static sem_t entered, began, may_end;
static int cleaned;

static void clean(void *unused)
{
    (void)unused;
    sem_post(&began);
    sem_wait(&may_end);
    cleaned++;
}

static void leave(void *mutex)
{
    pthread_mutex_unlock(mutex);
}

static void *in_wait(void *unused)
{
    pthread_cleanup_push(clean, NULL);
    pthread_mutex_lock(&waiting);
    pthread_cleanup_push(leave, &waiting);
    sem_post(&entered);
    for (;;) {
        pthread_cond_wait(&never, &waiting);
    }
    pthread_cleanup_pop(1);
    pthread_cleanup_pop(1);
    return unused;
}

int main(void)
{
    pthread_t threads[1];
    pthread_condattr_t shared;
    pthread_condattr_init(&shared);
    pthread_condattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&never, &shared);
    sem_init(&entered, 0, 0);
    sem_init(&began, 0, 0);
    sem_init(&may_end, 0, 0);
    pthread_create(&threads[0], NULL, in_wait, NULL);
    sem_wait(&entered);
    for (int i = 0; i < 50; i++) {
        sched_yield(); /* now they wait */
    }
    for (int i = 0; i < 1; i++) {
        pthread_cancel(threads[i]);
        sem_wait(&began);
    }
    sem_post(&may_end);
    cleaned++;
    for (int i = 0; i < 1; i++) {
        void *result;
        pthread_join(threads[i], &result);
        if (result != PTHREAD_CANCELED) {
            abort();
        }
    }
    return cleaned == 2 ? 0 : 1;
}
