#include "log_file.h"

#include "real.h"
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

enum { TRACE_TIMES = 6 }; /* as long as the log, the trace at most */

static struct {
    char path[4096];
    dev_t device;
    ino_t inode;
    int kept; /* a descriptor of it, as long as the program does not close it; 0: none */
} file;

/* Programs count on the low numbers: the next descriptor is the lowest that is free. */
static void keep_open(int fd)
{
    static const int lowest[] = {900, 200};
    for (size_t i = 0; i < sizeof lowest / sizeof *lowest && file.kept <= 0; i++) {
        file.kept = (int)mr_sys(SYS_fcntl, fd, F_DUPFD_CLOEXEC, lowest[i], 0, 0, 0);
    }
}

static bool is_ours(int fd)
{
    struct stat is;
    return MR_REAL(fstat)(fd, &is) == 0 && is.st_dev == file.device && is.st_ino == file.inode;
}

static void absolute_path(const char *path)
{
    size_t length = 0;
    if (path[0] != '/') {
        long got = mr_sys(SYS_getcwd, (long)file.path, sizeof file.path - 2, 0, 0, 0, 0);
        length = got > 0 ? (size_t)got - 1 : 0; /* with the NUL */
        file.path[length++] = '/';
    }
    mr_copy_text(file.path + length, sizeof file.path - length, path);
}

bool mr_log_file_own(int fd)
{
    return file.kept > 0 && fd == file.kept && is_ours(fd);
}

void mr_log_file_renumber(void)
{
    file.kept = mr_move_descriptor(file.kept);
}

int mr_log_file_make(const char *path)
{
    struct stat is;
    absolute_path(path);
    long fd = mr_sys(SYS_openat, AT_FDCWD, (long)file.path,
                     O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600, 0, 0);
    if (fd >= 0 && fstat((int)fd, &is) == 0) {
        file.device = is.st_dev;
        file.inode = is.st_ino;
        keep_open((int)fd);
    }
    return (int)fd;
}

void *mr_log_file_map_other(size_t bytes)
{
    struct stat is;
    long mapped = -1;
    long fd = mr_sys(SYS_openat, AT_FDCWD, (long)file.path,
                     O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0, 0, 0);
    if (fd < 0) {
        return NULL;
    }
    if (MR_REAL(fstat)((int)fd, &is) == 0 && S_ISREG(is.st_mode) && is.st_nlink == 1 &&
        is.st_uid == (uid_t)mr_sys(SYS_geteuid, 0, 0, 0, 0, 0, 0) && is.st_size >= (off_t)bytes) {
        mapped = mr_sys(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    mr_sys(SYS_close, fd, 0, 0, 0, 0, 0);
    return mr_sys_failed(mapped) ? NULL : (void *)mapped;
}

int mr_log_file_open(void)
{
    if (file.kept > 0 && is_ours(file.kept)) {
        return file.kept;
    }
    file.kept = 0; /* the number is the program's now */
    long fd = mr_sys(SYS_openat, AT_FDCWD, (long)file.path,
                     O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0, 0, 0);
    if (fd < 0) {
        return (int)fd;
    }
    if (!is_ours((int)fd)) {
        mr_log_file_close((int)fd);
        return -ESTALE;
    }
    return (int)fd;
}

void mr_log_file_close(int fd)
{
    if (fd != file.kept) {
        mr_sys(SYS_close, fd, 0, 0, 0, 0, 0);
    }
}

void mr_log_file_forget(void)
{
    if (file.kept > 0 && is_ours(file.kept)) {
        mr_sys(SYS_close, file.kept, 0, 0, 0, 0, 0);
    }
    file.kept = 0;
}

const char *mr_log_file_path(void)
{
    return file.path;
}

/* Is there room for the log to end at `end`, and for the trace that is made of it beside it? An
 * access takes half a word here, and hardly more than three words there. Else a disk that the log
 * fills would leave no trace at all. */
static int check_room(int fd, uint64_t start, uint64_t end)
{
    struct rlimit limit;
    struct statfs disk;
    if (mr_sys(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0) == 0 &&
        limit.rlim_cur != RLIM_INFINITY && TRACE_TIMES * end > limit.rlim_cur) {
        return -EFBIG; /* the kernel would send SIGXFSZ */
    }
    if (mr_sys(SYS_fstatfs, fd, (long)&disk, 0, 0, 0, 0) == 0 && disk.f_blocks != 0 &&
        (end - start + TRACE_TIMES * end) / (uint64_t)disk.f_bsize > disk.f_bavail) {
        return -ENOSPC;
    }
    return 0;
}

int mr_log_file_allocate(int fd, uint64_t bytes)
{
    long status = check_room(fd, 0, bytes);
    if (status != 0) {
        return (int)status;
    }
    do {
        status = mr_sys(SYS_fallocate, fd, 0, 0, (long)bytes, 0, 0);
    } while (status == -EINTR);
    if (status != -EOPNOTSUPP && status != -ENOSYS) {
        return (int)status;
    }
    static const uint8_t zeros[4096];
    for (uint64_t at = 0; at < bytes; at += sizeof zeros) {
        status = mr_sys(SYS_pwrite64, fd, (long)zeros, sizeof zeros, (long)at, 0, 0);
        if (status != (long)sizeof zeros) {
            return status < 0 ? (int)status : -ENOSPC;
        }
    }
    return 0;
}

int mr_log_file_write(int fd, const void *from, size_t bytes, uint64_t at)
{
    const uint8_t *next = from;
    size_t left = bytes;
    int status = check_room(fd, at, at + left);
    if (status != 0) {
        return status;
    }
    while (left > 0) {
        long written = mr_sys(SYS_pwrite64, fd, (long)next, (long)left, (long)at, 0, 0);
        if (written <= 0 && written != -EINTR) {
            return written < 0 ? (int)written : -ENOSPC;
        }
        written = written < 0 ? 0 : written;
        next += written;
        at += (uint64_t)written;
        left -= (size_t)written;
    }
    return 0;
}

void mr_log_file_truncate(int fd, uint64_t at)
{
    mr_sys(SYS_ftruncate, fd, (long)at, 0, 0, 0, 0);
}
