/* A hash table with a lock for each bucket; two threads put and look up. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUCKETS = 1024, STEPS = 60000 };

typedef struct entry {
    struct entry *next;
    unsigned key, count;
} entry;

static struct {
    pthread_mutex_t lock;
    entry *first;
} buckets[BUCKETS];

static void count(unsigned key)
{
    unsigned at = key * 2654435761u >> 22;
    pthread_mutex_lock(&buckets[at].lock);
    entry *found = buckets[at].first;
    while (found && found->key != key)
        found = found->next;
    if (!found) {
        found = malloc(sizeof *found);
        *found = (entry){buckets[at].first, key, 0};
        buckets[at].first = found;
    }
    found->count++;
    pthread_mutex_unlock(&buckets[at].lock);
}

static void *run(void *argument)
{
    unsigned state = (unsigned)(long)argument;
    for (int i = 0; i < STEPS; i++) {
        state = state * 1664525 + 1013904223;
        count(state >> 20);
    }
    return NULL;
}

int main(void)
{
    pthread_t other;
    unsigned most = 0;
    for (int i = 0; i < BUCKETS; i++)
        pthread_mutex_init(&buckets[i].lock, NULL);
    pthread_create(&other, NULL, run, (void *)1);
    run((void *)2);
    pthread_join(other, NULL);
    for (int i = 0; i < BUCKETS; i++)
        for (entry *e = buckets[i].first; e; e = e->next)
            most = e->count > most ? e->count : most;
    printf("%u\n", most);
    return 0;
}
