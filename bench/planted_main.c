/*
 * planted: writes a trace with planted races (planted.h) to standard output.
 *
 *   planted --events N [--each N] [--seed N] [--list FILE]
 *
 * N may be written as 1e7. FILE gets a line a pair: kind, distance, the two locations, the two
 * event numbers, separated by tabs.
 */
#include "planted.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool write_all(void *context, const char *bytes, size_t count)
{
    return fwrite(bytes, 1, count, context) == count;
}

/* Reads the number after a flag, low … high, also as 1e7. */
static bool number(const char *flag, const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
    char *end = NULL;
    double given = text != NULL ? strtod(text, &end) : -1;
    if (text != NULL && end != text && *end == '\0' && given >= (double)low &&
        given <= (double)high) {
        *value =
            strspn(text, "0123456789") == strlen(text) ? strtoull(text, NULL, 10) : (uint64_t)given;
        return true;
    }
    fprintf(stderr, "planted: %s needs a number from %" PRIu64 " to %" PRIu64 "\n", flag, low,
            high);
    return false;
}

static bool write_list(const char *path, const mr_planted_pair *pairs, size_t count)
{
    FILE *file = fopen(path, "w");
    bool ok = file != NULL;
    for (size_t i = 0; ok && i < count; i++)
        ok = fprintf(file, "%s\t%" PRIu64 "\t%s\t%s\t%" PRIu64 "\t%" PRIu64 "\n",
                     mr_planted_kind_name(pairs[i].kind), pairs[i].distance, pairs[i].locations[0],
                     pairs[i].locations[1], pairs[i].events[0], pairs[i].events[1]) > 0;
    ok = file != NULL && fclose(file) == 0 && ok;
    if (!ok)
        fprintf(stderr, "planted: cannot write %s: %s\n", path, strerror(errno));
    return ok;
}

int main(int argc, char **argv)
{
    mr_planted_shape shape = {.events = 0, .each = 3, .seed = 1};
    const char *list = NULL;
    bool ok = argc % 2 == 1 && argc > 1;
    for (int i = 1; ok && i < argc; i += 2) {
        uint64_t each = shape.each;
        if (strcmp(argv[i], "--events") == 0)
            ok = number(argv[i], argv[i + 1], 1000, 1000000000, &shape.events);
        else if (strcmp(argv[i], "--each") == 0)
            ok = number(argv[i], argv[i + 1], 1, 1000, &each);
        else if (strcmp(argv[i], "--seed") == 0)
            ok = number(argv[i], argv[i + 1], 0, UINT64_MAX / 2, &shape.seed);
        else if (strcmp(argv[i], "--list") == 0)
            list = argv[i + 1];
        else
            ok = false;
        shape.each = (uint32_t)each;
    }
    if (!ok || shape.events == 0) {
        fputs("usage: planted --events N [--each N] [--seed N] [--list FILE]\n", stderr);
        return 2;
    }
    mr_planted_pair *pairs;
    size_t count;
    if (!mr_planted_write(&shape, write_all, stdout, &pairs, &count) || fflush(stdout) != 0) {
        fprintf(stderr, "planted: cannot write the trace: %s\n", strerror(errno));
        return 1;
    }
    ok = list == NULL || write_list(list, pairs, count);
    free(pairs);
    return ok ? 0 : 1;
}
