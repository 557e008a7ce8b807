/* Race on x, beside a child process that is not recorded. Predicted from every order. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static int x;

static void *work(void *unused)
{
    x++;
    return unused;
}

int main(void)
{
    pthread_t thread;
    int status = 0;
    pthread_create(&thread, NULL, work, NULL);
    pid_t child = fork();
    if (child == 0) {
        x = 40;
        _exit(x + 2);
    }
    x++;
    waitpid(child, &status, 0);
    pthread_join(thread, NULL);
    return WEXITSTATUS(status) == 42 ? 0 : 1;
}
