#include "steer_result.h"

#include "sys.h"
#include "writer.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

enum { LINES_BYTES = 1 << 16, FRAMES_TOLD = 64 };

static struct {
    int fd; /* 0: none */
    const mr_schedule *schedule;
    size_t used;
    char lines[LINES_BYTES];
} result;

void mr_result_open(const char *path, const mr_schedule *schedule)
{
    result.schedule = schedule;
    if (path == NULL || path[0] == '\0') {
        return;
    }
    enum { LOWEST = 899 }; /* programs count on the low numbers */
    long fd = mr_sys(SYS_openat, AT_FDCWD, (long)path,
                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600, 0, 0);
    if (fd < 0) {
        mr_complain("cannot write the result of the replay: ", path);
        return;
    }
    long high = mr_sys(SYS_fcntl, fd, F_DUPFD_CLOEXEC, LOWEST, 0, 0, 0);
    if (high > 0) {
        mr_sys(SYS_close, fd, 0, 0, 0, 0, 0);
        fd = high;
    }
    result.fd = (int)fd;
}

bool mr_result_own(int fd)
{
    return result.fd > 0 && fd == result.fd;
}

void mr_result_renumber(void)
{
    result.fd = mr_move_descriptor(result.fd);
}

void mr_result_text(const char *text, uint32_t bytes)
{
    if (result.used > 0 && result.lines[result.used - 1] != '\n' && result.used < LINES_BYTES) {
        result.lines[result.used++] = ' ';
    }
    for (uint32_t i = 0; i < bytes && text[i] != '\0' && result.used < LINES_BYTES - 1; i++) {
        result.lines[result.used++] = text[i];
    }
}

void mr_result_word(const char *text)
{
    mr_result_text(text, UINT32_MAX);
}

static void put_number(uint64_t number, unsigned base, const char *before)
{
    char text[40];
    size_t at = sizeof text - 1;
    text[at] = '\0';
    do {
        text[--at] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number > 0);
    for (size_t i = 0; before[i] != '\0'; i++) {
        text[--at] = before[i]; /* one character, or "x0" */
    }
    mr_result_word(text + at);
}

void mr_result_number(int64_t number)
{
    put_number(number < 0 ? -(uint64_t)number : (uint64_t)number, 10, number < 0 ? "-" : "");
}

void mr_result_address(uint64_t address)
{
    put_number(address, 16, "x0");
}

void mr_result_code(uint64_t code)
{
    const mr_schedule *schedule = result.schedule;
    for (uint64_t i = 0; i < schedule->module_count; i++) {
        const mr_schedule_module *module = &schedule->modules[i];
        if (module->here != 0 && code - module->here < module->end - module->start) {
            code = code - module->here + module->start;
            break;
        }
    }
    mr_result_address(code);
}

void mr_result_end(void)
{
    if (result.used < LINES_BYTES) {
        result.lines[result.used++] = '\n';
    }
}

void mr_result_flush(void)
{
    size_t done = 0;
    while (result.fd > 0 && done < result.used) {
        long written = mr_sys(SYS_write, result.fd, (long)(result.lines + done),
                              (long)(result.used - done), 0, 0, 0);
        if (written <= 0) {
            break;
        }
        done += (size_t)written;
    }
    result.used = 0;
}

/* What is at an address that may be no memory. */
static bool look(const void *address, unsigned bytes_log2, int64_t *value)
{
    uint64_t there = 0;
    struct iovec here = {&there, (size_t)1 << bytes_log2};
    struct iovec other = {(void *)(uintptr_t)address, here.iov_len};
    bool ok = mr_sys(SYS_process_vm_readv, mr_sys(SYS_getpid, 0, 0, 0, 0, 0, 0), (long)&here, 1,
                     (long)&other, 1, 0) == (long)here.iov_len;
    *value = mr_load(&there, bytes_log2);
    return ok;
}

static void tell_about(const mr_thread *thread)
{
    const mr_about *about = &thread->about;
    int64_t value;
    mr_result_word("about");
    mr_result_number(thread->role);
    mr_result_word(mr_log_kind_name(mr_log_kind_of(about->head)));
    mr_result_number(1 << (about->head >> 8 & 3));
    mr_result_address((uintptr_t)about->address);
    if (!mr_log_is_range(mr_log_kind_of(about->head)) &&
        look(about->address, about->head >> 8 & 3, &value)) {
        mr_result_number(value);
    }
    mr_result_end();
    mr_result_word("frame");
    mr_result_number(thread->role);
    mr_result_code(about->code);
    mr_result_end();
}

void mr_result_thread(const mr_thread *thread, uint64_t position)
{
    static const char *const states[] = {
        [MR_RUNNABLE] = "ready",    [MR_RUNNING] = "running", [MR_BLOCKED] = "waits",
        [MR_OUTSIDE] = "in-a-call", [MR_DONE] = "ended",
    };
    mr_result_word("thread");
    mr_result_number(thread->role);
    mr_result_number(thread->kernel_id);
    mr_result_number((int64_t)position);
    mr_result_word(states[thread->state]);
    mr_result_end();
    if (thread->about.code != 0) {
        tell_about(thread);
    }
    uint32_t depth = thread->depth < MR_FRAMES_MAX ? thread->depth : MR_FRAMES_MAX;
    for (uint32_t i = 0; i < depth && i < FRAMES_TOLD; i++) {
        mr_result_word("frame");
        mr_result_number(thread->role);
        mr_result_code(thread->frames[depth - 1 - i].caller);
        mr_result_end();
    }
}
