/* The program uses the memory of a stack that it has given, while the thread has a variable there. Predicted from every order. */
#include <pthread.h>
#include <stddef.h>

enum { BYTES = 1 << 18, ALIGNMENT = 4096 };

static char own[BYTES] __attribute__((aligned(ALIGNMENT)));
static int *there, is_read;

static void *work(void *unused)
{
    int local = 0;
    __atomic_store_n(&there, &local, __ATOMIC_RELEASE);
    for (int i = 0; i < 20; i++)
        local++;
    while (!__atomic_load_n(&is_read, __ATOMIC_RELAXED))
        ;
    return local ? unused : NULL;
}

int main(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, own, BYTES);
    pthread_create(&thread, &attributes, work, NULL);
    int *found;
    while ((found = __atomic_load_n(&there, __ATOMIC_ACQUIRE)) == NULL)
        ;
    int seen = *found;
    __atomic_store_n(&is_read, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    return seen > 20;
}
