#include "cut_off.h"

#include "base/error.h"
#include "formats/mrt/mrt_format.h"
#include "leftovers.h"
#include "trace/stream.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const int signals[] = {SIGBUS, SIGSEGV, SIGABRT};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static struct sigaction former[SIGNALS];
static struct timespec begun;

enum { LINE_BYTES = 4352 }; /* a path of the system, and what stands before it */

/* One line of a file, without its end. What does not fit is left out. False: there is no other. */
static bool read_line(int file, char *line)
{
    size_t length = 0;
    char one;
    bool any = false;
    while (read(file, &one, 1) == 1 && one != '\n') {
        any = true;
        if (length + 1 < LINE_BYTES)
            line[length++] = one;
    }
    line[length] = '\0';
    return any;
}

/* A number in hexadecimal; *text goes behind it and one more character. */
static uintptr_t take_number(const char **text)
{
    uintptr_t value = 0;
    for (; (**text >= '0' && **text <= '9') || (**text >= 'a' && **text <= 'f'); ++*text)
        value = value << 4 | (uintptr_t)(**text <= '9' ? **text - '0' : **text - 'a' + 10);
    *text += **text != '\0';
    return value;
}

/* Is it a trace, mapped as these are, that was written to since maxrace began? */
static bool is_changed_trace(const char *rights, const char *path)
{
    unsigned char magic[MR_MRT_MAGIC_BYTES];
    struct stat info;
    int file = rights[2] == '-' ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    bool changed = file >= 0 && read(file, magic, sizeof magic) == (ssize_t)sizeof magic &&
                   mr_mrt_detect(magic, sizeof magic) && fstat(file, &info) == 0 &&
                   (info.st_mtim.tv_sec > begun.tv_sec ||
                    (info.st_mtim.tv_sec == begun.tv_sec && info.st_mtim.tv_nsec > begun.tv_nsec));
    if (file >= 0)
        close(file);
    return changed;
}

/* The file that is mapped at the address (0: a trace that was written to); NULL: none. Without libc's buffers, which a handler must not use. */
static const char *find_file(uintptr_t address, char *line)
{
    const char *found = NULL;
    int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    while (maps >= 0 && !found && read_line(maps, line)) {
        /* "start-end rights offset device inode path" */
        const char *at = line;
        uintptr_t start = take_number(&at), end = take_number(&at);
        const char *path = strchr(at, '/');
        bool is_one = path && at[0] == 'r' && at[3] == 'p'; /* files of maxrace itself are shared */
        if (is_one && (address ? address >= start && address < end : is_changed_trace(at, path)))
            found = path;
    }
    if (maps >= 0)
        close(maps);
    return found;
}

static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* nobody to tell */
}

static void handle(int number, siginfo_t *info, void *context)
{
    static atomic_flag is_told = ATOMIC_FLAG_INIT;
    char line[LINE_BYTES];
    (void)context;
    const char *file = number == SIGBUS && info->si_code == BUS_ADRERR
                           ? find_file((uintptr_t)info->si_addr, line)
                           : NULL;
    if (!file)
        file = find_file(0, line);
    while (file && atomic_flag_test_and_set(&is_told))
        pause(); /* another thread ends the process */
    if (file) {
        mr_leftovers_settle();
        say(file);
        say(": " MR_STREAM_HAS_CHANGED "\n");
        _exit(mr_status_exit(MR_ERR_IO));
    }
    for (int i = 0; i < SIGNALS; i++)
        if (signals[i] == number)
            sigaction(number, &former[i], NULL);
    if (info->si_code <= 0)
        raise(number); /* somebody has sent it; else the access is repeated */
}

void mr_cut_off_watch(void)
{
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    clock_gettime(CLOCK_REALTIME, &begun);
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &action, &former[i]);
}
