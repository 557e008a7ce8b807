/*
 * What libc keeps for all threads: two threads use it, with -DLOCKED under a lock. Each pair of lines
 * that begins with a number is a race without. Order by a stream that leads to a pipe, and by the
 * lock of a stream, makes no race in either. Read by check_libc.sh.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *file, *to, *from, *locked;
static char one_text[] = "a,b", two_text[] = "c,d";
static int sent, echoed, counted, table[8] = {5, 3, 8, 1, 9, 2, 7, 4};

static void enter(void)
{
#ifdef LOCKED
    pthread_mutex_lock(&lock);
#endif
}

static void leave(void)
{
#ifdef LOCKED
    pthread_mutex_unlock(&lock);
#endif
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void count(void)
{
    flockfile(locked);
    counted++;
    fputs("counted\n", locked);
    funlockfile(locked);
    fputs("nothing", locked);
}

static void *first(void *unused)
{
    enter();
    /* 1 */ setenv("NAME", "value", 1);
    /* 2 */ localtime(&(time_t){0});
    /* 3 */ strtok(one_text, ",");
    /* 4 */ file != NULL &&fputs("text", file);
    /* 5 */ qsort(table, 8, sizeof *table, compare);
    leave();
    count();
    sent = 1;
    fputs("sent\n", to);
    fflush(to);
    echoed = 1;
    putc('!', to);
    putc('\n', to);
    fclose(to);
    return unused;
}

static void *second(void *unused)
{
    char line[16];
    usleep(50000); /* the stream is closed after its use */
    enter();
    /* 1 */ getenv("NAME");
    /* 2 */ localtime(&(time_t){1});
    /* 3 */ strtok(two_text, ",");
    /* 4 */ fclose(file), file = NULL;
    /* 5 */ table[3]++;
    leave();
    count();
    if (fgets(line, sizeof line, from) != NULL) {
        sent++;
    }
    if (getc(from) == '!') {
        echoed++;
    }
    return unused;
}

int main(void)
{
    pthread_t one, two;
    int ends[2];
    if (pipe(ends) != 0) {
        return 2;
    }
    to = fdopen(ends[1], "w");
    from = fdopen(ends[0], "r");
    file = fopen("/dev/null", "w");
    locked = fopen("/dev/null", "w");
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&two, NULL, second, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return counted == 2 && sent == 2 && echoed == 2 ? 0 : 1;
}
