/* No race: initialised by pthread_once. */
#include <pthread.h>

static int table;
static pthread_once_t control = PTHREAD_ONCE_INIT;

static void fill(void)
{
    table = 42;
}

static void *use(void *result)
{
    pthread_once(&control, fill);
    *(int *)result = table;
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    int results[2];
    pthread_create(&first, NULL, use, &results[0]);
    pthread_create(&second, NULL, use, &results[1]);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return results[0] == results[1] ? 0 : 1;
}
