/* Race on count: a thread is cancelled in pause(), or before it. What cleans up counts beside the main thread. Predicted from every order. */
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static sem_t begun;
static int count;

static void clean(void *unused)
{
    (void)unused;
    count++;
}

static void *work(void *unused)
{
    pthread_cleanup_push(clean, NULL);
    sem_post(&begun);
    pause();
    pthread_cleanup_pop(0);
    return unused;
}

int main(void)
{
    pthread_t thread;
    sem_init(&begun, 0, 0);
    pthread_create(&thread, NULL, work, NULL);
    sem_wait(&begun);
    pthread_cancel(thread);
    count++;
    pthread_join(thread, NULL);
    return 0;
}
