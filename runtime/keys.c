#include "keys.h"

#include "real.h"
#include "state.h"

#include <errno.h>
#include <threads.h>

enum { LAST_KEY = 31 }; /* glibc: values of later keys are in blocks of malloc's */

static struct {
    pthread_key_t end_key;
    bool made;
} own;

static bool is_own(pthread_key_t key)
{
    return own.made && key == own.end_key;
}

bool mr_end_key_make(void (*at_end)(void *value))
{
    pthread_key_t keys[LAST_KEY + 1];
    int count = 0;
    if (own.made) {
        return true; /* in the child of a fork */
    }
    while (count <= LAST_KEY && pthread_key_create(&keys[count], at_end) == 0) {
        if (keys[count++] >= LAST_KEY) {
            break;
        }
    }
    if (count == 0) {
        return false;
    }
    own.end_key = keys[count - 1];
    own.made = true;
    for (int i = 0; i < count - 1; i++) {
        MR_REAL(pthread_key_delete)(keys[i]);
    }
    return true;
}

void mr_end_key_set(void *value)
{
    MR_REAL(pthread_setspecific)(own.end_key, value);
}

MR_EXPORT void *pthread_getspecific(pthread_key_t key)
{
    return is_own(key) ? NULL : MR_REAL(pthread_getspecific)(key);
}

MR_EXPORT int pthread_setspecific(pthread_key_t key, const void *value)
{
    return is_own(key) ? EINVAL : MR_REAL(pthread_setspecific)(key, value);
}

MR_EXPORT int pthread_key_delete(pthread_key_t key)
{
    return is_own(key) ? EINVAL : MR_REAL(pthread_key_delete)(key);
}

MR_EXPORT void *tss_get(tss_t key)
{
    return is_own(key) ? NULL : MR_REAL(tss_get)(key);
}

MR_EXPORT int tss_set(tss_t key, void *value)
{
    return is_own(key) ? thrd_error : MR_REAL(tss_set)(key, value);
}

MR_EXPORT void tss_delete(tss_t key)
{
    if (!is_own(key)) {
        MR_REAL(tss_delete)(key);
    }
}
