/* Bytes are written in two steps, and who gets the first of them changes what the second ones are written from. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

static int from[2], to[2];
static char bytes[8];

static void *send_all(void *unused)
{
    struct iovec rest = {bytes + 4, 4};
    write(from[1], bytes, 4);
    writev(from[1], &rest, 1);
    return unused;
}

static void *receive_some(void *unused)
{
    splice(from[0], NULL, to[1], NULL, 4, 0);
    bytes[6] = 'x';
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pipe(from);
    pipe(to);
    pthread_create(&first, NULL, send_all, NULL);
    pthread_create(&second, NULL, receive_some, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
