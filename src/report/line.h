/*
 * line: one line of text of bounded width, built from left to right.
 *
 * Width is counted in characters (code points), not bytes. Text that does not fit is cut and marked
 * "...".
 */
#ifndef MR_REPORT_LINE_H
#define MR_REPORT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define MR_LINE_WIDTH     100 /* where nothing else is known */
#define MR_LINE_WIDTH_MAX 240

typedef struct mr_line {
    char text[MR_LINE_WIDTH_MAX * 4 + 1];
    size_t length; /* bytes */
    size_t width;  /* characters */
    size_t limit;  /* characters, at most MR_LINE_WIDTH_MAX */
} mr_line;

/* An empty line of at most `limit` characters. */
void mr_line_clear(mr_line *line, size_t limit);
/* Adds text, escaped, of at most `width` characters. Of a longer text _add keeps the head and
 * _add_tail the tail. */
void mr_line_add(mr_line *line, const char *text, size_t width);
void mr_line_add_tail(mr_line *line, const char *text, size_t width);
/* Adds blanks up to a column; at least one when the line ends in something else. */
void mr_line_pad(mr_line *line, size_t column);
/* Characters that still fit. */
size_t mr_line_room(const mr_line *line);
/* Writes the line without blanks at its end; _print also a newline. */
void mr_line_print_open(const mr_line *line, FILE *stream);
void mr_line_print(const mr_line *line, FILE *stream);

#endif
