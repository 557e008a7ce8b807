/* No race: count is thread-local. */
#include <pthread.h>

static _Thread_local int count;
static int *volatile where;

static void *work(void *result)
{
    for (int i = 0; i < 3; i++) {
        count++;
    }
    *(int *)result = count;
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    int results[2];
    where = &count;
    pthread_create(&first, NULL, work, &results[0]);
    pthread_create(&second, NULL, work, &results[1]);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return *where > 6;
}
