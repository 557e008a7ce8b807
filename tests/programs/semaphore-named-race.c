/* Race on item: the producer writes the next item without waiting for room. Predicted from every
 * order. */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static sem_t *room, *items;
static int item, sum;

static void *produce(void *unused)
{
    for (int i = 0; i < 3; i++) {
        item = i;
        sem_post(items);
    }
    return unused;
}

static void *consume(void *unused)
{
    for (int i = 0; i < 3; i++) {
        sem_wait(items);
        sum += item;
        sem_post(room);
    }
    return unused;
}

/* Other processes may run this program, too. */
static sem_t *make(const char *name, unsigned value)
{
    sem_t *made = SEM_FAILED;
    for (int tries = 0; made == SEM_FAILED && tries < 1000; tries++) {
        made = sem_open(name, O_CREAT | O_EXCL, 0600, value);
        if (made == SEM_FAILED) {
            usleep(1000);
        }
    }
    sem_unlink(name);
    return made;
}

int main(void)
{
    pthread_t first, second;
    room = make("/maxrace-test-room", 1);
    items = make("/maxrace-test-items", 0);
    if (room == SEM_FAILED || items == SEM_FAILED) {
        return 1;
    }
    pthread_create(&first, NULL, produce, NULL);
    pthread_create(&second, NULL, consume, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    sem_close(room);
    sem_close(items);
    return 0;
}
