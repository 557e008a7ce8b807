/* Race on gate: destroyed by the thread that came last, while the other may still be in its wait.
 * Predicted from every order. */
#include <pthread.h>

static pthread_barrier_t gate;

static void *work(void *unused)
{
    if (pthread_barrier_wait(&gate) == PTHREAD_BARRIER_SERIAL_THREAD) {
        pthread_barrier_destroy(&gate);
    }
    return unused;
}

int main(void)
{
    pthread_t other;
    pthread_barrier_init(&gate, NULL, 2);
    pthread_create(&other, NULL, work, NULL);
    work(NULL);
    pthread_join(other, NULL);
    return 0;
}
