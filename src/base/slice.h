/* slice: a piece of a text that the slice does not own, and its safe form for messages. */
#ifndef MR_BASE_SLICE_H
#define MR_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mr_slice {
    const char *text; /* not terminated */
    uint32_t length;
} mr_slice;

enum { MR_QUOTE_SIZE = 128 };

/* Writes the slice for a message: control characters become '?', and what does not fit is cut and
 * ends in "...". Returns `buffer`. */
const char *mr_slice_quote(mr_slice slice, char buffer[MR_QUOTE_SIZE]);

/* Takes the first item off a list "x1,x2,…". False: the list is empty. */
bool mr_slice_next(mr_slice *list, mr_slice *item);

#endif
