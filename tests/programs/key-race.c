/* Race on counter: threads name keys of thread-specific data that nobody has made, which changes
 * nothing. Predicted from every order. */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <threads.h>

static int counter;

static void *work(void *argument)
{
    for (pthread_key_t key = 0; key < PTHREAD_KEYS_MAX; key++) {
        assert(pthread_getspecific(key) == NULL);
        assert(pthread_setspecific(key, argument) == EINVAL);
        assert(pthread_key_delete(key) == EINVAL);
        assert(tss_get(key) == NULL);
        assert(tss_set(key, argument) == thrd_error);
        tss_delete(key);
    }
    counter++;
    return argument;
}

int main(void)
{
    pthread_t threads[2];
    void *result;
    pthread_key_t made;
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, work, &counter);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &result);
        assert(result == &counter);
    }
    assert(pthread_key_create(&made, NULL) == 0 && made == 0);
    return 0;
}
