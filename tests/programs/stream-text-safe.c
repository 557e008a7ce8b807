/* No race: fflush says where the text of open_memstream is, with the lock of the stream. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text;
static size_t bytes;
static FILE *to;

static void *work(void *unused)
{
    for (int i = 0; i < 4; i++) {
        fprintf(to, "%d\n", i);
        fflush(to);
        flockfile(to);
        fflush(to);
        if (text[bytes - 1] != '\n') {
            exit(1);
        }
        funlockfile(to);
    }
    return unused;
}

int main(void)
{
    pthread_t first, second;
    to = open_memstream(&text, &bytes);
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    int wrong = fclose(to) != 0 || strlen(text) != 16;
    free(text);
    return wrong;
}
