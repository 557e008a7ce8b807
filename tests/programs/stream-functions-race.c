/* Race on writes: the function of the stream has its lock, the thread that counts, too, has not. Predicted from every order. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

static int writes;

static ssize_t put(void *cookie, const char *text, size_t bytes)
{
    (void)cookie;
    (void)text;
    writes++;
    return (ssize_t)bytes;
}

static void *work(void *to)
{
    fputs("line\n", to);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    FILE *to = fopencookie(NULL, "w", (cookie_io_functions_t){.write = put});
    setvbuf(to, NULL, _IONBF, 0);
    pthread_create(&first, NULL, work, to);
    pthread_create(&second, NULL, work, to);
    writes++;
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return fclose(to);
}
