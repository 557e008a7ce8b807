/* No race: both have the lock. */
#include <threads.h>

static mtx_t lock;
static cnd_t changed;
static once_flag begun = ONCE_FLAG_INIT;
static int balance, ready;

static void begin(void)
{
    mtx_init(&lock, mtx_plain);
    cnd_init(&changed);
}

static int pay(void *unused)
{
    (void)unused;
    call_once(&begun, begin);
    mtx_lock(&lock);
    ready = 1;
    cnd_signal(&changed);
    balance += 100;
    mtx_unlock(&lock);
    return 5;
}

static int take(void *unused)
{
    (void)unused;
    call_once(&begun, begin);
    mtx_lock(&lock);
    while (!ready) {
        cnd_wait(&changed, &lock);
    }
    balance -= 100;
    mtx_unlock(&lock);
    return 6;
}

int main(void)
{
    thrd_t first, second;
    int results[2];
    thrd_create(&first, pay, NULL);
    thrd_create(&second, take, NULL);
    thrd_join(first, &results[0]);
    thrd_join(second, &results[1]);
    mtx_destroy(&lock);
    cnd_destroy(&changed);
    return results[0] + results[1] - 11;
}
