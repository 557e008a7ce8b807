/* Reads are ignored, a write meanwhile is not, and neither is a read after the end. Predicted from every order. */
#include <pthread.h>

void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);

static int shared, quiet;

static void *other(void *unused)
{
    quiet = 1;
    shared = 1;
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    shared = quiet;
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    pthread_join(thread, NULL);
    return 0;
}
