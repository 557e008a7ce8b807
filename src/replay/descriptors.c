/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _GNU_SOURCE /* dup3, O_PATH */

#include "descriptors.h"

#include "base/memory.h"
#include "formats/mrt/mrt_positions.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST = STDERR_FILENO + 1, NAME_BYTES = 4096 };

static const char *const words[] = {
#define WORD(name, word) word,
    MR_DESCRIPTOR_KIND_MAP(WORD)
#undef WORD
};
enum { KINDS = sizeof words / sizeof *words };

const char *mr_descriptor_kind_word(mr_descriptor_kind kind)
{
    return words[kind];
}

static mr_descriptor_kind kind_of(mode_t mode)
{
    return S_ISREG(mode)    ? MR_DESCRIPTOR_FILE
           : S_ISDIR(mode)  ? MR_DESCRIPTOR_FOLDER
           : S_ISFIFO(mode) ? MR_DESCRIPTOR_PIPE
           : S_ISSOCK(mode) ? MR_DESCRIPTOR_SOCKET
           : S_ISCHR(mode)  ? MR_DESCRIPTOR_DEVICE
                            : MR_DESCRIPTOR_OTHER;
}

static bool is_inherited(int number)
{
    int flags = fcntl(number, F_GETFD);
    return flags >= 0 && !(flags & FD_CLOEXEC);
}

/* Calls the function for each open descriptor, in any order, until it says no. False: it did. */
static bool each_open(bool (*visit)(void *context, int number), void *context)
{
    DIR *folder = opendir("/proc/self/fd");
    const struct dirent *entry;
    bool ok = true;
    while (folder && ok && (entry = readdir(folder)) != NULL) {
        char *end;
        long number = strtol(entry->d_name, &end, 10);
        if (end != entry->d_name && number != dirfd(folder))
            ok = visit(context, (int)number);
    }
    if (folder)
        closedir(folder);
    return ok;
}

/* ---- what there is ---- */

static bool push(mr_descriptors *to, mr_descriptor descriptor)
{
    void *items = to->items;
    if (!descriptor.name || !mr_grow(&items, &to->capacity, to->count + 1, sizeof *to->items)) {
        free(descriptor.name);
        return false;
    }
    to->items = items;
    size_t at = to->count++;
    for (; at > 0 && to->items[at - 1].number > descriptor.number; at--)
        to->items[at] = to->items[at - 1];
    to->items[at] = descriptor;
    return true;
}

