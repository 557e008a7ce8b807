/*
 * escape: names of a trace as text that is always valid UTF-8 and, for people, fits on one line.
 *
 * Names may hold any byte but zero. A byte that is not part of valid UTF-8 is written `\xNN` (two
 * lower-case hexadecimal digits), and so is a backslash that is followed by `x` and two hexadecimal
 * digits; everything else stands as it is. Replacing every `\xNN` by its byte gives the name back.
 * With `control`, control characters (U+0000–U+001F, U+007F–U+009F) are escaped in the same way.
 */
#ifndef MR_REPORT_ESCAPE_H
#define MR_REPORT_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define MR_ESCAPE_BYTES 9

/* Takes the next character from `*text` and puts it, or its escape, in `out` (terminated). Returns
 * the number of bytes put, 0 at the end of the text. */
size_t mr_escape_next(const char **text, bool control, char out[MR_ESCAPE_BYTES]);

/* The whole text, owned by the caller; NULL: no memory. */
char *mr_escape(const char *text, bool control);

/* Writes the whole text, control characters escaped. */
void mr_escape_print(FILE *stream, const char *text);

/* Writes the text as one word of the shell, between quotes where it needs them. */
void mr_escape_shell(FILE *stream, const char *text);

#endif
