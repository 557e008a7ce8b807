/* Race on table_lock: a reader is not waited for. Predicted from every order. */
#include <pthread.h>

static pthread_rwlock_t table_lock;
static pthread_spinlock_t spin;

static void *work(void *unused)
{
    pthread_rwlock_rdlock(&table_lock);
    pthread_rwlock_unlock(&table_lock);
    return unused;
}

int main(void)
{
    pthread_t other;
    pthread_rwlock_init(&table_lock, NULL);
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_create(&other, NULL, work, NULL);
    pthread_spin_lock(&spin);
    pthread_spin_unlock(&spin);
    pthread_rwlock_destroy(&table_lock);
    pthread_join(other, NULL);
    pthread_spin_destroy(&spin);
    return 0;
}
