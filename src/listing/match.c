#include "match.h"

#include <string.h>

/* The first occurrence of the `length` bytes of `part` in the text, or NULL. */
static const char *find_part(const char *text, const char *part, size_t length)
{
    size_t size = strlen(text);
    for (size_t i = 0; i + length <= size; i++)
        if (memcmp(text + i, part, length) == 0)
            return text + i;
    return NULL;
}

bool mr_match(const char *pattern, const char *text)
{
    bool bound = pattern[0] == '^', star = false;
    if (text[0] == '\0')
        return false;
    pattern += bound;
    while (pattern[0] != '\0') {
        if (pattern[0] == '*') {
            star = true;
            bound = false;
            pattern++;
            continue;
        }
        if (pattern[0] == '$')
            return text[0] == '\0' || star;
        size_t length = strcspn(pattern, "*$");
        const char *found = find_part(text, pattern, length);
        if (!found || (bound && found != text))
            return false;
        text = found + length;
        pattern += length;
        bound = star = false;
    }
    return true;
}
