/* Race on the cells: each thread reads its neighbour's before the barrier. Predicted from every
 * order. */
#include <pthread.h>

enum { THREADS = 3 };
static pthread_barrier_t all_here;
static int cells[THREADS], sums[THREADS];

static void *work(void *argument)
{
    long i = (long)argument;
    for (int round = 0; round < 2; round++) {
        cells[i] = round;
        sums[i] += cells[(i + 1) % THREADS];
        pthread_barrier_wait(&all_here);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&all_here, NULL, THREADS);
    for (long i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, work, (void *)i);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_barrier_destroy(&all_here);
    return 0;
}
