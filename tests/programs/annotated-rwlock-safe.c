/* Readers and a writer under a lock that is only annotations around a mutex that is not to be seen. */
#include <pthread.h>

void AnnotateRWLockCreate(const char *file, int line, const volatile void *lock);
void AnnotateRWLockDestroy(const char *file, int line, const volatile void *lock);
void AnnotateRWLockAcquired(const char *file, int line, const volatile void *lock, long writes);
void AnnotateRWLockReleased(const char *file, int line, const volatile void *lock, long writes);
void AnnotateIgnoreSyncBegin(const char *file, int line);
void AnnotateIgnoreSyncEnd(const char *file, int line);

static pthread_rwlock_t hidden = PTHREAD_RWLOCK_INITIALIZER;
static int shown, value;

static void take(int writes)
{
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    if (writes)
        pthread_rwlock_wrlock(&hidden);
    else
        pthread_rwlock_rdlock(&hidden);
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
    AnnotateRWLockAcquired(__FILE__, __LINE__, &shown, writes);
}

static void give_back(int writes)
{
    AnnotateRWLockReleased(__FILE__, __LINE__, &shown, writes);
    pthread_rwlock_unlock(&hidden);
}

static void *reader(void *unused)
{
    take(0);
    int seen = value;
    give_back(0);
    return seen < 0 ? unused : NULL;
}

int main(void)
{
    pthread_t one, two;
    AnnotateRWLockCreate(__FILE__, __LINE__, &shown);
    pthread_create(&one, NULL, reader, NULL);
    pthread_create(&two, NULL, reader, NULL);
    take(1);
    value++;
    give_back(1);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    AnnotateRWLockDestroy(__FILE__, __LINE__, &shown);
    return 0;
}
