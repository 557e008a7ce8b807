/* No race: a thread polls a pipe with a limit when another thread makes the child that writes to it. The child has the time for that. */
#include <poll.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static int ends[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t known = PTHREAD_COND_INITIALIZER;
static int result = -1;

static void *wait_for_child(void *unused)
{
    enum { LIMIT_MS = 20000 };
    struct pollfd one = {.fd = ends[0], .events = POLLIN};
    int ready = poll(&one, 1, LIMIT_MS);
    pthread_mutex_lock(&lock);
    result = ready;
    pthread_cond_signal(&known);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t thread;
    const struct timespec moment = {0, 1000000}, while_others_wait = {0, 100000000};
    if (pipe(ends) != 0) {
        return 1;
    }
    pthread_create(&thread, NULL, wait_for_child, NULL);
    nanosleep(&moment, NULL);
    if (fork() == 0) {
        nanosleep(&while_others_wait, NULL);
        _exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
    }
    pthread_mutex_lock(&lock);
    while (result < 0) {
        pthread_cond_wait(&known, &lock);
    }
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return result == 1 ? 0 : 1;
}
