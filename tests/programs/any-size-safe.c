/* No race: atomic objects of any size, which are functions of libatomic, hand over what is plain. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct wide {
    long turn, other[4];
    char last;
} wide;
typedef struct odd {
    char turn, other[2];
} odd;

static _Atomic wide first;
static _Atomic odd second;
static int x;

static void *work(void *unused)
{
    wide seen = {0}, next = {2, {5, 6, 7, 8}, 9};
    x = 1;
    atomic_store(&first, ((wide){1, {1, 2, 3, 4}, 5}));
    while ((seen = atomic_load(&first)).turn != 2) {
        sched_yield();
    }
    x += seen.last == next.last;
    atomic_exchange(&second, ((odd){1, {2, 3}}));
    return unused;
}

int main(void)
{
    pthread_t other;
    wide seen, next;
    pthread_create(&other, NULL, work, NULL);
    do {
        sched_yield();
        seen = atomic_load(&first);
        next = seen;
        next.turn = 2;
        next.last = 9;
    } while (seen.turn != 1);
    x += 10;
    while (!atomic_compare_exchange_strong(&first, &seen, next)) {
    }
    odd got;
    do {
        sched_yield();
        got = atomic_load(&second);
    } while (got.turn != 1);
    x += 10;
    return pthread_join(other, NULL);
}
