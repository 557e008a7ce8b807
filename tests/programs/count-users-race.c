/* Race by memory order: nothing acquires what the other thread did before it dropped the block. Predicted from
 * every order. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct block {
    atomic_int users;
    int first, second;
} block;

static void drop(block *it)
{
    if (atomic_fetch_sub_explicit(&it->users, 1, memory_order_release) == 1) {
        it->first = it->second = 0;
        free(it);
    }
}

static void *one(void *it)
{
    ((block *)it)->first = 1;
    drop(it);
    return NULL;
}

static void *two(void *it)
{
    ((block *)it)->second = 2;
    drop(it);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    block *it = malloc(sizeof *it);
    atomic_init(&it->users, 2);
    pthread_create(&first, NULL, one, it);
    pthread_create(&second, NULL, two, it);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
