#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#ifdef __x86_64__
long mr_sys(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
long mr_sys(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}
#else
#error "the runtime knows x86-64 and AArch64"
#endif

void mr_futex_wait(uint32_t *word, uint32_t expected, int64_t nanoseconds)
{
    struct timespec limit = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    mr_sys(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, expected, nanoseconds < 0 ? 0 : (long)&limit,
           0, 0);
}

void mr_futex_wake(uint32_t *word, int count)
{
    mr_sys(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, count, 0, 0, 0);
}

long mr_poll_now(struct pollfd *fds, size_t count)
{
    long result;
    do {
        struct timespec none = {0, 0};
        result = mr_sys(SYS_ppoll, (long)fds, (long)count, (long)&none, 0, 0, 0);
    } while (result == -EINTR);
    return result;
}

void mr_lock(uint32_t *word)
{
    uint32_t free_word = 0;
    if (__atomic_compare_exchange_n(word, &free_word, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        return;
    }
    while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE) != 0) {
        mr_futex_wait(word, 2, -1);
    }
}

void mr_unlock(uint32_t *word)
{
    if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) == 2) {
        mr_futex_wake(word, 1);
    }
}

void *mr_pages(size_t bytes)
{
    size_t whole = (bytes + 4095) & ~(size_t)4095;
    long result = mr_sys(SYS_mmap, 0, (long)whole, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mr_sys_failed(result) ? NULL : (void *)result;
}

int64_t mr_clock_ns(int clock)
{
    struct timespec now = {0, 0};
    mr_sys(SYS_clock_gettime, clock, (long)&now, 0, 0, 0, 0);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int mr_gettid(void)
{
    return (int)mr_sys(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

size_t mr_copy_number(char *to, uint64_t number)
{
    char digits[20];
    size_t count = 0, length = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (count > 0) {
        to[length++] = digits[--count];
    }
    return length;
}

long mr_read_task(int id, const char *file, char *text, size_t room)
{
    char path[64] = "/proc/self/task/";
    size_t length = 16;
    length += mr_copy_number(path + length, (uint64_t)id);
    mr_copy_text(path + length, sizeof path - length, file);
    long fd = mr_sys(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
    if (fd < 0) {
        return fd;
    }
    long bytes = mr_sys(SYS_read, fd, (long)text, (long)room - 1, 0, 0, 0);
    mr_sys(SYS_close, fd, 0, 0, 0, 0, 0);
    text[bytes > 0 ? bytes : 0] = '\0';
    return bytes;
}

size_t mr_copy_text(char *to, size_t room, const char *from)
{
    size_t length = 0;
    /* cppcheck does not see that the text ends with a NUL. */
    /* cppcheck-suppress arrayIndexOutOfBoundsCond */
    while (length + 1 < room && from[length] != '\0') {
        /* cppcheck-suppress arrayIndexOutOfBoundsCond */
        to[length] = from[length];
        length++;
    }
    to[length] = '\0';
    return length;
}

bool mr_begins_with(const char *text, const char *begin)
{
    while (*begin != '\0' && *text == *begin) {
        text++;
        begin++;
    }
    return *begin == '\0';
}

bool mr_is_called(const char *path, const char *begin)
{
    const char *name = path;
    for (; *path != '\0'; path++) {
        name = *path == '/' ? path + 1 : name;
    }
    return mr_begins_with(name, begin);
}

void mr_complain(const char *text, const char *detail)
{
    char line[512];
    size_t length = mr_copy_text(line, sizeof line - 2, "maxrace: ");
    length += mr_copy_text(line + length, sizeof line - 2 - length, text);
    if (detail != NULL) {
        length += mr_copy_text(line + length, sizeof line - 2 - length, detail);
    }
    line[length++] = '\n';
    mr_sys(SYS_write, 2, (long)line, (long)length, 0, 0, 0);
}

int mr_move_descriptor(int fd)
{
    enum { LOWEST = 64 }; /* programs count on the low numbers */
    long copy = mr_sys(SYS_fcntl, fd, F_DUPFD_CLOEXEC, fd + 1, 0, 0, 0);
    copy = copy >= 0 ? copy : mr_sys(SYS_fcntl, fd, F_DUPFD_CLOEXEC, LOWEST, 0, 0, 0);
    if (copy < 0) {
        return fd;
    }
    mr_sys(SYS_close, fd, 0, 0, 0, 0, 0);
    return (int)copy;
}

uint64_t mr_parse_number(const char *text, uint64_t otherwise)
{
    uint64_t number = 0;
    if (text == NULL || *text == '\0') {
        return otherwise;
    }
    for (; *text >= '0' && *text <= '9'; text++) {
        number = number * 10 + (uint64_t)(*text - '0');
    }
    return *text == '\0' ? number : otherwise;
}
