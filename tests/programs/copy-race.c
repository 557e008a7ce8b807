/* Race on buffer: copied while another thread clears it. Predicted from every order. */
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char buffer[100], copy[100];

static void *one(void *unused)
{
    pthread_mutex_lock(&lock);
    memset(buffer, 1, sizeof buffer);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *two(void *unused)
{
    memcpy(copy, buffer + 20, 60);
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
