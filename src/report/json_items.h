/*
 * json_items: writes many JSON objects, one after the other, as the members of an array; for the files
 * of src/report only.
 *
 * Where there are some hundreds or more, threads make their texts, and the calling thread writes the texts
 * in the order of the objects. So the output does not depend on the number of threads, and memory does
 * not grow with the number of objects.
 */
#ifndef MR_REPORT_JSON_ITEMS_H
#define MR_REPORT_JSON_ITEMS_H

#include "json_object.h"

typedef struct mr_json_items {
    size_t count;
    /* Makes object number `index`. Without one of this number, `json` is NULL and `ok` true. Threads call it
     * at the same time. */
    mr_json (*make)(const void *context, size_t index);
    const void *context;
} mr_json_items;

/* Writes the objects, a newline before the first and a comma and a newline before each other one. `jobs` of
 * the configuration is the number of threads. MR_ERR_IO, MR_ERR_MEMORY. */
mr_status mr_json_items_dump(FILE *stream, const mr_json_items *items, const mr_config *config,
                             mr_error *error);

#endif
