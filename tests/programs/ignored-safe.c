/* A write that the recording is told to ignore, beside a write of another thread; and reads likewise. */
#include <pthread.h>

void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);

static int statistics, flags[2];

static void *other(void *unused)
{
    statistics = 1;
    flags[0] = 1;
    flags[1] = 1;
    return unused;
}

int main(void)
{
    pthread_t thread;
    int sum = 0;
    pthread_create(&thread, NULL, other, NULL);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    statistics = 2;
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    sum = flags[0];
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    __tsan_ignore_thread_begin();
    sum += flags[1];
    flags[1] = 1;
    __tsan_ignore_thread_end();
    pthread_join(thread, NULL);
    return sum > 2;
}
