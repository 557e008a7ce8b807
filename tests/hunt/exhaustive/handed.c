/* A block of memory is handed over by a semaphore and freed by the receiver.
 * behaviours: 1 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
static sem_t there;
static int *block;
static void *send(void *argument)
{
    int *mine = malloc(sizeof *mine);
    if (mine)
        *mine = 3;
    block = mine;
    sem_post(&there);
    return argument;
}
int main(void)
{
    pthread_t sender;
    sem_init(&there, 0, 0);
    pthread_create(&sender, NULL, send, NULL);
    sem_wait(&there);
    int got = block ? *block : 3;
    free(block);
    pthread_join(sender, NULL);
    return got != 3;
}
