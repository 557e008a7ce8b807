/* reload.c without its use after free: a reader holds the lock as long as it uses the table. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct table {
    int version;
};

static struct table *current;
static int answered;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct table *make_table(int version)
{
    struct table *table = malloc(sizeof *table);
    table->version = version;
    return table;
}

static void *answer(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    printf("answered from version %d\n", current->version);
    answered++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *reload(void *unused)
{
    (void)unused;
    struct table *table = make_table(2);
    pthread_mutex_lock(&lock);
    struct table *old = current;
    current = table;
    pthread_mutex_unlock(&lock);
    free(old);
    return NULL;
}

int main(void)
{
    pthread_t reader, writer;
    current = make_table(1);
    pthread_create(&reader, NULL, answer, NULL);
    pthread_create(&writer, NULL, reload, NULL);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    free(current);
    return 0;
}
