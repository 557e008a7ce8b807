/* Race on word: a thread writes it before it prints, the other one after it has. Who prints first allocates the stream's buffer, in the
 * recording another one than in the replay. */
#include <pthread.h>
#include <stdio.h>

int word;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void take_turn(void)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

static void *first(void *unused)
{
    word = 1;
    printf("first\n");
    take_turn();
    return unused;
}

static void *second(void *unused)
{
    printf("second\n");
    take_turn();
    word = 2;
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
