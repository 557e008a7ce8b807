#include "misuse.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *word, *text, *other;
} kinds[] = {
#define MR_MISUSE_ROW(name, word, text, other) {word, text, other},
    MR_MISUSE_MAP(MR_MISUSE_ROW)
#undef MR_MISUSE_ROW
};

const char *mr_misuse_word(mr_misuse_kind kind)
{
    return kinds[kind].word;
}

const char *mr_misuse_text(mr_misuse_kind kind)
{
    return kinds[kind].text;
}

const char *mr_misuse_other(mr_misuse_kind kind)
{
    return kinds[kind].other;
}

size_t mr_misuse_line(const mr_misuse *misuse, char line[MR_MISUSE_LINE_BYTES])
{
    int length = snprintf(line, MR_MISUSE_LINE_BYTES, "misuse %s %" PRIu64,
                          mr_misuse_word(misuse->kind), misuse->event);
    if (misuse->other != MR_MISUSE_NO_EVENT)
        length += snprintf(line + length, MR_MISUSE_LINE_BYTES - (size_t)length, " %" PRIu64,
                           misuse->other);
    return (size_t)length;
}

/* A number up to a blank or the end, which it moves behind. */
static bool take_number(const char **text, const char *end, uint64_t *number)
{
    enum { DIGITS_MAX = 19 };
    const char *from = *text;
    *number = 0;
    while (*text < end && **text >= '0' && **text <= '9' && *text - from < DIGITS_MAX)
        *number = *number * 10 + (uint64_t)(*(*text)++ - '0');
    bool ok = *text > from && (*text == end || **text == ' ');
    *text += ok && *text < end;
    return ok;
}

bool mr_misuse_parse(mr_misuse *misuse, const char *text, size_t length)
{
    const char *end = text + length, *blank = memchr(text, ' ', length);
    *misuse = (mr_misuse){.other = MR_MISUSE_NO_EVENT};
    if (!blank)
        return false;
    for (int i = 1; i < MR_MISUSE_COUNT; i++)
        if (strlen(kinds[i].word) == (size_t)(blank - text) &&
            memcmp(kinds[i].word, text, (size_t)(blank - text)) == 0)
            misuse->kind = (mr_misuse_kind)i;
    const char *at = blank + 1;
    return misuse->kind && take_number(&at, end, &misuse->event) &&
           (at == end || (take_number(&at, end, &misuse->other) && at == end));
}
