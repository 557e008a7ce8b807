#include "line.h"

#include "base/assert.h"
#include "escape.h"

#include <string.h>

#define DOTS "..."

void mr_line_clear(mr_line *line, size_t limit)
{
    MR_REQUIRE(limit <= MR_LINE_WIDTH_MAX);
    line->limit = limit;
    line->length = line->width = 0;
    line->text[0] = '\0';
}

size_t mr_line_room(const mr_line *line)
{
    return line->limit - line->width;
}

/* Characters that one step of mr_escape_next gives: an escape is several ASCII ones. */
static size_t piece_width(const char *piece)
{
    return piece[0] == '\\' ? strlen(piece) : 1;
}

static size_t text_width(const char *text)
{
    char piece[MR_ESCAPE_BYTES];
    size_t width = 0;
    while (mr_escape_next(&text, true, piece) > 0)
        width += piece_width(piece);
    return width;
}

/* Adds whole pieces while they fit in `width`. */
static void add_pieces(mr_line *line, const char *text, size_t width)
{
    char piece[MR_ESCAPE_BYTES];
    size_t length;
    while ((length = mr_escape_next(&text, true, piece)) > 0 && piece_width(piece) <= width) {
        MR_ASSERT(length < sizeof line->text - line->length);
        memcpy(line->text + line->length, piece, length);
        line->length += length;
        line->width += piece_width(piece);
        width -= piece_width(piece);
    }
    MR_ASSERT(line->width <= line->limit && line->length < sizeof line->text);
    line->text[line->length] = '\0';
}

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

void mr_line_add(mr_line *line, const char *text, size_t width)
{
    width = min(width, mr_line_room(line));
    if (text_width(text) <= width) {
        add_pieces(line, text, width);
        return;
    }
    size_t dots = min(strlen(DOTS), width);
    add_pieces(line, text, width - dots);
    add_pieces(line, DOTS, dots);
}

void mr_line_add_tail(mr_line *line, const char *text, size_t width)
{
    width = min(width, mr_line_room(line));
    size_t have = text_width(text), dots = min(strlen(DOTS), width);
    if (have <= width) {
        add_pieces(line, text, width);
        return;
    }
    char piece[MR_ESCAPE_BYTES];
    while (have > width - dots && mr_escape_next(&text, true, piece) > 0)
        have -= piece_width(piece);
    add_pieces(line, DOTS, dots);
    add_pieces(line, text, width - dots);
}

void mr_line_pad(mr_line *line, size_t column)
{
    bool apart = line->length == 0 || line->text[line->length - 1] == ' ';
    while (line->width < line->limit && (line->width < column || !apart)) {
        line->text[line->length++] = ' ';
        line->width++;
        apart = true;
    }
    line->text[line->length] = '\0';
}

void mr_line_print_open(const mr_line *line, FILE *stream)
{
    size_t length = line->length;
    while (length > 0 && line->text[length - 1] == ' ')
        length--;
    fwrite(line->text, 1, length, stream);
}

void mr_line_print(const mr_line *line, FILE *stream)
{
    mr_line_print_open(line, stream);
    fputc('\n', stream);
}
