/* A thread that ignores synchronisation waits in a loop for another one, which still gets its turns. */
#include <pthread.h>

void AnnotateIgnoreSyncBegin(const char *file, int line);
void AnnotateIgnoreSyncEnd(const char *file, int line);

static int go, done;

static void *other(void *unused)
{
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
    }
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE)) {
    }
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    return 0;
}
