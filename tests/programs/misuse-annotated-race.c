/* Observed: annotated locks are taken while they are held, released by who does not hold them, and destroyed while held. Predicted from every order. */
#include <pthread.h>

void AnnotateRWLockCreate(const char *file, int line, const volatile void *lock);
void AnnotateRWLockDestroy(const char *file, int line, const volatile void *lock);
void AnnotateRWLockAcquired(const char *file, int line, const volatile void *lock, long writes);
void AnnotateRWLockReleased(const char *file, int line, const volatile void *lock, long writes);

static int one, two, three, four;

static void *other(void *unused)
{
    AnnotateRWLockAcquired(__FILE__, __LINE__, &one, 1);
    AnnotateRWLockReleased(__FILE__, __LINE__, &one, 1);
    return unused;
}

int main(void)
{
    pthread_t thread;
    AnnotateRWLockAcquired(__FILE__, __LINE__, &one, 1);
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, NULL);
    AnnotateRWLockReleased(__FILE__, __LINE__, &one, 1);
    AnnotateRWLockReleased(__FILE__, __LINE__, &two, 1);
    AnnotateRWLockAcquired(__FILE__, __LINE__, &three, 1);
    AnnotateRWLockReleased(__FILE__, __LINE__, &three, 0);
    AnnotateRWLockCreate(__FILE__, __LINE__, &four);
    AnnotateRWLockAcquired(__FILE__, __LINE__, &four, 0);
    AnnotateRWLockDestroy(__FILE__, __LINE__, &four);
    return 0;
}
