/* No race: a robust mutex that a thread holds at its end is the next one's, also when that waits for it in another process. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_SECONDS = 20 };
static pthread_mutex_t *lock;
static int held[2], awaited[2];

static void tell(const int ends[2])
{
    if (write(ends[1], "a", 1) != 1) {
        _exit(2);
    }
}

static void await(const int ends[2])
{
    char byte;
    if (read(ends[0], &byte, 1) != 1) {
        _exit(3);
    }
}

static void *hold(void *unused)
{
    pthread_mutex_lock(lock);
    tell(held);
    await(awaited);
    return unused; /* holds it */
}

/* In a process of its own. */
static int take(void)
{
    alarm(LIMIT_SECONDS);
    await(held);
    return pthread_mutex_lock(lock) == EOWNERDEAD ? 0 : 1;
}

/* In another one: tells when the first one waits. */
static int watch(void)
{
    alarm(LIMIT_SECONDS);
    while (((unsigned)__atomic_load_n(&lock->__data.__lock, __ATOMIC_RELAXED) & FUTEX_WAITERS) ==
           0) {
        usleep(1000);
    }
    tell(awaited);
    return 0;
}

static pid_t start(int (*function)(void))
{
    pid_t child = fork();
    if (child == 0) {
        _exit(function());
    }
    return child;
}

static int end_of(pid_t child)
{
    int status;
    return waitpid(child, &status, 0) == child ? status : 1;
}

int main(void)
{
    pthread_mutexattr_t shared;
    pthread_t thread;
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setrobust(&shared, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    lock = mmap(NULL, sizeof *lock, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (lock == MAP_FAILED || pthread_mutex_init(lock, &shared) != 0 || pipe(held) != 0 ||
        pipe(awaited) != 0) {
        return 1;
    }
    pid_t taker = start(take), watcher = start(watch);
    if (pthread_create(&thread, NULL, hold, NULL) != 0) {
        return 1;
    }
    pthread_join(thread, NULL);
    return end_of(watcher) != 0 || end_of(taker) != 0;
}
