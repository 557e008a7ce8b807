#include "descriptors.h"

#include "real.h"
#include "scheduler.h"
#include "sys.h"
#include "writer.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

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
    log_descriptor(MR_LOG_RETIRED, closed ? MR_LOG_RETIRED_DESTROYED : MR_LOG_RETIRED_KNOWN, fd,
                   code);
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

MR_EXPORT int close(int fd)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(close)(fd);
    }
    mr_yield(thread);
    if (is_open(fd)) {
        mr_descriptor_end(fd, true, MR_CALLER);
    }
    mr_leave(thread);
    return MR_REAL(close)(fd);
}

/* dup2 and dup3. */
static mr_thread *begin_replace(int from, int to, bool *is_new, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_yield(thread);
        mr_descriptor_use(from, code);
        *is_new = !is_open(to);
    }
    return thread;
}

static int end_replace(mr_thread *thread, int from, bool is_new, int result, uintptr_t code)
{
    if (thread != NULL) {
        if (result >= 0 && result != from) {
            log_descriptor(MR_LOG_RETIRED, MR_LOG_RETIRED_INITIALISED, result, code);
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
    return end_replace(thread, from, is_new, MR_REAL(dup2)(from, to), MR_CALLER);
}

MR_EXPORT int dup3(int from, int to, int flags)
{
    bool is_new = false;
    mr_thread *thread = begin_replace(from, to, &is_new, MR_CALLER);
    return end_replace(thread, from, is_new, MR_REAL(dup3)(from, to, flags), MR_CALLER);
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

MR_EXPORT int dup(int fd)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_descriptor_use(fd, MR_CALLER);
        mr_leave(thread);
    }
    return given(MR_REAL(dup)(fd), false, MR_CALLER);
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
        return given(MR_REAL(name) arguments, false, MR_CALLER);                                   \
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
    return given(MR_REAL(socket)(domain, type, protocol), true, MR_CALLER);
}

#define GIVES(name, parameters, arguments)                                                         \
    MR_EXPORT int name parameters                                                                  \
    {                                                                                              \
        return given(MR_REAL(name) arguments, false, MR_CALLER);                                   \
    }
GIVES(creat, (const char *path, mode_t mode), (path, mode))
GIVES(creat64, (const char *path, mode_t mode), (path, mode))
GIVES(epoll_create, (int size), (size))
GIVES(epoll_create1, (int flags), (flags))
GIVES(eventfd, (unsigned count, int flags), (count, flags))
GIVES(inotify_init, (void), ())
GIVES(inotify_init1, (int flags), (flags))
GIVES(memfd_create, (const char *name_, unsigned flags), (name_, flags))
#undef GIVES

MR_EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
    int result = MR_REAL(signalfd)(fd, set, flags);
    return fd < 0 ? given(result, false, MR_CALLER) : result; /* else it is changed */
}
