/* What a stream is beside the memory that its functions access. */
#include "../channels.h"
#include "../descriptors.h"
#include "../input_descriptors.h"
#include "../io.h"
#include "../writer.h"
#include "calls.h"

#include <errno.h>
#include <poll.h>
#include <sys/stat.h>

/* How many locks of streams functions of the program have: taken by flockfile, or libc has called them with it. */
static struct {
    int count;
} held;

void mr_libc_count_held(int change)
{
    held.count += change;
}

bool mr_libc_is_held(void)
{
    return held.count > 0;
}

static void take_lock(mr_thread *thread, FILE *file, uintptr_t code)
{
    while (MR_REAL(ftrylockfile)(file) != 0) {
        mr_write_object(MR_LOG_BLOCKED, MR_LOG_ROLE_MUTEX, file, code, 0, 0);
        if (mr_block(thread, file, MR_NEVER, false) == MR_INTERRUPTED) {
            mr_attend(thread);
        }
    }
}

void mr_libc_lock(mr_thread *thread, FILE *file, uintptr_t code)
{
    take_lock(thread, file, code);
    mr_libc_count_held(1);
    mr_write_object(MR_LOG_ACQUIRE, MR_LOG_ROLE_MUTEX, file, code, 0, 0);
}

void mr_libc_unlock(FILE *file, uintptr_t code)
{
    mr_write_object(MR_LOG_RELEASE, MR_LOG_ROLE_MUTEX, file, code, 0, 0);
    MR_REAL(funlockfile)(file);
    mr_libc_count_held(-1);
    mr_wake_key(file);
}

void mr_libc_await_lock(FILE *file, uintptr_t code)
{
    if (held.count > 0) {
        take_lock(mr_self, file, code);
        MR_REAL(funlockfile)(file);
    }
}

/* What stands for the stream: a member that does not change while it is open, and that no macro of
 * <stdio.h> uses. */
void mr_libc_use(FILE *file, uintptr_t code)
{
    if (file != NULL) {
        mr_libc_await_lock(file, code);
        mr_libc_access(MR_LOG_RANGE_READ, &file->_fileno, sizeof file->_fileno, code);
    }
}

enum { KNOWN = 64 };

/* Streams whose descriptor was looked at last, by their address. */
static struct {
    struct {
        const FILE *file;
        int fd;
        bool is_channel;
    } of[KNOWN];
} known;

bool mr_libc_is_channel(FILE *file)
{
    int fd = file != NULL ? file->_fileno : -1;
    size_t at = (uintptr_t)file / sizeof(FILE) % KNOWN;
    if (fd < 0) {
        return false;
    }
    if (known.of[at].file != file || known.of[at].fd != fd) {
        struct stat is;
        int saved_errno = errno;
        int status = mr_descriptor_stat(fd, &is);
        errno = saved_errno;
        known.of[at].file = file;
        known.of[at].fd = fd;
        known.of[at].is_channel = status == 0 && (S_ISFIFO(is.st_mode) || S_ISSOCK(is.st_mode));
    }
    return known.of[at].is_channel;
}

/* Standard streams lead out of the program: order between its threads by them is chance. */
static bool is_standard(const FILE *file)
{
    return file == stdin || file == stdout || file == stderr;
}

void mr_libc_await(FILE *file)
{
    if (file != NULL && file->_IO_read_ptr >= file->_IO_read_end && mr_libc_is_channel(file)) {
        mr_io_await(mr_self, file->_fileno, POLLIN);
    }
}

void mr_libc_channel(mr_log_kind kind, FILE *file, uintptr_t code)
{
    if (is_standard(file)) {
        return;
    }
    if (!mr_libc_is_channel(file)) {
        if (kind == MR_LOG_BEFORE) {
            mr_outside_file_changes(code);
        }
    } else if (kind == MR_LOG_BEFORE) {
        mr_channel_log(kind, file->_fileno, code);
    } else {
        mr_channel_log_end(file->_fileno, code);
    }
}

void mr_libc_leads_to_child(FILE *file)
{
    if (file != NULL) {
        mr_channel_inherited(file->_fileno);
    }
}

static void forget(const FILE *file)
{
    size_t at = (uintptr_t)file / sizeof(FILE) % KNOWN;
    if (known.of[at].file == file) {
        known.of[at].file = NULL;
    }
}

void mr_libc_end_use(FILE *file, uintptr_t code)
{
    if (file != NULL) {
        mr_libc_access(MR_LOG_RANGE_WRITE, &file->_fileno, sizeof file->_fileno, code);
        mr_descriptor_end(file->_fileno, true, code);
        mr_descriptor_forget(file->_fileno);
        forget(file);
    }
}
