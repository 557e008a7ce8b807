/*
 * suggest: "did you mean …?": how far two words are apart, and user text made fit for a message.
 */
#ifndef MR_CONFIG_SUGGEST_H
#define MR_CONFIG_SUGGEST_H

#include <stddef.h>

/*
 * Number of single-character insertions, deletions, substitutions and swaps of neighbours that turn
 * one word into the other (optimal string alignment). '.', '-' and '_' count as equal. Words longer
 * than 64 bytes are infinitely far (SIZE_MAX) from everything. O(product of the lengths).
 */
size_t mr_edit_distance(const char *a, const char *b);

/* The largest distance at which a suggestion for `text` is still plausible. */
size_t mr_suggest_limit(const char *text);

#define MR_QUOTED_BYTES 72
/* `text` on one line, between single quotes, control characters as '?', cut after 60 bytes with
 * "...". */
const char *mr_quote(const char *text, char buffer[MR_QUOTED_BYTES]);

#endif
