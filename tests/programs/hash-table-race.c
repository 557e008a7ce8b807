/* Race on table.filled: a hash table of libc is searched without the lock under which it grows. Predicted from every order. */
#define _GNU_SOURCE
#include <pthread.h>
#include <search.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hsearch_data table;

static void *work(void *unused)
{
    ENTRY *found, entry = {"a", NULL};
    pthread_mutex_lock(&lock);
    hsearch_r(entry, ENTER, &found, &table);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t other;
    ENTRY *found, wanted = {"a", NULL};
    hcreate_r(8, &table);
    pthread_create(&other, NULL, work, NULL);
    hsearch_r(wanted, FIND, &found, &table);
    pthread_join(other, NULL);
    hdestroy_r(&table);
    return 0;
}
