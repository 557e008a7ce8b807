#include "escape.h"
#include "base/memory.h"

#include <stdint.h>
#include <string.h>

/* Length of the valid UTF-8 character at `text` (terminated), or 0. Refuses over-long forms,
 * surrogates and code points above U+10FFFF. */
static size_t utf8_length(const unsigned char *text, uint32_t *code)
{
    static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (text[0] < 0x80) {
        *code = text[0];
        return 1;
    }
    size_t length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    if (text[0] < 0xc2 || text[0] > 0xf4)
        return 0;
    *code = text[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (text[i] & 0x3f);
    }
    bool valid = *code >= lowest[length] && *code <= 0x10ffff && (*code & 0xfffff800) != 0xd800;
    return valid ? length : 0;
}

static bool is_hex(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Would this backslash be read as the start of an escape? */
static bool looks_escaped(const unsigned char *text)
{
    return text[0] == '\\' && text[1] == 'x' && is_hex(text[2]) && is_hex(text[3]);
}

size_t mr_escape_next(const char **text, bool control, char out[MR_ESCAPE_BYTES])
{
    const unsigned char *from = (const unsigned char *)*text;
    uint32_t code;
    if (from[0] == '\0')
        return 0;
    size_t length = utf8_length(from, &code);
    bool is_control = length > 0 && (code < 0x20 || (code >= 0x7f && code < 0xa0));
    if (length > 0 && !(control && is_control) && !looks_escaped(from)) {
        memcpy(out, from, length);
        out[length] = '\0';
        *text += length;
        return length;
    }
    if (length == 0)
        length = 1;
    for (size_t i = 0; i < length; i++) /* a control character has at most two bytes */
        snprintf(out + 4 * i, 5, "\\x%02x", from[i]);
    *text += length;
    return 4 * length;
}

char *mr_escape(const char *text, bool control)
{
    char out[MR_ESCAPE_BYTES];
    size_t total = 0, used = 0;
    for (const char *from = text; mr_escape_next(&from, control, out) > 0;)
        total += strlen(out);
    char *result = mr_malloc(1, total);
    if (result == NULL)
        return NULL;
    size_t length;
    for (const char *from = text; (length = mr_escape_next(&from, control, out)) > 0;) {
        memcpy(result + used, out, length);
        used += length;
    }
    result[used] = '\0';
    return result;
}

void mr_escape_print(FILE *stream, const char *text)
{
    char out[MR_ESCAPE_BYTES];
    while (mr_escape_next(&text, true, out) > 0)
        fputs(out, stream);
}

void mr_escape_shell(FILE *stream, const char *text)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./:,@%";
    if (text[0] != '\0' && text[strspn(text, plain)] == '\0') {
        fputs(text, stream);
        return;
    }
    fputc('\'', stream);
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputs("'\\''", stream);
        else
            fputc(*text, stream);
    }
    fputc('\'', stream);
}
