#include "descriptors.h"

#include "channels.h"
#include "input_descriptors.h"
#include "io.h"
#include "log_file.h"
#include "outside.h"
#include "real.h"
#include "scheduler.h"
#include "steer_result.h"
#include "sys.h"
#include "writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Behind all others: it defines MR_CALLER anew. */
#include "direct.h"

static bool is_logged(int fd)
{
    return fd >= 0 && fd < MR_LOG_DESCRIPTORS;
}

static void log_descriptor(mr_log_kind kind, unsigned how, int fd, uintptr_t code)
{
    if (is_logged(fd)) {
        const void *address =
            (const void *)(MR_LOG_DESCRIPTORS_AT + (uintptr_t)fd * MR_LOG_DESCRIPTOR_BYTES);
        mr_write_object(kind, MR_LOG_ROLE_DESCRIPTOR, address, code, how, 0);
    }
}

/*
 * The numbers that were given back: by which thread (its id + 1), and when, in numbers given back.
 * One that another thread gave back is not given to a socket at once, as a block of the heap is not:
 * what two threads do with two connections that come one after the other is then not held apart by
 * the number. The rest keep the lowest number, on which programs count.
 */
static struct {
    uint32_t by[MR_LOG_DESCRIPTORS], at[MR_LOG_DESCRIPTORS], count;
} given_back;

static void log_number(mr_log_kind kind, int fd, uintptr_t code)
{
    if (is_logged(fd)) {
        mr_write_object(kind, MR_LOG_ROLE_NUMBER, NULL, code, 0, (uint64_t)fd);
    }
}

static bool rests(const mr_thread *thread, int fd)
{
    enum { REST = 64 };
    return is_logged(fd) && given_back.by[fd] != 0 && given_back.by[fd] != thread->id + 1 &&
           given_back.count - given_back.at[fd] < REST;
}

/* The socket with a number that does not rest, when there is one. */
static int to_rested(const mr_thread *thread, int fd)
{
    int better = fd + 1;
    while (better < MR_LOG_DESCRIPTORS && rests(thread, better)) {
        better++;
    }
    bool closes = (mr_sys(SYS_fcntl, fd, F_GETFD, 0, 0, 0, 0) & FD_CLOEXEC) != 0;
    long moved = better == MR_LOG_DESCRIPTORS
                     ? -1
                     : mr_sys(SYS_fcntl, fd, closes ? F_DUPFD_CLOEXEC : F_DUPFD, better, 0, 0, 0);
    if (moved < 0) {
        return fd;
    }
    mr_sys(SYS_close, fd, 0, 0, 0, 0, 0);
    return (int)moved;
}

void mr_descriptor_use(int fd, uintptr_t code)
{
    log_descriptor(MR_LOG_USED, 0, fd, code);
}

void mr_descriptor_end(int fd, bool closed, uintptr_t code)
{
    /* First: who learns from the channel that it is closed comes after this, too. */
    log_descriptor(MR_LOG_RETIRED, closed ? MR_LOG_RETIRED_DESTROYED : MR_LOG_RETIRED_KNOWN, fd,
                   code);
    if (closed) {
        mr_channel_log_closed(fd, code);
    }
    log_number(closed ? MR_LOG_BEFORE : MR_LOG_AFTER, fd, code);
    if (closed && is_logged(fd)) {
        given_back.by[fd] = mr_self->id + 1;
        given_back.at[fd] = ++given_back.count;
    }
}

int mr_descriptor_given(mr_thread *thread, int fd, bool socket, uintptr_t code)
{
    if (fd >= 0) {
        fd = socket && rests(thread, fd) ? to_rested(thread, fd) : fd;
        mr_descriptor_end(fd, false, code);
    }
    return fd;
}

static bool is_open(int fd)
{
    return mr_sys(SYS_fcntl, fd, F_GETFD, 0, 0, 0, 0) >= 0;
}

bool mr_descriptor_is_hidden(int fd)
{
    return mr_inputs_own(fd) || mr_log_file_own(fd) || mr_result_own(fd);
}

bool mr_descriptor_is_hidden_entry(DIR *folder, const char *name)
{
    char path[64] = "/proc/self/fd/", where[64];
    uint64_t fd = mr_parse_number(name, UINT32_MAX);
    if (fd > INT_MAX || !mr_descriptor_is_hidden((int)fd)) {
        return false;
    }
    int at = MR_REAL(dirfd)(folder);
    size_t length = __builtin_strlen(path), digits = 1;
    for (int rest = at; rest >= 10; rest /= 10) {
        digits++;
    }
    for (size_t i = digits; i > 0; i--, at /= 10) {
        path[length + i - 1] = (char)('0' + at % 10);
    }
    /* The folder may be another one, where the name is that of a file of the program. */
    long bytes = mr_sys(SYS_readlinkat, AT_FDCWD, (long)path, (long)where, sizeof where, 0, 0);
    return bytes >= (long)sizeof "/proc/1/fd" - 1 && __builtin_memcmp(where, "/proc/", 6) == 0 &&
           __builtin_memcmp(where + bytes - 3, "/fd", 3) == 0;
}

