/* A lost update, which an assertion sees, when the input asks for two of them. */
#include "common.h"

int counter;

static void add(void)
{
    pthread_mutex_lock(&lock);
    int value = counter;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    counter = value + 1;
    pthread_mutex_unlock(&lock);
}

static void *work(void *unused)
{
    if (input[0] > '1' && input[0] <= '9')
        add();
    return unused;
}

int main(void)
{
    int wanted;
    read_input(stdin);
    wanted = 1 + (input[0] > '1' && input[0] <= '9');
    start(work);
    add();
    finish();
    assert(counter == wanted);
    return 0;
}
