/* collect: a receiver of text that comes in parts; it keeps all of it. */
#ifndef MR_TESTS_SUPPORT_COLLECT_H
#define MR_TESTS_SUPPORT_COLLECT_H

#include <stdbool.h>
#include <stddef.h>

/* Zero-initialise; the bytes are freed by the owner. */
typedef struct mr_collected {
    char *bytes; /* terminated */
    size_t count, capacity;
    size_t limit; /* refuses what goes beyond it; 0: none */
} mr_collected;

/* Takes `count` bytes more; `context` is a mr_collected. False: no room. */
bool mr_collect(void *context, const char *bytes, size_t count);

#endif
