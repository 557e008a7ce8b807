#include "place.h"

#include "trace/stacks.h"

#include <stdlib.h>
#include <string.h>

const char *mr_place_own(const char *text)
{
    return text + mr_location_own_at(text, strlen(text));
}

mr_place mr_place_parse(const char *text, size_t length)
{
    size_t own = mr_location_own_at(text, length);
    text += own;
    length -= own;
    mr_place place = {text, length, 0, 0};
    uint32_t numbers[2] = {0}; /* from the end */
    int count = 0;
    size_t end = length;
    while (count < 2) {
        size_t start = end;
        while (start > 0 && text[start - 1] >= '0' && text[start - 1] <= '9')
            start--;
        if (start == end || start < 2 || text[start - 1] != ':' || end - start > 9)
            break;
        numbers[count++] = (uint32_t)strtoul(text + start, NULL, 10);
        end = start - 1;
    }
    while (count == 0 && end > 1 && strchr("0123456789abcdefx", text[end - 1]))
        end--;
    if (count == 0 && end < length && end > 1 && text[end - 1] == '+')
        place.file_length = end - 1;
    if (count > 0)
        place = (mr_place){text, end, numbers[count - 1], count > 1 ? numbers[0] : 0};
    return place;
}
