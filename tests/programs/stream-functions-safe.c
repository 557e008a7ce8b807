/* No race: libc calls the functions of a stream (fopencookie) with its lock. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int writes, reads;
static char last[64];
static FILE *to, *from;

static ssize_t put(void *cookie, const char *text, size_t bytes)
{
    (void)cookie;
    writes++;
    memcpy(last, text, bytes < sizeof last ? bytes : sizeof last);
    return (ssize_t)bytes;
}

static ssize_t get(void *cookie, char *text, size_t bytes)
{
    (void)cookie;
    reads++;
    memset(text, 'a', bytes < 16 ? bytes : 16);
    text[bytes < 16 ? bytes - 1 : 15] = '\n';
    return (ssize_t)(bytes < 16 ? bytes : 16);
}

static void *work(void *unused)
{
    char line[64];
    for (int i = 0; i < 4; i++) {
        fprintf(to, "%d\n", i);
        fputs("line\n", to);
        fputc('x', to);
        fflush(to);
        if (fgets(line, sizeof line, from) == NULL || getc(from) == EOF) {
            exit(1);
        }
    }
    return unused;
}

int main(void)
{
    pthread_t first, second;
    to = fopencookie(NULL, "w", (cookie_io_functions_t){.write = put});
    from = fopencookie(NULL, "r", (cookie_io_functions_t){.read = get});
    setvbuf(to, NULL, _IONBF, 0);
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return fclose(to) != 0 || fclose(from) != 0 || writes == 0 || reads == 0 || last[0] == 0;
}
