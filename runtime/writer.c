#include "writer.h"

#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

enum {
    WINDOW = 1 << 19,
    RANGE_PIECE = 1 << 15,      /* bytes of one range record; a window has room for many */
    PENDING_MAX = 1 << 17,      /* bytes of a range whose value is filled in later */
    TRACE_TIMES = 6,            /* as long as the log, the trace at most */
    SCRATCH_WINDOW = 512 << 10, /* where records go that nobody reads */
};

static mr_hot_state hot_of_nobody;

mr_hot_state *mr_hot = &hot_of_nobody;

_Static_assert(sizeof(mr_log_header) <= MR_LOG_LIVE_AT &&
                   MR_LOG_LIVE_AT + sizeof(mr_hot_state) <= MR_LOG_HEADER_BYTES,
               "the header has room for both");
_Static_assert(offsetof(mr_hot_state, live) == 0, "a reader finds it there");

static struct {
    char path[4096];
    dev_t device;
    ino_t inode;
    uint64_t *window;
    uint64_t *scratch;
    uint64_t *after_switch; /* where the last SWITCH ends */
} writer;

/* The file again, or -errno; another file at its path counts as an error. */
static int reopen(void)
{
    long fd = mr_sys(SYS_openat, AT_FDCWD, (long)writer.path, O_RDWR | O_CLOEXEC, 0, 0, 0);
    struct stat is;
    if (fd < 0) {
        return (int)fd;
    }
    if (fstat((int)fd, &is) != 0 || is.st_dev != writer.device || is.st_ino != writer.inode) {
        mr_sys(SYS_close, fd, 0, 0, 0, 0, 0);
        return -ESTALE;
    }
    return (int)fd;
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

/* Blocks for bytes [start, end) of the file. */
static int allocate(int fd, uint64_t start, uint64_t end)
{
    long status = check_room(fd, start, end);
    if (status != 0) {
        return (int)status;
    }
    do {
        status = mr_sys(SYS_fallocate, fd, 0, (long)start, (long)(end - start), 0, 0);
    } while (status == -EINTR);
    if (status != -EOPNOTSUPP && status != -ENOSYS) {
        return (int)status;
    }
    static const uint8_t zeros[4096];
    for (uint64_t at = start; at < end; at += sizeof zeros) {
        status = mr_sys(SYS_pwrite64, fd, (long)zeros, sizeof zeros, (long)at, 0, 0);
        if (status != (long)sizeof zeros) {
            return status < 0 ? (int)status : -ENOSPC;
        }
    }
    return 0;
}

/* Records go to these bytes, from the begin. */
static void use_window(uint64_t *window, size_t bytes)
{
    writer.after_switch = NULL;
    mr_hot->after_enter = NULL;
    mr_hot->live.window = window;
    mr_hot->limit = (uint32_t *)(void *)(window + bytes / 8 - MR_LOG_MARGIN);
    mr_writer_advance(window);
}

/* Writes the words before `end` of the window to the file; they stay in the window. */
static int write_window(int fd, const uint64_t *end)
{
    const uint8_t *from = (const uint8_t *)writer.window;
    size_t left = (size_t)((const uint8_t *)end - from);
    uint64_t at = mr_rt.header->window_start;
    int status = check_room(fd, at, at + left);
    if (status != 0) {
        return status;
    }
    while (left > 0) {
        long written = mr_sys(SYS_pwrite64, fd, (long)from, (long)left, (long)at, 0, 0);
        if (written <= 0 && written != -EINTR) {
            return written < 0 ? (int)written : -ENOSPC;
        }
        written = written < 0 ? 0 : written;
        from += written;
        at += (uint64_t)written;
        left -= (size_t)written;
    }
    return 0;
}

/* The offset in the file of a record in the window. */
static uint64_t offset_of(const void *record)
{
    return mr_rt.header->window_start +
           (uint64_t)((const char *)record - (const char *)writer.window);
}

/* Words [kept, cursor) go to the begin of the window, what was before them is in the file. At each
 * moment the header is right. */
static void restart_window(const uint64_t *kept)
{
    size_t words = (size_t)(mr_writer_cursor() - kept);
    uint64_t start = offset_of(kept);
    __atomic_store_n(&mr_rt.header->end, start, __ATOMIC_RELEASE);
    __atomic_store_n(&mr_rt.header->window_start, start, __ATOMIC_RELEASE);
    use_window(writer.window, WINDOW);
    for (size_t i = 0; i < words; i++) {
        writer.window[i] = kept[i];
    }
    mr_writer_advance(writer.window + words);
    __atomic_store_n(&mr_rt.header->end, 0, __ATOMIC_RELEASE);
}

/* What comes goes to memory that nobody reads, from its begin. */
static void restart_scratch(void)
{
    use_window(writer.scratch, SCRATCH_WINDOW);
    mr_hot->live.waiting = MR_LOG_WAITING_NONE;
    mr_hot->kept = false;
}

static void to_scratch(void)
{
    if (writer.scratch == NULL) {
        writer.scratch = mr_pages(SCRATCH_WINDOW);
    }
    hot_of_nobody = *mr_hot;
    mr_hot = &hot_of_nobody;
    restart_scratch();
}

static void absolute_path(const char *path)
{
    size_t length = 0;
    if (path[0] != '/') {
        long got = mr_sys(SYS_getcwd, (long)writer.path, sizeof writer.path - 2, 0, 0, 0, 0);
        length = got > 0 ? (size_t)got - 1 : 0; /* with the NUL */
        writer.path[length++] = '/';
    }
    mr_copy_text(writer.path + length, sizeof writer.path - length, path);
}

/* Maps the header and the window. */
static bool start_header(int fd)
{
    long result = mr_sys(SYS_mmap, 0, MR_LOG_HEADER_BYTES + WINDOW, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_POPULATE, fd, 0);
    if (mr_sys_failed(result)) {
        return false;
    }
    mr_log_header *header = (mr_log_header *)result;
    for (size_t i = 0; i < sizeof header->magic; i++) {
        header->magic[i] = MR_LOG_MAGIC[i];
    }
    header->version = MR_LOG_VERSION;
    header->header_bytes = MR_LOG_HEADER_BYTES + WINDOW;
    header->window_start = header->header_bytes;
    header->window_at = MR_LOG_HEADER_BYTES;
    header->window_bytes = WINDOW;
    header->started_ns = (uint64_t)mr_clock_ns(CLOCK_REALTIME);
    header->process = (uint32_t)mr_sys(SYS_getpid, 0, 0, 0, 0, 0, 0);
    mr_rt.header = header;
    mr_hot = (mr_hot_state *)(result + MR_LOG_LIVE_AT);
    *mr_hot = hot_of_nobody;
    writer.window = (uint64_t *)(result + MR_LOG_HEADER_BYTES);
    use_window(writer.window, WINDOW);
    return true;
}

bool mr_writer_open(const char *path)
{
    struct stat is;
    absolute_path(path);
    long fd =
        mr_sys(SYS_openat, AT_FDCWD, (long)writer.path, O_RDWR | O_CREAT | O_CLOEXEC, 0666, 0, 0);
    if (fd < 0 || fstat((int)fd, &is) != 0) {
        mr_complain("cannot write the log ", writer.path);
        return false;
    }
    bool ours = is.st_size == 0;
    writer.device = is.st_dev;
    writer.inode = is.st_ino;
    if (ours &&
        (allocate((int)fd, 0, MR_LOG_HEADER_BYTES + WINDOW) != 0 || !start_header((int)fd))) {
        mr_complain("no space for the log ", writer.path);
        mr_sys(SYS_unlinkat, AT_FDCWD, (long)writer.path, 0, 0, 0, 0); /* so 'record' can tell */
        ours = false;
    }
    mr_sys(SYS_close, fd, 0, 0, 0, 0, 0);
    return ours;
}

void mr_writer_close(mr_log_state state, int error)
{
    if (!mr_rt.logging) {
        return;
    }
    mr_writer_settle();
    mr_rt.logging = false;
    mr_rt.header->state = state;
    mr_rt.header->error = error;
    int fd = reopen();
    if (fd >= 0) {
        const uint64_t *end = mr_writer_cursor();
        if (error == 0 && write_window(fd, end) == 0) {
            restart_window(end);
        }
        mr_sys(SYS_ftruncate, fd, (long)mr_rt.header->window_start, 0, 0, 0, 0);
        mr_sys(SYS_close, fd, 0, 0, 0, 0, 0);
    }
    mr_rt.header->end = offset_of(mr_hot->live.cursor);
    to_scratch();
}

void mr_writer_grow(void)
{
    if (!mr_rt.logging) {
        restart_scratch();
        return;
    }
    const uint64_t *cursor = mr_writer_cursor();
    const uint64_t *end = mr_hot->live.waiting == MR_LOG_WAITING_RANGE ? mr_hot->range : cursor;
    int fd = reopen();
    int status = fd < 0 ? fd : write_window(fd, end);
    if (fd >= 0) {
        mr_sys(SYS_close, fd, 0, 0, 0, 0, 0);
    }
    if (status == 0) {
        restart_window(end);
        mr_hot->range = writer.window;
    } else {
        mr_complain(status == -ENOSPC
                        ? "no space left; the recording ends here, the program goes on: "
                        : "cannot write on; the recording ends here, the program goes on: ",
                    writer.path);
        mr_writer_close(MR_LOG_FULL, -status);
    }
}

static void copy_bytes(uint64_t *to, const void *from, size_t bytes)
{
    const uint8_t *source = from;
    size_t words = bytes / 8;
    for (size_t i = 0; i < words; i++) {
        to[i] = (uint64_t)mr_load(source + 8 * i, 3);
    }
    if (bytes % 8 != 0) {
        uint64_t last = 0;
        for (size_t i = 8 * words; i < bytes; i++) {
            last |= (uint64_t)((const volatile uint8_t *)source)[i] << 8 * (i % 8);
        }
        to[words] = last;
    }
}

/* Ranges that are to be filled in follow each other. */
static void settle_ranges(uint64_t *record)
{
    const uint64_t *end = (const uint64_t *)(const void *)mr_hot->live.cursor;
    while (record < end && mr_log_kind_of(record[0]) == MR_LOG_RANGE_WRITE) {
        copy_bytes(record + 3, (const void *)mr_log_payload(record[0]), record[2]);
        record[0] &= ~((uint64_t)MR_LOG_NO_VALUE << 8);
        record += 3 + (record[2] + 7) / 8;
    }
}

void mr_writer_settle(void)
{
    mr_log_waiting waiting = mr_hot->live.waiting;
    if (waiting == MR_LOG_WAITING_RANGE) {
        mr_hot->live.waiting = MR_LOG_WAITING_NONE;
        mr_hot->kept = false;
        settle_ranges(mr_hot->range);
    } else if (waiting != MR_LOG_WAITING_NONE) {
        mr_settle_write();
    }
}

void mr_write_object(mr_log_kind kind, unsigned role, const void *address, uintptr_t code,
                     unsigned count, uint64_t number)
{
    mr_writer_settle();
    uint64_t *record = mr_writer_room();
    record[0] = mr_log_head(kind, role, (uint64_t)address & 0xffffffffffffu);
    record[1] = (uint64_t)code | (uint64_t)count << 48;
    record[2] = number;
    mr_writer_advance(record + 3);
}

/* Room for whole words, without the margin. */
static size_t words_left(void)
{
    const uint32_t *cursor = mr_hot->live.cursor;
    return cursor < mr_hot->limit ? (size_t)(mr_hot->limit - cursor) / 2 : 0;
}

/* The head of a range record of at most RANGE_PIECE bytes, with room for them. */
static uint64_t *begin_piece(uint64_t head, size_t bytes, uintptr_t code)
{
    if (words_left() < bytes / 8 + 8) {
        mr_writer_grow();
    }
    uint64_t *record = mr_writer_cursor();
    record[0] = head;
    record[1] = (uint64_t)code;
    record[2] = bytes;
    return record;
}

void mr_write_range(mr_log_kind kind, const void *address, size_t bytes, uintptr_t code)
{
    const uint8_t *at = address;
    if (!mr_hot->kept) {
        mr_writer_settle();
    }
    while (bytes > 0) {
        size_t piece = bytes < RANGE_PIECE ? bytes : RANGE_PIECE;
        uint64_t *record = begin_piece(mr_log_head(kind, 0, (uint64_t)at), piece, code);
        copy_bytes(record + 3, at, piece);
        mr_writer_advance(record + 3 + (piece + 7) / 8);
        at += piece;
        bytes -= piece;
    }
}

void mr_write_range_pending(const void *address, size_t bytes, uintptr_t code, unsigned detail)
{
    const uint8_t *at = address;
    mr_writer_settle();
    bool fits = bytes <= PENDING_MAX;
    if (fits && words_left() < bytes / 8 + bytes / 1024 + 8) {
        mr_writer_grow();
    }
    uint64_t *first = mr_writer_cursor();
    while (bytes > 0) {
        size_t piece = bytes < RANGE_PIECE ? bytes : RANGE_PIECE;
        uint64_t head = mr_log_head(MR_LOG_RANGE_WRITE, detail | MR_LOG_NO_VALUE, (uint64_t)at);
        uint64_t *record = begin_piece(head, piece, code);
        mr_writer_advance(record + 3 + (piece + 7) / 8);
        at += piece;
        bytes -= piece;
    }
    mr_hot->range = first;
    mr_hot->live.waiting = fits ? MR_LOG_WAITING_RANGE : MR_LOG_WAITING_NONE;
    mr_hot->kept = false;
}

void mr_write_access(mr_log_kind kind, unsigned detail, const void *address, int64_t value,
                     uintptr_t code)
{
    mr_writer_settle();
    unsigned head = (unsigned)mr_log_head(kind, detail, 0);
    mr_writer_room();
    if (kind == MR_LOG_READ || kind == MR_LOG_WRITE) {
        mr_put_known(head, code, (uintptr_t)address, value);
    } else {
        mr_put_access(mr_writer_cursor(), head | (uint64_t)address << 16, code, value);
    }
}

void mr_write_text(mr_log_kind kind, uint64_t number, const char *text)
{
    char buffer[256] = {0};
    mr_writer_settle();
    size_t words = 2 + (mr_copy_text(buffer, sizeof buffer, text) + 8) / 8;
    uint64_t *record = mr_writer_room();
    record[0] = mr_log_head(kind, 0, words);
    record[1] = number;
    copy_bytes(record + 2, buffer, 8 * (words - 2));
    mr_writer_advance(record + words);
}

void mr_write_module(const mr_log_module *module, const char *path)
{
    mr_writer_settle();
    size_t length = 0;
    while (path[length] != '\0') {
        length++;
    }
    size_t words = sizeof *module / 8 + (length + 8) / 8;
    if (words_left() < words) {
        mr_writer_grow();
    }
    uint64_t *record = mr_writer_cursor();
    copy_bytes(record, module, sizeof *module);
    record[0] = mr_log_head(MR_LOG_MODULE, 0, words);
    copy_bytes(record + sizeof *module / 8, path, length + 1);
    if ((length + 1) % 8 == 0 && words > sizeof *module / 8 + (length + 1) / 8) {
        record[words - 1] = 0;
    }
    mr_writer_advance(record + words);
}

void mr_write_switch(uint32_t thread)
{
    mr_writer_settle();
    uint64_t *record = mr_writer_room();
    if (writer.after_switch != NULL && record == writer.after_switch) {
        record--; /* the thread before did nothing */
    }
    writer.after_switch = record + 1;
    record[0] = mr_log_head(MR_LOG_SWITCH, 0, thread);
    mr_writer_advance(record + 1);
}
