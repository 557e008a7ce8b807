/* Race on value: children that clone makes end and run other programs while their parent waits for them
 * (CLONE_VFORK). They share its memory, and the recording goes on after each. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RETURNS, EXITS, EXECS, WAYS };

static int value, told;

static int in_child(void *way)
{
    told = 7;
    if (*(int *)way == EXITS)
        _exit(4);
    if (*(int *)way == EXECS)
        execl("/bin/sh", "sh", "-c", "exit 4", (char *)NULL);
    return 4;
}

static void *work(void *unused)
{
    value++;
    return unused;
}

int main(void)
{
    static _Alignas(16) char stack[1 << 16];
    pthread_t thread;
    int status;
    for (int way = RETURNS; way < WAYS; way++) {
        told = 0;
        pid_t child = clone(in_child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &way);
        if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 4 || told != 7)
            abort();
    }
    pthread_create(&thread, NULL, work, NULL);
    value++;
    pthread_join(thread, NULL);
    return value == 0;
}