/* The program takes this number for a descriptor of its own, so a hidden one moves away. */
static void make_room(int fd)
{
    if (mr_inputs_own(fd)) {
        mr_inputs_renumber();
    } else if (mr_log_file_own(fd)) {
        mr_log_file_renumber();
    } else if (mr_result_own(fd)) {
        mr_result_renumber();
    }
}

int mr_descriptor_refuse(void)
{
    errno = EBADF;
    return -1;
}

MR_EXPORT int close(int fd)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(close)(fd);
    }
    mr_yield(thread);
    bool hidden = mr_descriptor_is_hidden(fd);
    if (!hidden && is_open(fd)) {
        mr_descriptor_end(fd, true, MR_CALLER);
        mr_descriptor_forget(fd);
    }
    mr_leave(thread);
    return hidden ? mr_descriptor_refuse() : MR_REAL(close)(fd);
}

/* Logs the end of all that close_range is about to close. */
static void end_range(unsigned first, unsigned last, uintptr_t code)
{
    for (unsigned fd = first; fd <= last && fd < MR_LOG_DESCRIPTORS; fd++) {
        if (!mr_descriptor_is_hidden((int)fd) && is_open((int)fd)) {
            mr_descriptor_end((int)fd, true, code);
            mr_descriptor_forget((int)fd);
        }
    }
}

/* close_range of the numbers between the hidden descriptors. */
static int close_rest(unsigned first, unsigned last, int flags)
{
    enum { HIGHEST = 1 << 16 };
    long result = 0;
    for (unsigned fd = first; fd <= last && fd < HIGHEST && result == 0; fd++) {
        if (mr_descriptor_is_hidden((int)fd)) {
            result = fd == first ? 0 : mr_sys(SYS_close_range, first, fd - 1, flags, 0, 0, 0);
            first = fd + 1;
        }
    }
    if (result == 0 && first <= last) {
        result = mr_sys(SYS_close_range, first, last, flags, 0, 0, 0);
    }
    if (result < 0) {
        errno = (int)-result;
    }
    return result < 0 ? -1 : 0;
}

static int close_all(unsigned first, unsigned last, int flags, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    bool closes =
        (flags & ~CLOSE_RANGE_UNSHARE) == 0; /* CLOEXEC closes none, an unknown flag is refused */
    if (thread != NULL && closes) {
        mr_yield(thread);
        end_range(first, last, code);
    }
    int result = close_rest(first, last, flags);
    if (thread != NULL) {
        mr_leave(thread);
    }
    return result;
}

MR_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
    if (first > last) {
        errno = EINVAL;
        return -1;
    }
    return close_all(first, last, flags, MR_CALLER);
}

MR_EXPORT void closefrom(int lowest)
{
    close_all(lowest < 0 ? 0 : (unsigned)lowest, UINT_MAX, 0, MR_CALLER);
}

/* dup2 and dup3. */
static mr_thread *begin_replace(int from, int to, bool *is_new, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_yield(thread);
        make_room(to);
        mr_descriptor_use(from, code);
        *is_new = !is_open(to);
        if (!*is_new && from != to) {
            mr_channel_log_closed(to, code);
        }
    }
    return thread;
}

static int end_replace(mr_thread *thread, int from, bool is_new, int result, uintptr_t code)
{
    if (thread != NULL) {
        if (result >= 0 && result != from) {
            log_descriptor(MR_LOG_RETIRED, MR_LOG_RETIRED_INITIALISED, result, code);
            mr_descriptor_copy(from, result);
            if (is_new) {
                log_number(MR_LOG_AFTER, result, code);
            }
        }
        mr_leave(thread);
    }
    return result;
}

MR_EXPORT int dup2(int from, int to)
{
    bool is_new = false;
    mr_thread *thread = begin_replace(from, to, &is_new, MR_CALLER);
    return end_replace(thread, from, is_new,
                       mr_descriptor_is_hidden(from) ? mr_descriptor_refuse()
                                                     : MR_REAL(dup2)(from, to),
                       MR_CALLER);
}

