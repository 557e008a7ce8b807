#include "resident.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

mr_resident mr_resident_now(void)
{
    char text[128];
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return (mr_resident){0};
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    text[length > 0 ? length : 0] = '\0';
    /* size resident shared …, in pages */
    char *at = text;
    (void)strtoull(at, &at, 10);
    uint64_t resident = strtoull(at, &at, 10), shared = strtoull(at, &at, 10);
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return (mr_resident){.anonymous_bytes = resident > shared ? (resident - shared) * page : 0,
                         .mapped_bytes = shared * page};
}

/* The number in the file at `dir` + `name`; 0: there is none ("max"), or no such file. */
static uint64_t number_in(const char *dir, const char *name)
{
    char path[PATH_MAX], text[32] = "";
    int length = snprintf(path, sizeof path, "%s%s", dir, name);
    FILE *file = length > 0 && (size_t)length < sizeof path ? fopen(path, "re") : NULL;
    if (!file)
        return 0;
    if (!fgets(text, sizeof text, file))
        text[0] = '\0';
    fclose(file);
    return strtoull(text, NULL, 10);
}

static uint64_t smaller(uint64_t one, uint64_t other)
{
    return other && (!one || other < one) ? other : one;
}

/* The limits of a group and of those that it is in; `dir` is cut. */
static uint64_t limit_from(char *dir, size_t root_length, const char *name)
{
    uint64_t limit = 0;
    for (;;) {
        limit = smaller(limit, number_in(dir, name));
        char *slash = strrchr(dir, '/');
        if (!slash || slash < dir + root_length)
            return limit;
        *slash = '\0';
    }
}

/* A line of /proc/self/cgroup is number:controllers:/path; version 2 names no controllers. */
static uint64_t group_limit(char *line)
{
    static const char root_1[] = "/sys/fs/cgroup/memory", root_2[] = "/sys/fs/cgroup";
    char dir[PATH_MAX], *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path)
        return 0;
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    bool second = controllers[1] == '\0';
    if (!second && !strstr(controllers, "memory"))
        return 0;
    const char *root = second ? root_2 : root_1;
    int length = snprintf(dir, sizeof dir, "%s%s", root, strcmp(path, "/") != 0 ? path : "");
    if (length < 0 || (size_t)length >= sizeof dir)
        return 0;
    return limit_from(dir, strlen(root), second ? "/memory.max" : "/memory.limit_in_bytes");
}

uint64_t mr_machine_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t limit = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
    FILE *groups = fopen("/proc/self/cgroup", "re");
    char line[PATH_MAX];
    while (groups && fgets(line, sizeof line, groups))
        limit = smaller(limit, group_limit(line));
    if (groups)
        fclose(groups);
    return limit;
}
