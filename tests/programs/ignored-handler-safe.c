/* No race: a signal interrupts a thread that ignores synchronisation, and its handler hands over what it has written. */
#include <pthread.h>
#include <signal.h>

void AnnotateIgnoreSyncBegin(const char *file, int line);
void AnnotateIgnoreSyncEnd(const char *file, int line);

static int message, is_there;

static void send(int number)
{
    message = number;
    __atomic_store_n(&is_there, 1, __ATOMIC_RELEASE);
}

static void *ignoring(void *unused)
{
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    raise(SIGUSR1);
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
    return unused;
}

int main(void)
{
    pthread_t thread;
    signal(SIGUSR1, send);
    pthread_create(&thread, NULL, ignoring, NULL);
    while (!__atomic_load_n(&is_there, __ATOMIC_ACQUIRE)) {
    }
    int got = message;
    pthread_join(thread, NULL);
    return got == SIGUSR1 ? 0 : 1;
}