MR_EXPORT int dup3(int from, int to, int flags)
{
    bool is_new = false;
    mr_thread *thread = begin_replace(from, to, &is_new, MR_CALLER);
    return end_replace(thread, from, is_new,
                       mr_descriptor_is_hidden(from) ? mr_descriptor_refuse()
                                                     : MR_REAL(dup3)(from, to, flags),
                       MR_CALLER);
}

/* A number that is given out: whatever had it before was closed. */
static int given(int fd, bool socket, uintptr_t code)
{
    mr_thread *thread = is_logged(fd) ? mr_enter() : NULL;
    if (thread != NULL) {
        fd = mr_descriptor_given(thread, fd, socket, code);
        mr_leave(thread);
    }
    return fd;
}

/* A new descriptor and its number: as an input it has the number that the program gets. */
static int settle(mr_input *input, uint64_t how, int fd, mr_descriptor_origin origin,
                  uintptr_t code)
{
    if (input->head == NULL) {
        return mr_descriptor_made(input, how, given(fd, how == MR_NEW_SOCKET, code), origin);
    }
    return given(mr_descriptor_made(input, how, fd, origin), false, code);
}

int mr_descriptor_duplicate(int fd, int command, int lowest, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_descriptor_use(fd, code);
        mr_leave(thread);
    }
    mr_input input;
    int copy = !mr_descriptor_expect(&input, MR_NEW_COPY) ? -1
               : mr_descriptor_is_hidden(fd)              ? mr_descriptor_refuse()
                                                          : MR_REAL(fcntl)(fd, command, lowest);
    copy = settle(&input, MR_NEW_COPY, copy, MR_DESCRIPTOR_UNKNOWN, code);
    mr_descriptor_copy(fd, copy);
    return copy;
}

MR_EXPORT int dup(int fd)
{
    return mr_descriptor_duplicate(fd, F_DUPFD, 0, MR_CALLER);
}

/* The recorded program made a new file, and that is there since: it begins anew. */
static bool is_there_since(const mr_input *input, int fd, int flags)
{
    return fd < 0 && errno == EEXIST && (flags & O_EXCL) != 0 && input->head != NULL &&
           mr_input_result(input) >= 0;
}

/* It may be made by that. */
static void file_opens(uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_outside_file_changes(code);
        mr_leave(thread);
    }
}

#define OPENS(name, parameters, arguments)                                                         \
    MR_EXPORT int name parameters                                                                  \
    {                                                                                              \
        mode_t mode = 0;                                                                           \
        if (__OPEN_NEEDS_MODE(flags)) {                                                            \
            va_list rest;                                                                          \
            va_start(rest, flags);                                                                 \
            mode = va_arg(rest, mode_t);                                                           \
            va_end(rest);                                                                          \
        }                                                                                          \
        file_opens(MR_CALLER);                                                                     \
        mr_input input;                                                                            \
        int fd = mr_descriptor_expect(&input, MR_NEW_FILE) ? MR_REAL(name) arguments : -1;         \
        if (is_there_since(&input, fd, flags)) {                                                   \
            flags = (flags & ~O_EXCL) | O_TRUNC;                                                   \
            fd = MR_REAL(name) arguments;                                                          \
        }                                                                                          \
        if (fd < 0 && input.head != NULL && mr_input_result(&input) >= 0 &&                        \
            (flags & O_ACCMODE) != O_RDONLY) {                                                     \
            mr_inputs_refused(path);                                                               \
        }                                                                                          \
        fd = settle(&input, MR_NEW_FILE, fd, MR_DESCRIPTOR_UNKNOWN, MR_CALLER);                    \
        if ((flags & O_ACCMODE) != O_RDONLY) {                                                     \
            mr_descriptor_written(fd);                                                             \
        }                                                                                          \
        return fd;                                                                                 \
    }
OPENS(open, (const char *path, int flags, ...), (path, flags, mode))
OPENS(open64, (const char *path, int flags, ...), (path, flags, mode))
OPENS(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
OPENS(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
#undef OPENS

MR_EXPORT int closedir(DIR *folder)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_descriptor_end(MR_REAL(dirfd)(folder), true, MR_CALLER);
        mr_leave(thread);
    }
    return MR_REAL(closedir)(folder);
}

MR_EXPORT int socket(int domain, int type, int protocol)
{
    mr_input input;
    int fd =
        mr_descriptor_expect(&input, MR_NEW_SOCKET) ? MR_REAL(socket)(domain, type, protocol) : -1;
    fd = settle(&input, MR_NEW_SOCKET, fd, MR_DESCRIPTOR_UNKNOWN, MR_CALLER);
    mr_descriptor_socket(fd, type);
    return fd;
}

