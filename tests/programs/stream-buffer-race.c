/* Race on the buffer of a stream, which libc has allocated: that is part of the trace, and no operation of a replay. Predicted from every
 * order. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static char *text;

static void *change(void *unused)
{
    text[0]++;
    return unused;
}

int main(void)
{
    size_t bytes;
    pthread_t first, second;
    FILE *stream = open_memstream(&text, &bytes);
    fprintf(stream, "%d", 1);
    fflush(stream);
    pthread_create(&first, NULL, change, NULL);
    pthread_create(&second, NULL, change, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    fclose(stream);
    free(text);
    return 0;
}
