/*
 * A deque without locks: its owner puts items in at the bottom and takes them from there, thieves take them from the top. The mistake: a thief
 * looks at the top once more, and then stores the new one, where it should exchange. Between the two another thread takes the same item.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum { ITEMS = 3, THIEVES = 2, ATTEMPTS = 2 };

static atomic_int top, bottom, items[ITEMS], taken[ITEMS];

static void take(int item)
{
    assert(atomic_fetch_add(&taken[item], 1) == 0);
}

static void put(int item)
{
    int end = atomic_load(&bottom);
    atomic_store(&items[end % ITEMS], item);
    atomic_store(&bottom, end + 1);
}

/* False: it is empty. */
static int take_last(void)
{
    int end = atomic_load(&bottom) - 1;
    atomic_store(&bottom, end);
    int begin = atomic_load(&top);
    int item = atomic_load(&items[end >= 0 ? end % ITEMS : 0]);
    if (begin < end) {
        take(item);
        return 1;
    }
    int is_mine = begin == end && atomic_compare_exchange_strong(&top, &begin, begin + 1);
    atomic_store(&bottom, end + 1);
    if (is_mine)
        take(item);
    return 0;
}

static void *own(void *unused)
{
    for (int i = 0; i < ITEMS; i++)
        put(i);
    while (take_last()) {
    }
    return unused;
}

static void *steal(void *unused)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        int begin = atomic_load(&top);
        if (begin >= atomic_load(&bottom))
            continue;
        int item = atomic_load(&items[begin % ITEMS]);
        if (atomic_load(&top) != begin)
            continue;
        atomic_store(&top, begin + 1);
        take(item);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[THIEVES + 1];
    for (int i = 0; i <= THIEVES; i++)
        pthread_create(&threads[i], NULL, i == 0 ? own : steal, NULL);
    for (int i = 0; i <= THIEVES; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
