/* Racageddon's point: who swaps the first race comes to code that races again. No input. */
#include "common.h"

int ready, data = 1;

static void *work(void *unused)
{
    ready = 1; /* race 1 */
    data = 2;  /* race 2 */
    return unused;
}

int main(void)
{
    read_input(NULL);
    pthread_mutex_lock(&lock);
    start(work);
    pthread_mutex_unlock(&lock);
    int was = ready; /* race 1 */
    if (was)
        data = 3; /* race 2, when ready was seen */
    finish();
    return data > 9;
}
