/* Race on x: nobody waits for the detached thread. Predicted when it runs before the program ends,
 * which sleep makes likely: in every schedule but os. */
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static sem_t done;
static int x;

static void *work(void *unused)
{
    x = 1;
    sem_post(&done);
    return unused;
}

int main(void)
{
    pthread_t thread;
    sem_init(&done, 0, 0);
    pthread_create(&thread, NULL, work, NULL);
    pthread_detach(thread);
    usleep(1000);
    return x > 1;
}
