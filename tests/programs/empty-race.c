/* A race: who finds nothing to read writes, in a section of `lock`; the other thread writes before its section. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2], x;

static void *look(void *unused)
{
    char byte;
    pthread_mutex_lock(&lock);
    if (read(ends[0], &byte, 1) < 0)
        x = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *fill(void *unused)
{
    x = 2;
    usleep(1000);
    pthread_mutex_lock(&lock);
    write(ends[1], "a", 1);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pipe2(ends, O_NONBLOCK);
    pthread_create(&first, NULL, look, NULL);
    pthread_create(&second, NULL, fill, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
