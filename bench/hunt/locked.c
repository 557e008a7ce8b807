/* The twin of word that has no race, whatever the input. */
#include "common.h"

int total;

static void *work(void *unused)
{
    char word[16] = "";
    sscanf((char *)input, "%15s", word);
    pthread_mutex_lock(&lock);
    if (strcmp(word, "transfer") == 0)
        total = 7;
    else if (strcmp(word, "add") == 0)
        total++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    read_input(stdin);
    start(work);
    pthread_mutex_lock(&lock);
    total = 3;
    pthread_mutex_unlock(&lock);
    finish();
    return total > 9;
}
