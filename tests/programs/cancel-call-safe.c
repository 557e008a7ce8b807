/* No race: threads that wait in calls are cancelled; they say so under a lock. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { THREADS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *last;
static int entered, ends[2], pair[2], listener;

static void *work(void *argument)
{
    char buffer[8];
    pthread_mutex_lock(&lock);
    entered++;
    last = argument;
    pthread_mutex_unlock(&lock);
    if (argument == &ends) {
        read(ends[0], buffer, sizeof buffer);
    } else if (argument == &pair) {
        recv(pair[0], buffer, sizeof buffer, 0);
    } else {
        accept(listener, NULL, NULL);
    }
    return argument;
}

static int all_entered(void)
{
    pthread_mutex_lock(&lock);
    int count = entered;
    pthread_mutex_unlock(&lock);
    return count == THREADS;
}

int main(void)
{
    pthread_t threads[THREADS];
    void *results[THREADS], *arguments[THREADS] = {&ends, &pair, &listener};
    static struct sockaddr_un nowhere = {.sun_family = AF_UNIX};
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 ||
        bind(listener, (struct sockaddr *)&nowhere, sizeof nowhere.sun_family) != 0 ||
        listen(listener, 1) != 0) {
        abort();
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, work, arguments[i]);
    }
    while (!all_entered()) {
        sched_yield();
    }
    for (int i = 0; i < 50; i++) {
        sched_yield(); /* now they are in their calls */
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_cancel(threads[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &results[i]);
        if (results[i] != PTHREAD_CANCELED) {
            abort();
        }
    }
    return 0;
}
