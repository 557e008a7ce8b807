/* Each connection has a thread, which counts it and closes it. Predicted from every order, also when
 * the connections come one after the other: a number that another thread gave back rests for a
 * while, so the two do not get the same one. */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

static int served;

static void *serve(void *socket)
{
    served++;
    close((int)(intptr_t)socket);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        int one = socket(AF_UNIX, SOCK_STREAM, 0);
        if (one < 0) {
            return 1;
        }
        pthread_create(&threads[i], NULL, serve, (void *)(intptr_t)one);
        for (int j = 0; j < 20; j++) {
            sched_yield();
        }
    }
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
