/* No race: the second thread starts after the first was joined. */
#include <pthread.h>

static int x;

static void *write_x(void *unused)
{
    x++;
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, write_x, NULL);
    pthread_join(first, NULL);
    pthread_create(&second, NULL, write_x, NULL);
    pthread_join(second, NULL);
    return 0;
}
