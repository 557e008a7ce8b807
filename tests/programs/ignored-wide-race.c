/* Race on x: the thread asks that its synchronisation be ignored while it writes an atomic object of 24 bytes. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

void AnnotateIgnoreSyncBegin(const char *file, int line);
void AnnotateIgnoreSyncEnd(const char *file, int line);

typedef struct wide {
    long turn, other[2];
} wide;

static _Atomic wide shared;
static int x;

static void *work(void *unused)
{
    x = 1;
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    atomic_store(&shared, ((wide){1, {2, 3}}));
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
    return unused;
}

int main(void)
{
    pthread_t other;
    wide seen;
    pthread_create(&other, NULL, work, NULL);
    do {
        sched_yield();
        seen = atomic_load(&shared);
    } while (seen.turn != 1);
    x++;
    pthread_join(other, NULL);
    return 0;
}
