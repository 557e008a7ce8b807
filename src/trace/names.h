/*
 * names: strings to dense numbers and back (interning).
 *
 * Numbers are 0, 1, … in the order of first appearance. Lookup is O(length) expected; strings are
 * kept until mr_names_free. Each name may carry a longer text for people (`#@loc`, `#@var`, …).
 */
#ifndef MR_TRACE_NAMES_H
#define MR_TRACE_NAMES_H

#include "base/arena.h"

#include <stdbool.h>

typedef struct mr_name {
    const char *text;    /* as in the file, terminated */
    const char *display; /* text for people; NULL: none was given */
    uint32_t length;
    uint32_t hash;
} mr_name;

typedef struct mr_names {
    mr_name *items;
    uint32_t count;
    size_t capacity;
    uint32_t *slots; /* open addressing, number + 1, 0 is free */
    uint32_t slot_count;
    mr_arena strings;
} mr_names;

void mr_names_init(mr_names *names);
void mr_names_free(mr_names *names);

/* The number of the name, added when new. False: no memory (or 2^32 - 2 names). */
bool mr_names_add(mr_names *names, const char *text, uint32_t length, uint32_t *number);
/* The number of the name, or false when it was never added. */
bool mr_names_find(const mr_names *names, const char *text, uint32_t length, uint32_t *number);
/* Forgets all names but the first `count`, e.g. those of an event that was refused. O(1) a name. */
void mr_names_truncate(mr_names *names, uint32_t count);
/* Sets the text for people of a name (copied). */
bool mr_names_set_display(mr_names *names, uint32_t number, const char *text, uint32_t length);
/* The text for people when there is one, else the name. */
const char *mr_names_display(const mr_names *names, uint32_t number);

#endif