/* INSIDE: threads of the program reach each other by it. */
#define GIVES(name, how, parameters, arguments, origin)                                            \
    MR_EXPORT int name parameters                                                                  \
    {                                                                                              \
        mr_input input;                                                                            \
        int made = mr_descriptor_expect(&input, how) ? MR_REAL(name) arguments : -1;               \
        return settle(&input, how, made, origin, MR_CALLER);                                       \
    }
GIVES(creat, MR_NEW_FILE, (const char *path, mode_t mode), (path, mode), MR_DESCRIPTOR_UNKNOWN)
GIVES(creat64, MR_NEW_FILE, (const char *path, mode_t mode), (path, mode), MR_DESCRIPTOR_UNKNOWN)
GIVES(memfd_create, MR_NEW_OTHER, (const char *name_, unsigned flags), (name_, flags),
      MR_DESCRIPTOR_INSIDE)
#undef GIVES

static int new_set(int fd)
{
    mr_thread *thread = fd >= 0 ? mr_enter() : NULL;
    if (thread != NULL) {
        mr_descriptor_new_object(fd);
        mr_leave(thread);
    }
    return fd;
}

#define GIVES_WATCHER(name, parameters, arguments)                                                 \
    MR_EXPORT int name parameters                                                                  \
    {                                                                                              \
        mr_input input;                                                                            \
        int made = mr_descriptor_expect(&input, MR_NEW_OTHER) ? MR_REAL(name) arguments : -1;      \
        mr_outside_watch_files();                                                                  \
        return settle(&input, MR_NEW_OTHER, made, MR_DESCRIPTOR_UNKNOWN, MR_CALLER);               \
    }
GIVES_WATCHER(inotify_init, (void), ())
GIVES_WATCHER(inotify_init1, (int flags), (flags))
#undef GIVES_WATCHER

#define GIVES_SET(name, parameters, arguments)                                                     \
    MR_EXPORT int name parameters                                                                  \
    {                                                                                              \
        mr_input input;                                                                            \
        int made = mr_descriptor_expect(&input, MR_NEW_OTHER) ? MR_REAL(name) arguments : -1;      \
        return new_set(settle(&input, MR_NEW_OTHER, made, MR_DESCRIPTOR_INSIDE, MR_CALLER));       \
    }
GIVES_SET(epoll_create, (int size), (size))
GIVES_SET(epoll_create1, (int flags), (flags))
#undef GIVES_SET

MR_EXPORT int eventfd(unsigned count, int flags)
{
    mr_input input;
    int fd = mr_descriptor_expect(&input, MR_NEW_OTHER) ? MR_REAL(eventfd)(count, flags) : -1;
    fd = settle(&input, MR_NEW_OTHER, fd, MR_DESCRIPTOR_INSIDE, MR_CALLER);
    mr_thread *thread = fd >= 0 ? mr_enter() : NULL;
    if (thread != NULL) {
        mr_channel_new_counter(fd, count, (flags & EFD_SEMAPHORE) != 0, MR_CALLER);
        mr_leave(thread);
    }
    return fd;
}

MR_EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
    int result = MR_REAL(signalfd)(fd, set, flags);
    result = fd < 0 ? given(result, false, MR_CALLER) : result; /* else it is changed */
    mr_thread *thread = result >= 0 ? mr_enter() : NULL;
    if (thread != NULL) {
        mr_channel_set_signals(result, fd < 0, set);
        mr_leave(thread);
    }
    return result;
}

/* The two ends of what the program made for itself get their numbers. The caller is busy. */
void mr_descriptors_pair(int status, int to[2])
{
    for (int i = 0; i < 2 && status == 0; i++) {
        mr_thread *thread = mr_self;
        mr_input input = mr_input_find(thread, MR_INPUT_OPEN, MR_NEW_PAIR);
        mr_input_descriptor was = {0, 0};
        if (input.head != NULL) {
            mr_input_take(&input, &was, sizeof was);
            to[i] = mr_descriptor_place(input.head, was, to[i]);
        } else {
            mr_descriptor_forget(to[i]);
            mr_input_log(thread, MR_INPUT_OPEN, MR_NEW_PAIR, false, to[i],
                         &(mr_input_part){&was, sizeof was}, 1);
        }
        mr_descriptor_set(to[i], MR_DESCRIPTOR_INSIDE);
    }
    if (status == 0) {
        mr_channel_pair(to);
    }
}

/* Also by syscall(). */
MR_DIRECT(close)
MR_DIRECT(dup)
MR_DIRECT(dup2)
MR_DIRECT(dup3)
MR_DIRECT(socket)
MR_DIRECT(open)
MR_DIRECT(openat)
MR_DIRECT(epoll_create1)
MR_DIRECT(eventfd)
