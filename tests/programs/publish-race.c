/* Race on the node by memory order: it is published without release. Predicted from every order. */
#include <pthread.h>
#include <stdatomic.h>

typedef struct node {
    int value;
} node;

static node first_node;
static _Atomic(node *) head;
static int sum;

static void *one(void *unused)
{
    first_node.value = 7;
    atomic_store_explicit(&head, &first_node, memory_order_relaxed);
    return unused;
}

static void *two(void *unused)
{
    node *seen;
    while (!(seen = atomic_load_explicit(&head, memory_order_consume)))
        ;
    sum = seen->value;
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, one, NULL);
    pthread_create(&second, NULL, two, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
