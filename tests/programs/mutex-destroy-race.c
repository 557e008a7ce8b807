/* Race on lock: destroyed by main when a flag says that the other thread is in its section, which
 * is too early. Predicted from every order. */
#include <pthread.h>
#include <sched.h>

static pthread_mutex_t lock;
static _Atomic int inside;

static void *use(void *unused)
{
    pthread_mutex_lock(&lock);
    inside = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t other;
    pthread_mutex_init(&lock, NULL);
    pthread_create(&other, NULL, use, NULL);
    while (!inside) {
        sched_yield();
    }
    pthread_mutex_destroy(&lock);
    pthread_join(other, NULL);
    return 0;
}
