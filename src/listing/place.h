/* place: the text of a place in the source, taken apart. */
#ifndef MR_LISTING_PLACE_H
#define MR_LISTING_PLACE_H

#include <stddef.h>
#include <stdint.h>

typedef struct mr_place {
    const char *file; /* not terminated; of "module+offset" the module; else the whole text */
    size_t file_length;
    uint32_t line, column; /* 0: none */
} mr_place;

/* Takes "file:line:column", "file:line" or "module+offset" apart. Of the text of a location that names two places
 * (trace/stacks.h) it takes the one in the program. */
mr_place mr_place_parse(const char *text, size_t length);
/* The place in the program that the text of a location names: the text from there on. */
const char *mr_place_own(const char *text);

#endif
