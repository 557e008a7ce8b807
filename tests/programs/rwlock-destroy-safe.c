/* No race: who writes last destroys both locks; made and destroyed while other threads run. */
#include <pthread.h>

static pthread_rwlock_t table_lock;
static pthread_spinlock_t spin;
static int users;

static void *work(void *unused)
{
    pthread_rwlock_rdlock(&table_lock);
    pthread_rwlock_unlock(&table_lock);
    pthread_spin_lock(&spin);
    int left = --users;
    pthread_spin_unlock(&spin);
    if (left == 0) {
        pthread_rwlock_destroy(&table_lock);
        pthread_spin_destroy(&spin);
    }
    return unused;
}

static void *run(void *unused)
{
    pthread_t others[2];
    pthread_rwlock_init(&table_lock, NULL);
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    users = 2;
    pthread_create(&others[0], NULL, work, NULL);
    pthread_create(&others[1], NULL, work, NULL);
    pthread_join(others[0], NULL);
    pthread_join(others[1], NULL);
    return unused;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, run, NULL);
    pthread_join(other, NULL);
    return 0;
}
