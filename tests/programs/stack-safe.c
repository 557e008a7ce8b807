/* No race: written after the join; the frames of the threads are at the same addresses. */
#include <pthread.h>

static void *add(void *sum)
{
    int steps[4] = {1, 2, 3, 4};
    for (int i = 0; i < 4; i++) {
        *(int *)sum += steps[i];
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int sum = 0;
    for (int round = 0; round < 2; round++) {
        pthread_create(&thread, NULL, add, &sum);
        pthread_join(thread, NULL);
        sum++;
    }
    return sum > 22;
}
