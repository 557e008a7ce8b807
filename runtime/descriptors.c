#include "descriptors.h"

#include "input_descriptors.h"
#include "real.h"
#include "scheduler.h"
#include "sys.h"
#include "writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
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

void mr_descriptor_use(int fd, uintptr_t code)
{
    log_descriptor(MR_LOG_USED, 0, fd, code);
}

void mr_descriptor_end(int fd, bool closed, uintptr_t code)
{
    log_descriptor(MR_LOG_RETIRED, closed ? MR_LOG_RETIRED_DESTROYED : MR_LOG_RETIRED_KNOWN, fd,
                   code);
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
    mr_descriptor_forget(fd);
    mr_leave(thread);
    return MR_REAL(close)(fd);
}

/* dup2 and dup3. */
static mr_thread *begin_replace(int from, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_yield(thread);
        mr_descriptor_use(from, code);
    }
    return thread;
}

static int end_replace(mr_thread *thread, int from, int result, uintptr_t code)
{
    if (thread != NULL) {
        if (result >= 0 && result != from) {
            log_descriptor(MR_LOG_RETIRED, MR_LOG_RETIRED_INITIALISED, result, code);
            mr_descriptor_copy(from, result);
        }
        mr_leave(thread);
    }
    return result;
}

MR_EXPORT int dup2(int from, int to)
{
    mr_thread *thread = begin_replace(from, MR_CALLER);
    return end_replace(thread, from, MR_REAL(dup2)(from, to), MR_CALLER);
}

MR_EXPORT int dup3(int from, int to, int flags)
{
    mr_thread *thread = begin_replace(from, MR_CALLER);
    return end_replace(thread, from, MR_REAL(dup3)(from, to, flags), MR_CALLER);
}

/* A number that is given out: whatever had it before was closed. */
static int given(int fd, uintptr_t code)
{
    mr_thread *thread = is_logged(fd) ? mr_enter() : NULL;
    if (thread != NULL) {
        mr_descriptor_end(fd, false, code);
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
    mr_input input;
    int copy = mr_descriptor_expect(&input, MR_NEW_COPY) ? MR_REAL(dup)(fd) : -1;
    copy = mr_descriptor_made(&input, MR_NEW_COPY, copy, MR_DESCRIPTOR_UNKNOWN);
    mr_descriptor_copy(fd, copy);
    return given(copy, MR_CALLER);
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
        mr_input input;                                                                            \
        int fd = mr_descriptor_expect(&input, MR_NEW_FILE) ? MR_REAL(name) arguments : -1;         \
        fd = mr_descriptor_made(&input, MR_NEW_FILE, fd, MR_DESCRIPTOR_UNKNOWN);                   \
        if ((flags & O_ACCMODE) != O_RDONLY) {                                                     \
            mr_descriptor_written(fd);                                                             \
        }                                                                                          \
        return given(fd, MR_CALLER);                                                               \
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
    fd = mr_descriptor_made(&input, MR_NEW_SOCKET, fd, MR_DESCRIPTOR_UNKNOWN);
    mr_descriptor_socket(fd, type);
    return given(fd, MR_CALLER);
}

/* Descriptors by which threads of the program reach each other. */
#define MAKES(name, parameters, arguments, origin)                                                 \
    MR_EXPORT int name parameters                                                                  \
    {                                                                                              \
        mr_input input;                                                                            \
        int made = mr_descriptor_expect(&input, MR_NEW_OTHER) ? MR_REAL(name) arguments : -1;      \
        return given(mr_descriptor_made(&input, MR_NEW_OTHER, made, origin), MR_CALLER);           \
    }
MAKES(eventfd, (unsigned start, int flags), (start, flags), MR_DESCRIPTOR_INSIDE)
MAKES(epoll_create, (int size), (size), MR_DESCRIPTOR_INSIDE)
MAKES(epoll_create1, (int flags), (flags), MR_DESCRIPTOR_INSIDE)
MAKES(memfd_create, (const char *name, unsigned flags), (name, flags), MR_DESCRIPTOR_INSIDE)
#undef MAKES

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
}
