/* No race: who gets the second byte of a socket comes after who got the first one, who comes after x = 1. */
#include <pthread.h>
#include <semaphore.h>
#include <sys/socket.h>
#include <unistd.h>

static const char first_byte = 'a', second_byte = 'b';
static int ends[2];
static sem_t written;
static int x;

static void *one(void *unused)
{
    char byte;
    sem_wait(&written);
    return read(ends[0], &byte, 1) == 1 ? unused : &x;
}

static void *two(void *unused)
{
    char byte;
    usleep(1000);
    if (read(ends[0], &byte, 1) == 1 && byte == second_byte) {
        x++;
    }
    return unused;
}

int main(void)
{
    pthread_t first, second;
    sem_init(&written, 0, 0);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || write(ends[1], &first_byte, 1) != 1 ||
        write(ends[1], &second_byte, 1) != 1) {
        return 1;
    }
    pthread_create(&first, NULL, one, NULL);
    pthread_create(&second, NULL, two, NULL);
    x = 1;
    sem_post(&written);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
