/* Race on text: a thread reads where the text of open_memstream is while the other one flushes the stream. Predicted from every order. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static char *text, *seen;
static size_t bytes;
static FILE *to;

static void *work(void *unused)
{
    fputs("line\n", to);
    fflush(to);
    return unused;
}

int main(void)
{
    pthread_t other;
    to = open_memstream(&text, &bytes);
    pthread_create(&other, NULL, work, NULL);
    seen = text;
    pthread_join(other, NULL);
    (void)seen;
    int wrong = fclose(to) != 0 || bytes != 5;
    free(text);
    return wrong;
}
