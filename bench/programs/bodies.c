/* Bodies that attract each other; the threads wait for each other at a barrier in every step. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>

enum { BODIES = 64, STEPS = 60, THREADS = 2 };
static double at[BODIES][3], speed[BODIES][3];
static pthread_barrier_t gate;

static void pull(int i)
{
    for (int j = 0; j < BODIES; j++) {
        double d[3], square = 0.01;
        for (int k = 0; k < 3; k++) {
            d[k] = at[j][k] - at[i][k];
            square += d[k] * d[k];
        }
        for (int k = 0; k < 3; k++)
            speed[i][k] += 0.001 * d[k] / (square * sqrt(square));
    }
}

static void *run(void *argument)
{
    int first = (int)(long)argument * BODIES / THREADS, end = first + BODIES / THREADS;
    for (int step = 0; step < STEPS; step++) {
        for (int i = first; i < end; i++)
            pull(i);
        pthread_barrier_wait(&gate);
        for (int i = first; i < end; i++)
            for (int k = 0; k < 3; k++)
                at[i][k] += 0.01 * speed[i][k];
        pthread_barrier_wait(&gate);
    }
    return NULL;
}

int main(void)
{
    pthread_t other;
    for (int i = 0; i < BODIES; i++)
        for (int k = 0; k < 3; k++)
            at[i][k] = (i * 7 + k * 13) % 29;
    pthread_barrier_init(&gate, NULL, THREADS);
    pthread_create(&other, NULL, run, (void *)1);
    run(0);
    pthread_join(other, NULL);
    printf("%g\n", at[0][0]);
    return 0;
}
