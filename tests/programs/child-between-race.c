/* A child has both ends of a pipe and does nothing with it: the byte that a thread reads there comes from the other thread, which writes
 * the variable after that. Predicted from every order. */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[2], shared;

static void *learn(void *unused)
{
    char byte;
    read(ends[0], &byte, 1);
    shared = 1;
    return unused;
}

static void *cause(void *unused)
{
    write(ends[1], "a", 1);
    shared = 2;
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pipe(ends);
    pid_t child = fork();
    while (child == 0)
        pause();
    pthread_create(&first, NULL, learn, NULL);
    pthread_create(&second, NULL, cause, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return 0;
}
