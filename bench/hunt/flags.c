/* An argument takes the lock away. */
#include "common.h"

int level;
static int fast;

static void *work(void *unused)
{
    if (fast) {
        level = 1; /* race 1 */
    } else {
        pthread_mutex_lock(&lock);
        level = 2;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(int count, char **arguments)
{
    for (int i = 1; i < count; i++)
        if (strcmp(arguments[i], "--fast") == 0)
            fast = 1;
    start(work);
    pthread_mutex_lock(&lock);
    level = 3; /* race 1 */
    pthread_mutex_unlock(&lock);
    finish();
    return level > 9;
}
