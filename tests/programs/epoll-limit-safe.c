/* No race: a limit that is no time is an error of the call, which does not wait. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <time.h>

static int set;

static int is_refused(const struct timespec *limit)
{
    struct epoll_event event;
    errno = 0;
    return epoll_pwait2(set, &event, 1, limit, NULL) == -1 && errno == EINVAL;
}

static void *wait_wrongly(void *result)
{
    const struct timespec before = {-1, 0}, too_long = {0, 2000000000};
    *(int *)result = is_refused(&before) && is_refused(&too_long);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int refused = 0;
    set = epoll_create1(0);
    pthread_create(&thread, NULL, wait_wrongly, &refused);
    pthread_join(thread, NULL);
    return refused ? 0 : 1;
}
