/*
 * match: patterns of suppressions, with the rules of ThreadSanitizer.
 *
 * A pattern matches a text that contains it. `*` stands for any characters. `^` at the start binds the
 * pattern to the start of the text. `$` ends the pattern: the text must end there, or a `*` stood
 * before it. The parts between stars are looked for from left to right, each at its first occurrence,
 * and no other one is tried. An empty text matches nothing. O(text × pattern).
 */
#ifndef MR_LISTING_MATCH_H
#define MR_LISTING_MATCH_H

#include <stdbool.h>

bool mr_match(const char *pattern, const char *text);

#endif
