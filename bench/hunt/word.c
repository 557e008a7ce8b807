/* Two commands; the one that nobody tries forgets the lock. */
#include "common.h"

int total;

static void *work(void *unused)
{
    char word[16] = "";
    sscanf((char *)input, "%15s", word);
    if (strcmp(word, "add") == 0) {
        pthread_mutex_lock(&lock);
        total++;
        pthread_mutex_unlock(&lock);
    } else if (strcmp(word, "transfer") == 0) {
        total = 7; /* race 1 */
    }
    return unused;
}

int main(void)
{
    read_input(stdin);
    start(work);
    pthread_mutex_lock(&lock);
    total = 3; /* race 1 */
    pthread_mutex_unlock(&lock);
    finish();
    return total > 9;
}
