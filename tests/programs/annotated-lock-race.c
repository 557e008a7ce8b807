/* A lock of the program's own, annotated: one thread writes after an empty section of it. Predicted from every order. */
#include "annotated-lock.h"

static lock mutex;
static int counter;

static void *guarded(void *unused)
{
    take(&mutex);
    counter = 1;
    give_back(&mutex);
    return unused;
}

static void *late(void *unused)
{
    take(&mutex);
    give_back(&mutex);
    counter = 2;
    return unused;
}

int main(void)
{
    pthread_t one, two;
    __tsan_mutex_create(&mutex, 0);
    pthread_create(&one, NULL, guarded, NULL);
    pthread_create(&two, NULL, late, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
