/* null: the worker compares the pointer, and uses it where it should use its own one. */
#include <pthread.h>
#include <stdlib.h>

typedef struct node {
    int is_head;
} node;

static node *head;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *argument)
{
    node *mine = argument;
    pthread_mutex_lock(&lock);
    node *first = head;
    first->is_head = first == mine;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t worker;
    node *own = calloc(1, sizeof *own);
    head = own;
    pthread_create(&worker, NULL, work, own);
    pthread_mutex_lock(&lock);
    own->is_head = 2;
    head = NULL;
    pthread_mutex_unlock(&lock);
    int status = pthread_join(worker, NULL);
    free(own);
    return status;
}
