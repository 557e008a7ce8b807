/* Race on ready and data: a plain flag. Predicted from every order on ready; on data when the
 * reader saw the flag. */
#include <pthread.h>
#include <stdatomic.h>

static int data, seen;
static int ready;

static void *one(void *unused)
{
    data = 7;
    ready = 1;
    return unused;
}

static void *two(void *unused)
{
    if (ready) {
        seen = data;
    }
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, one, NULL);
    pthread_create(&second, NULL, two, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
