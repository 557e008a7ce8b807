/* A signal interrupts a thread that ignores writes; the write of its handler is none of these, and races. Predicted from every order. */
#include <pthread.h>
#include <signal.h>

void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);

static int message, ignored;

static void send(int number)
{
    message = number;
}

static void *ignoring(void *unused)
{
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    raise(SIGUSR1);
    ignored = 1;
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    return unused;
}

int main(void)
{
    pthread_t thread;
    signal(SIGUSR1, send);
    pthread_create(&thread, NULL, ignoring, NULL);
    ignored = 2;
    int got = message;
    pthread_join(thread, NULL);
    return got > SIGUSR1;
}
