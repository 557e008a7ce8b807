/*
 * text_items: writes the texts of many items, one after the other; for the files of src/report only.
 *
 * Where there are some hundreds or more, threads make the texts, and the calling thread writes them in the order of the items.
 * So the output does not depend on the number of threads, and memory does not grow with the number of items.
 */
#ifndef MR_REPORT_TEXT_ITEMS_H
#define MR_REPORT_TEXT_ITEMS_H

#include "base/bytes.h"
#include "config/config.h"

#include <stdio.h>

typedef struct mr_text_items {
    size_t count;
    /* Appends the text of item number `index`. Threads call it at the same time, each worker number 0, 1, …
     * with one item at a time. */
    mr_status (*print)(void *context, unsigned worker, size_t index, mr_bytes *to, mr_error *error);
    void *context;
    size_t skipped; /* so many bytes of the first text that is not empty are not written */
} mr_text_items;

/* How many workers there will be, by `jobs` of the configuration. */
unsigned mr_text_items_workers(const mr_config *config, size_t count);

/* Errors: those of `print`; MR_ERR_IO, MR_ERR_MEMORY. */
mr_status mr_text_items_write(FILE *stream, const mr_text_items *items, const mr_config *config,
                              mr_error *error);

#endif
