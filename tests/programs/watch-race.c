/* Race on x and y: written after epoll_ctl has asked for the event. Predicted from every order. */
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <unistd.h>

static int set, ends[2];
static sem_t found;
static int x, y;

static void ask(int what, int *wanted)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data = {.ptr = wanted}};
    epoll_ctl(set, what, ends[0], &event);
}

static void *one(void *unused)
{
    ask(EPOLL_CTL_ADD, &x);
    x = 1;
    sem_wait(&found);
    ask(EPOLL_CTL_MOD, &y);
    y = 1;
    return unused;
}

static void *two(void *unused)
{
    struct epoll_event event;
    for (int i = 0; i < 2; i++) {
        if (epoll_wait(set, &event, 1, -1) == 1) {
            ++*(int *)event.data.ptr;
        }
        sem_post(&found);
    }
    return unused;
}

int main(void)
{
    pthread_t first, second;
    set = epoll_create1(0);
    if (pipe(ends) != 0 || write(ends[1], "a", 1) != 1) {
        return 1;
    }
    sem_init(&found, 0, 0);
    pthread_create(&first, NULL, one, NULL);
    pthread_create(&second, NULL, two, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
