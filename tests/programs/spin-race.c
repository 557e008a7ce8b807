/* Race on x: read after the unlock. Predicted from every order. */
#include <pthread.h>

static pthread_spinlock_t lock;
static int x, seen[2];

static void *work(void *slot)
{
    pthread_spin_lock(&lock);
    x++;
    pthread_spin_unlock(&lock);
    *(int *)slot = x;
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    pthread_create(&first, NULL, work, &seen[0]);
    pthread_create(&second, NULL, work, &seen[1]);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    pthread_spin_destroy(&lock);
    return 0;
}
