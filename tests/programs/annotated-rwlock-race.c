/* A reader and a writer under a mutex that the recording is told to ignore. Predicted from every order. */
#include <pthread.h>

void AnnotateIgnoreSyncBegin(const char *file, int line);
void AnnotateIgnoreSyncEnd(const char *file, int line);

static pthread_rwlock_t hidden = PTHREAD_RWLOCK_INITIALIZER;
static int value;

static void take(int writes)
{
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    if (writes)
        pthread_rwlock_wrlock(&hidden);
    else
        pthread_rwlock_rdlock(&hidden);
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
}

static void give_back(void)
{
    pthread_rwlock_unlock(&hidden);
}

static void *reader(void *unused)
{
    take(0);
    int seen = value;
    give_back();
    return seen < 0 ? unused : NULL;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&one, NULL, reader, NULL);
    pthread_create(&two, NULL, reader, NULL);
    take(1);
    value++;
    give_back();
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
