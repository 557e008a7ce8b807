/* Race on x: an atomic object of 48 bytes that is read before it is written orders nothing. */
#include <pthread.h>
#include <stdatomic.h>

typedef struct wide {
    long turn, other[4];
    char last;
} wide;

static _Atomic wide shared;
static int x;

static void *work(void *unused)
{
    x = 1;
    atomic_store(&shared, ((wide){1, {1, 2, 3, 4}, 5}));
    return unused;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, work, NULL);
    wide seen = atomic_load(&shared);
    x += 10;
    return pthread_join(other, NULL) + (seen.turn == 7);
}
