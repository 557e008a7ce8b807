/* Handlers of pthread_atfork: the child's are not recorded, the parent's are, though both run at
 * the same time. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FORKS = 3, STEPS = 2000 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long many[64];

static void work(void)
{
    for (int i = 0; i < STEPS; i++)
        many[i % 64] += i;
}

static void *run(void *unused)
{
    for (int i = 0; i < FORKS; i++) {
        int status;
        pthread_mutex_lock(&lock);
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        if (waitpid(child, &status, 0) != child || status)
            abort();
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t other;
    pthread_atfork(NULL, work, work);
    pthread_create(&other, NULL, run, NULL);
    run(NULL);
    pthread_join(other, NULL);
    return many[1] == 0;
}
