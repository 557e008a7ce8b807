/*
 * Variables on stacks that threads race on: of main, in a block of it, of calls of one function in
 * each other, and of the same function in two threads. Predicted from every order.
 *
 * Names: main.counter main.table[2] main.state.field main.inner main.mutex descend.level
 * descend.level#2 T*.worker.mine T*.worker.mine
 */
#include <pthread.h>
#include <stdio.h>

struct state {
    int flag;
    long field;
};

static void *count(void *argument)
{
    int *number = argument;
    (*number)++;
    return NULL;
}

static void *add(void *argument)
{
    long *number = argument;
    (*number)++;
    return NULL;
}

static void *lock(void *argument)
{
    pthread_mutex_lock(argument);
    pthread_mutex_unlock(argument);
    return NULL;
}

static void twice(void *(*what)(void *), void *argument)
{
    pthread_t first, second;
    pthread_create(&first, NULL, what, argument);
    pthread_create(&second, NULL, what, argument);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
}

static __attribute__((noinline)) int descend(int depth)
{
    pthread_t other;
    int level = depth, below = 0;
    pthread_create(&other, NULL, count, &level);
    if (depth > 0)
        below = descend(depth - 1);
    level++;
    pthread_join(other, NULL);
    return level + below;
}

static void *worker(void *argument)
{
    pthread_t other;
    int mine = 0;
    pthread_create(&other, NULL, count, &mine);
    mine++;
    pthread_join(other, NULL);
    printf("%d\n", mine);
    return argument;
}

int main(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    int counter = 0, table[4] = {0};
    struct state state = {0, 0};
    twice(count, &counter);
    twice(count, &table[2]);
    twice(add, &state.field);
    {
        int inner = 0;
        twice(count, &inner);
        counter += inner;
    }
    pthread_t first, second;
    counter += descend(1);
    pthread_create(&first, NULL, worker, NULL);
    pthread_create(&second, NULL, worker, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    twice(lock, &mutex);
    printf("%d %d %ld\n", counter, table[2], state.field);
}
