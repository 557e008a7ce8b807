/*
 * Race on found->uses: two threads find a node by reads that are ignored, and write to it without a lock. Race on `first`, too, which
 * two threads write while it is read so. Predicted from every order.
 */
#include <pthread.h>
#include <stddef.h>

void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);

typedef struct node {
    int uses;
} node;

static node only;
static node *first = &only;

static void *find(void *unused)
{
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    node *found = first;
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    found->uses = 1;
    return unused;
}

static void *put(void *put_there)
{
    first = put_there;
    return NULL;
}

int main(void)
{
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, i % 2 ? put : find, &only);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return first->uses > 1;
}
