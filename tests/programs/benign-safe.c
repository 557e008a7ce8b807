/* Accesses whose races are meant. */
#include <pthread.h>

void AnnotateBenignRaceSized(const char *file, int line, const volatile void *object,
                             unsigned long bytes, const char *why);

static struct {
    int hits;
    char names[16];
} statistics;

static void *count(void *unused)
{
    statistics.hits++;
    statistics.names[3] = 'a';
    return unused;
}

int main(void)
{
    pthread_t one, two;
    AnnotateBenignRaceSized(__FILE__, __LINE__, &statistics, sizeof statistics, "only statistics");
    pthread_create(&one, NULL, count, NULL);
    pthread_create(&two, NULL, count, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
