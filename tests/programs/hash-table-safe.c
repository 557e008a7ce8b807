/* No race: what is entered in hash tables of libc is written before that, and read by who finds it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <search.h>
#include <stddef.h>

enum { KEYS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hsearch_data table;
static int values[2 * KEYS];
static char keys[KEYS][2] = {"a", "b", "c"};

static void *work(void *unused)
{
    for (int i = 0; i < KEYS; i++) {
        ENTRY *found, entry = {keys[i], &values[i]}, other = {keys[i], &values[KEYS + i]};
        values[i] = i;
        values[KEYS + i] = i;
        pthread_mutex_lock(&lock);
        hsearch_r(entry, ENTER, &found, &table);
        hsearch(other, ENTER);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t other;
    int sum = 0;
    hcreate(8);
    hcreate_r(8, &table);
    pthread_create(&other, NULL, work, NULL);
    for (int i = 0; i < KEYS; i++) {
        ENTRY wanted = {"b", NULL}, *found = NULL;
        pthread_mutex_lock(&lock);
        hsearch_r(wanted, FIND, &found, &table);
        ENTRY *also = hsearch(wanted, FIND);
        pthread_mutex_unlock(&lock);
        sum += found != NULL ? *(int *)found->data : 0;
        sum += also != NULL ? *(int *)also->data : 0;
    }
    pthread_join(other, NULL);
    hdestroy_r(&table);
    hdestroy();
    return sum > 2 * KEYS;
}