static bool add(void *context, int number)
{
    char link[40], name[NAME_BYTES];
    struct stat info;
    if (!is_inherited(number) || fstat(number, &info) != 0)
        return true;
    mr_descriptor is = {.number = number, .kind = MR_DESCRIPTOR_STREAM, .flags = O_RDWR};
    if (number >= FIRST) {
        is.kind = kind_of(info.st_mode);
        is.flags = fcntl(number, F_GETFL) & (O_ACCMODE | O_APPEND);
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", number);
    ssize_t length = readlink(link, name, sizeof name);
    bool has_path = number >= FIRST && length > 0 && name[0] == '/';
    is.name = has_path ? mr_strndup(name, (size_t)length) : mr_strndup("-", 1);
    is.offset = is.kind == MR_DESCRIPTOR_FILE ? (int64_t)lseek(number, 0, SEEK_CUR) : 0;
    return push(context, is);
}

mr_status mr_descriptors_of_process(mr_descriptors *to, mr_error *error)
{
    return each_open(add, to) ? MR_OK : mr_error_memory(error, "looking at descriptors");
}

void mr_descriptors_free(mr_descriptors *descriptors)
{
    for (size_t i = 0; i < descriptors->count; i++)
        free(descriptors->items[i].name);
    free(descriptors->items);
    *descriptors = (mr_descriptors){.items = NULL};
}

/* ---- as lines ---- */

static const char *const accesses[] = {[O_RDONLY] = "r", [O_WRONLY] = "w", [O_RDWR] = "rw"};

void mr_descriptor_value(const mr_descriptor *descriptor, char value[MR_DESCRIPTOR_LINE_BYTES])
{
    int access = descriptor->flags & O_ACCMODE;
    snprintf(value, MR_DESCRIPTOR_LINE_BYTES, "%d %s%s %" PRId64 " %s %s", descriptor->number,
             access <= O_RDWR ? accesses[access] : "-", descriptor->flags & O_APPEND ? "a" : "",
             descriptor->offset, words[descriptor->kind], descriptor->name);
}

void mr_descriptors_write(mr_bytes *lines, const mr_descriptors *descriptors)
{
    char value[MR_DESCRIPTOR_LINE_BYTES];
    for (size_t i = 0; i < descriptors->count; i++) {
        mr_descriptor_value(&descriptors->items[i], value);
        mr_run_line(lines, "fd", value);
    }
}

bool mr_descriptors_take(mr_descriptors *to, const char *value)
{
    char access[8], word[16];
    int used = 0, kind = 0;
    mr_descriptor is = {.flags = O_RDONLY};
    /* Lines are of maxrace's making. NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(value, "%d %7s %" SCNd64 " %15s %n", &is.number, access, &is.offset, word, &used) <
            4 ||
        !used || is.number < 0)
        return true;
    while (kind < KINDS && strcmp(words[kind], word) != 0)
        kind++;
    if (strchr(access, 'w'))
        is.flags = strchr(access, 'r') ? O_RDWR : O_WRONLY;
    if (strchr(access, 'a'))
        is.flags |= O_APPEND;
    is.kind = kind < KINDS ? (mr_descriptor_kind)kind : MR_DESCRIPTOR_OTHER;
    is.name = mr_strndup(value + used, strlen(value + used));
    return push(to, is);
}

/* ---- the same again ---- */

bool mr_descriptor_has_path(const mr_descriptor *descriptor)
{
    static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                          "/dev/urandom"}; /* to open others may do something */
    bool has = descriptor->kind == MR_DESCRIPTOR_FILE || descriptor->kind == MR_DESCRIPTOR_FOLDER;
    for (size_t i = 0; !has && i < sizeof devices / sizeof *devices; i++)
        has = descriptor->kind == MR_DESCRIPTOR_DEVICE && strcmp(descriptor->name, devices[i]) == 0;
    return has && descriptor->name[0] == '/';
}

/* It is opened by its name. -1: that is not possible. */
static int open_again(const mr_descriptor *is)
{
    struct stat info;
    if (!mr_descriptor_has_path(is) || stat(is->name, &info) != 0 ||
        kind_of(info.st_mode) != is->kind)
        return -1;
    int fd = open(is->name, is->flags | O_CLOEXEC | O_NOCTTY);
    if (fd >= 0 && is->kind == MR_DESCRIPTOR_FILE)
        lseek(fd, (off_t)is->offset, SEEK_SET);
    return fd;
}

static bool is_here(const mr_descriptor *is)
{
    struct stat info;
    return is_inherited(is->number) && fstat(is->number, &info) == 0 &&
           kind_of(info.st_mode) == is->kind;
}

static bool is_within_limit(int number)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           (rlim_t)number < limit.rlim_cur;
}

bool mr_descriptors_missing(const mr_descriptors *wanted, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < wanted->count && used + 1 < room; i++) {
        const mr_descriptor *is = &wanted->items[i];
        if (is->number < FIRST)
            continue;
        int fd = is_within_limit(is->number) ? open_again(is) : -1;
        bool provided = fd >= 0 || (is_within_limit(is->number) && is_here(is));
        if (fd >= 0)
            close(fd);
        if (!provided)
            used += (size_t)snprintf(text + used, room - used, "%s%d (%s%s%s)", used ? ", " : "",
                                     is->number, words[is->kind], is->name[0] == '/' ? " " : "",
                                     is->name[0] == '/' ? is->name : "");
    }
    return used > 0;
}

static void obtain(const mr_descriptor *is)
{
    int fd = open_again(is);
    if (fd < 0 && is_here(is))
        return;
    if (fd < 0)
        fd = is->kind == MR_DESCRIPTOR_SOCKET ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)
                                              : open("/dev/null", is->flags | O_CLOEXEC);
    if (fd >= 0 && fd != is->number) {
        dup3(fd, is->number, O_CLOEXEC); /* beyond the limit it is not possible, and was told */
        close(fd);
    }
}

static const mr_descriptor *find(const mr_descriptors *in, int number)
{
    for (size_t i = 0; i < in->count; i++)
        if (in->items[i].number == number)
            return &in->items[i];
    return NULL;
}

/* An open descriptor is inherited when it is among the wanted ones. */
static bool settle(void *context, int number)
{
    if (number >= FIRST)
        fcntl(number, F_SETFD, find(context, number) ? 0 : FD_CLOEXEC);
    return true;
}

void mr_descriptors_provide(const mr_descriptors *wanted, bool again, int *kept)
{
    if (!wanted || !wanted->count)
        return;
    for (size_t i = 0; again && i < wanted->count; i++)
        if (wanted->items[i].number == *kept) {
            int other = fcntl(*kept, F_DUPFD_CLOEXEC, wanted->items[wanted->count - 1].number + 1);
            *kept = other < 0 ? *kept : other;
        }
    for (size_t i = 0; again && i < wanted->count; i++)
        if (wanted->items[i].number >= FIRST)
            obtain(&wanted->items[i]);
    each_open(settle, (void *)wanted);
}
