/* Two threads write, but only when standard input said so. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int written;
static char word[16];

static void *work(void *unused)
{
    if (strcmp(word, "race") == 0)
        written++;
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    if (scanf("%15s", word) != 1)
        return 3;
    pthread_create(&threads[0], NULL, work, NULL);
    pthread_create(&threads[1], NULL, work, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("%s %d\n", word, written);
}
