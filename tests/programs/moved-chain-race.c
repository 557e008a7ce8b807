/* Race on x: it is written after the bytes that another thread moves on. Predicted from every order. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static int first[2], second[2];
static int x;

static void *move(void *unused)
{
    splice(first[0], NULL, second[1], NULL, 2, 0);
    return unused;
}

static void *send(void *unused)
{
    write(first[1], "ab", 2);
    x = 1;
    return unused;
}

int main(void)
{
    char bytes[2];
    pthread_t mover, sender;
    pipe(first);
    pipe(second);
    pthread_create(&mover, NULL, move, NULL);
    pthread_create(&sender, NULL, send, NULL);
    read(second[0], bytes, sizeof bytes);
    x++;
    pthread_join(mover, NULL);
    pthread_join(sender, NULL);
    return 0;
}
