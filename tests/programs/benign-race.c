/* Races are meant of one member only; what is published by it is read without order. Predicted from every order. */
#include <pthread.h>

void AnnotateBenignRaceSized(const char *file, int line, const volatile void *object,
                             unsigned long bytes, const char *why);

static struct {
    int hits, last;
} statistics;

static void *count(void *unused)
{
    statistics.hits++;
    statistics.last = 1;
    return unused;
}

int main(void)
{
    pthread_t one, two;
    AnnotateBenignRaceSized(__FILE__, __LINE__, &statistics.hits, sizeof statistics.hits,
                            "only statistics");
    pthread_create(&one, NULL, count, NULL);
    pthread_create(&two, NULL, count, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
