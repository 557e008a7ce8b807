/* Fails when the reader comes between the two writes, and another writer has been through before. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int first, second, rounds;

static void *write_both(void *unused)
{
    pthread_mutex_lock(&lock);
    first = ++rounds;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    second = first;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *read_both(void *unused)
{
    pthread_mutex_lock(&lock);
    int one = first, two = second;
    pthread_mutex_unlock(&lock);
    assert(one != 3 || two != 1);
    return unused;
}

int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, i < 3 ? write_both : read_both, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
