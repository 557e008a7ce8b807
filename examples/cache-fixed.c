/* cache.c without its race: what readers change is atomic. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { ENTRIES = 4 };

struct entry {
    int key, value;
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct entry entries[ENTRIES];
static int used;
static atomic_int hits;

static void insert(int key, int value)
{
    pthread_rwlock_wrlock(&lock);
    entries[used++] = (struct entry){key, value};
    pthread_rwlock_unlock(&lock);
}

static int look_up(int key)
{
    int value = -1;
    pthread_rwlock_rdlock(&lock);
    for (int i = 0; i < used; i++)
        if (entries[i].key == key) {
            value = entries[i].value;
            atomic_fetch_add(&hits, 1);
        }
    pthread_rwlock_unlock(&lock);
    return value;
}

static void *serve(void *unused)
{
    (void)unused;
    look_up(7);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    insert(7, 49);
    pthread_create(&first, NULL, serve, NULL);
    pthread_create(&second, NULL, serve, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("%d hits\n", hits);
    return 0;
}
