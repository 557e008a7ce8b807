/* Race on x: the semaphore lets two in. Predicted from every order. */
#include <pthread.h>
#include <semaphore.h>

static sem_t door;
static int x;

static void *work(void *unused)
{
    sem_wait(&door);
    x++;
    sem_post(&door);
    return unused;
}

int main(void)
{
    pthread_t first, second;
    sem_init(&door, 0, 2);
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    sem_destroy(&door);
    return 0;
}
