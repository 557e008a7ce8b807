/*
 * No race: a thread finds a node by a read that is ignored, of a pointer that another thread wrote under a lock after it had made the
 * node. What it then does to the node comes after that, and only the value of the read says so. A second node is found in a block
 * that is freed in the end.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);

typedef struct node {
    struct node *next;
    int value;
} node;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static node *first;

static void *finder(void *unused)
{
    node *found = NULL, *second = NULL;
    while (second == NULL) {
        pthread_mutex_lock(&lock);
        AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
        found = first;
        second = found != NULL ? found->next : NULL;
        AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
        pthread_mutex_unlock(&lock);
        sched_yield();
    }
    found->value = 2;
    second->value = 2;
    return unused;
}

static node *make(void)
{
    node *made = malloc(sizeof *made);
    made->next = NULL;
    made->value = 1;
    return made;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, finder, NULL);
    node *made = make();
    pthread_mutex_lock(&lock);
    first = made;
    pthread_mutex_unlock(&lock);
    node *second = make();
    pthread_mutex_lock(&lock);
    first->next = second;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    free(second);
    free(made);
    return 0;
}
