/* Race on the descriptor: written to by one thread, and closed by another. Predicted from every order. */
#include <pthread.h>
#include <unistd.h>

static int ends[2];

static void *writer(void *unused)
{
    return write(ends[1], "x", 1) < 0 ? unused : NULL;
}

static void *closer(void *unused)
{
    usleep(1000);
    close(ends[1]);
    return unused;
}

int main(void)
{
    pthread_t one, two;
    if (pipe(ends) != 0) {
        return 1;
    }
    pthread_create(&one, NULL, writer, NULL);
    pthread_create(&two, NULL, closer, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
