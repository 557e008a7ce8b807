/*
 * big_trace: writes a realistic big trace (big_trace.h) to standard output.
 *
 *   big_trace --events N [--threads T] [--locks L] [--run R] [--racy P] [--seed S] [--no-values]
 */
#include "big_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool write_all(void *context, const char *bytes, size_t count)
{
    int file = *(int *)context;
    while (count > 0) {
        ssize_t done = write(file, bytes, count);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        bytes += done;
        count -= (size_t)done;
    }
    return true;
}

/* Reads the number after a flag, low … high. */
static bool number(const char *flag, const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
    char *end = NULL;
    errno = 0;
    *value = text != NULL ? strtoull(text, &end, 10) : 0;
    if (text != NULL && *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 &&
        *value >= low && *value <= high)
        return true;
    fprintf(stderr, "big_trace: %s needs a number from %" PRIu64 " to %" PRIu64 "\n", flag, low,
            high);
    return false;
}

static bool set_flag(mr_big_shape *shape, const char *flag, const char *text)
{
    struct {
        const char *flag;
        uint64_t low, high;
        uint32_t *small; /* or */
        uint64_t *big;
    } flags[] = {
        {"--events", 1, UINT32_MAX - 2, NULL, &shape->events},
        {"--seed", 0, UINT64_MAX, NULL, &shape->seed},
        {"--threads", 1, MR_BIG_MOST_THREADS, &shape->threads, NULL},
        {"--locks", 1, MR_BIG_MOST_LOCKS, &shape->locks, NULL},
        {"--run", 1, 1000000, &shape->run, NULL},
        {"--racy", 0, 1000000, &shape->racy, NULL},
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        uint64_t value;
        if (strcmp(flag, flags[i].flag) != 0)
            continue;
        if (!number(flag, text, flags[i].low, flags[i].high, &value))
            return false;
        if (flags[i].big != NULL)
            *flags[i].big = value;
        else
            *flags[i].small = (uint32_t)value;
        return true;
    }
    fprintf(stderr,
            "big_trace: unknown flag %s\nusage: big_trace --events N [--threads T] [--locks L] "
            "[--run R] [--racy P] [--seed S] [--no-values]\n",
            flag);
    return false;
}

int main(int argc, char **argv)
{
    mr_big_shape shape = mr_big_shape_default();
    int out = STDOUT_FILENO;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--no-values") == 0)
            shape.values = false;
        else if (!set_flag(&shape, argv[i], argv[i + 1]))
            return 2;
        else
            i++;
    }
    if (shape.events < mr_big_least_events(&shape)) {
        fprintf(stderr,
                "big_trace: with %" PRIu32 " threads a trace has at least %" PRIu64 " events\n",
                shape.threads, mr_big_least_events(&shape));
        return 2;
    }
    if (!mr_big_trace_write(&shape, write_all, &out)) {
        fprintf(stderr, "big_trace: cannot write: %s\n", strerror(errno));
        return 1;
    }
    return 0;
}
