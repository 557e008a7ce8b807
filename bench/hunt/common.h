/* What the programs of this folder share: an input of at most 64 bytes, a lock, a second thread. */
#ifndef BENCH_HUNT_COMMON_H
#define BENCH_HUNT_COMMON_H

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char input[65];
static size_t input_size;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t second;

static inline void read_input(FILE *from)
{
    input_size = from ? fread(input, 1, 64, from) : 0;
    input[input_size] = '\0';
}

static inline unsigned little(size_t at)
{
    return input[at] | (unsigned)input[at + 1] << 8 | (unsigned)input[at + 2] << 16 |
           (unsigned)input[at + 3] << 24;
}

static inline void start(void *(*thread)(void *))
{
    pthread_create(&second, NULL, thread, NULL);
}

static inline void finish(void)
{
    pthread_join(second, NULL);
}

#endif
