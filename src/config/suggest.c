#include "suggest.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define WORD_MAX     64
#define QUOTED_BYTES 60

static bool same(char a, char b)
{
    char x = a == '-' || a == '_' ? '.' : a;
    char y = b == '-' || b == '_' ? '.' : b;
    return x == y;
}

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t mr_edit_distance(const char *a, const char *b)
{
    size_t rows = strlen(a), columns = strlen(b);
    if (rows > WORD_MAX || columns > WORD_MAX)
        return SIZE_MAX;
    /* distance[i % 3][j]: between the first i bytes of a and the first j bytes of b. */
    size_t distance[3][WORD_MAX + 1];
    for (size_t j = 0; j <= columns; j++)
        distance[0][j] = j;
    for (size_t i = 1; i <= rows; i++) {
        size_t *now = distance[i % 3];
        const size_t *last = distance[(i + 2) % 3], *before_last = distance[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            size_t change = last[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
            now[j] = min(change, min(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                now[j] = min(now[j], before_last[j - 2] + 1);
        }
    }
    return distance[rows % 3][columns];
}

size_t mr_suggest_limit(const char *text)
{
    return min(1 + strlen(text) / 4, 4);
}

const char *mr_quote(const char *text, char buffer[MR_QUOTED_BYTES])
{
    size_t length = strlen(text), used = 0;
    size_t shown = min(length, QUOTED_BYTES);
    /* Do not cut inside a UTF-8 character. */
    while (shown < length && shown > 0 && ((unsigned char)text[shown] & 0xc0) == 0x80)
        shown--;
    buffer[used++] = '\'';
    for (size_t i = 0; i < shown; i++) {
        unsigned char byte = (unsigned char)text[i];
        buffer[used++] = byte < 0x20 || byte == 0x7f ? '?' : (char)byte;
    }
    if (shown < length) {
        memcpy(buffer + used, "...", 3);
        used += 3;
    }
    buffer[used++] = '\'';
    buffer[used] = '\0';
    return buffer;
}
