/* No race: clone makes a process of its own, which is not recorded. It locks and writes what a
 * thread of its parent does, too. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value;

static int in_child(void *fds)
{
    close(((int *)fds)[0]);
    value += 7;
    pthread_mutex_unlock(&lock); /* as the parent held it */
    pthread_mutex_lock(&lock);
    return write(((int *)fds)[1], &value, sizeof value) == sizeof value ? 5 : 1;
}

static void *work(void *unused)
{
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&lock);
        value += 0;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    static _Alignas(16) char stack[1 << 16];
    pthread_t thread;
    int fds[2], got = 0, status;
    pthread_create(&thread, NULL, work, NULL);
    if (pipe(fds) != 0)
        abort();
    pthread_mutex_lock(&lock);
    pid_t child = clone(in_child, stack + sizeof stack, SIGCHLD, fds);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL); /* so what follows does not depend on when the child is done */
    if (read(fds[0], &got, sizeof got) != sizeof got || waitpid(child, &status, 0) != child)
        abort();
    return got != 7 || value != 0 || WEXITSTATUS(status) != 5;
}
