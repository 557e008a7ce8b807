#include "writer.h"

#include "ignore.h"
#include "log_file.h"
#include "modules.h"
#include "steer.h"
#include "sys.h"
#include "vectors.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

enum {
    WINDOW = 1 << 19,
    RANGE_PIECE = 1 << 15,      /* bytes of one range record; a window has room for many */
    PENDING_MAX = 1 << 17,      /* bytes of a range whose value is filled in later */
    SCRATCH_WINDOW = 512 << 10, /* where records go that nobody reads */
};

static mr_hot_state hot_of_nobody;

mr_hot_state *mr_hot = &hot_of_nobody;
mr_log_model mr_writer_model;
int64_t mr_writer_unknown;

_Static_assert(sizeof(mr_log_header) <= MR_LOG_LIVE_AT &&
                   MR_LOG_LIVE_AT + sizeof(mr_hot_state) <= MR_LOG_HEADER_BYTES,
               "the header has room for both");
_Static_assert(offsetof(mr_hot_state, live) == 0, "a reader finds it there");

static struct {
    uint64_t *window;
    uint64_t *scratch;
    uint64_t *after_switch; /* where the last SWITCH ends */
} writer;

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
    size_t bytes = (size_t)((const char *)end - (const char *)writer.window);
    return mr_log_file_write(fd, writer.window, bytes, mr_rt.header->window_start);
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
    __atomic_store_n(&header->process, (uint32_t)mr_sys(SYS_getpid, 0, 0, 0, 0, 0, 0),
                     __ATOMIC_RELEASE); /* the last one: mr_writer_other_header */
    mr_rt.header = header;
    mr_hot = (mr_hot_state *)(result + MR_LOG_LIVE_AT);
    *mr_hot = hot_of_nobody;
    writer.window = (uint64_t *)(result + MR_LOG_HEADER_BYTES);
    use_window(writer.window, WINDOW);
    return true;
}

bool mr_writer_open(const char *path)
{
    int fd = mr_log_file_make(path);
    if (fd < 0) {
        if (fd != -EEXIST) {
            mr_complain("cannot write the log ", mr_log_file_path());
        }
        return false;
    }
    bool ready = mr_log_file_allocate(fd, MR_LOG_HEADER_BYTES + WINDOW) == 0 && start_header(fd);
    if (!ready) {
        mr_complain("no space for the log ", mr_log_file_path());
        mr_log_file_truncate(fd, 0); /* so 'record' can tell */
    }
    mr_log_file_close(fd);
    return ready;
}

/* Has whoever makes the log come so far? */
static bool is_begun(const mr_log_header *header)
{
    bool is_log = __atomic_load_n(&header->process, __ATOMIC_ACQUIRE) != 0 &&
                  header->version == MR_LOG_VERSION;
    for (size_t i = 0; i < sizeof header->magic; i++) {
        is_log = is_log && header->magic[i] == MR_LOG_MAGIC[i];
    }
    return is_log;
}

mr_log_header *mr_writer_other_header(void)
{
    enum { TRIES = 50 };
    const struct timespec moment = {.tv_nsec = 2000000};
    for (int i = 0; i < TRIES; i++) {
        mr_log_header *header = mr_log_file_map_other(MR_LOG_HEADER_BYTES);
        if (header != NULL && is_begun(header)) {
            return header;
        }
        if (header != NULL) {
            mr_sys(SYS_munmap, (long)header, MR_LOG_HEADER_BYTES, 0, 0, 0, 0);
        }
        mr_sys(SYS_nanosleep, (long)&moment, 0, 0, 0, 0, 0);
    }
    return NULL;
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
    int fd = mr_log_file_open();
    if (fd >= 0) {
        const uint64_t *end = mr_writer_cursor();
        if (error == 0 && write_window(fd, end) == 0) {
            restart_window(end);
        }
        mr_log_file_truncate(fd, mr_rt.header->window_start);
        mr_log_file_close(fd);
    }
    mr_rt.header->end = offset_of(mr_hot->live.cursor);
    to_scratch();
}

void mr_writer_forget(void)
{
    mr_writer_model = (mr_log_model){0};
    hot_of_nobody = (mr_hot_state){.budget = 0};
    mr_hot = &hot_of_nobody;
}

/* Writes the window to the file, and begins it anew. */
static void empty_window(void)
{
    if (mr_steers()) {
        mr_steer_count();
    }
    const uint64_t *cursor = mr_writer_cursor();
    const uint64_t *end = mr_hot->live.waiting == MR_LOG_WAITING_RANGE ? mr_hot->range : cursor;
    int fd = mr_log_file_open();
    int status = fd < 0 ? fd : write_window(fd, end);
    if (fd >= 0) {
        mr_log_file_close(fd);
    }
    if (status == 0) {
        restart_window(end);
        mr_steer_moved();
        mr_hot->range = writer.window;
        if (mr_rt.max_log_bytes != 0 && mr_rt.header->window_start + WINDOW > mr_rt.max_log_bytes) {
            mr_complain("the log has its full length; the recording ends here, the program goes on",
                        NULL);
            mr_writer_close(MR_LOG_LONG, 0);
        }
    } else {
        mr_complain(status == -ENOSPC
                        ? "no space left; the recording ends here, the program goes on: "
                        : "cannot write on; the recording ends here, the program goes on: ",
                    mr_log_file_path());
        mr_writer_close(MR_LOG_FULL, -status);
    }
}

static void grow(mr_thread *thread)
{
    uint8_t busy = thread != NULL ? thread->busy : 0;
    if (!mr_rt.logging) {
        restart_scratch();
        return;
    }
    if (thread != NULL) {
        thread->busy = 1; /* it may sleep here: the watchdog must not take the baton */
    }
    empty_window();
    if (thread != NULL) {
        thread->busy = busy;
    }
}

void mr_writer_grow(void)
{
    mr_vectors_kept(grow, mr_self);
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

/* The bits of a short record that say the kind in others are part of its site's number. */
static bool is_range_write(const uint64_t *record)
{
    return !mr_log_is_short((uint32_t)record[0]) && mr_log_kind_of(record[0]) == MR_LOG_RANGE_WRITE;
}

/* Ranges that are to be filled in follow each other; a read may come after them. */
static void settle_ranges(uint64_t *record)
{
    const uint64_t *end = (const uint64_t *)(const void *)mr_hot->live.cursor;
    while (record < end && is_range_write(record)) {
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
    if (mr_self != NULL && mr_ignore_object(mr_self, kind, role, address)) {
        return;
    }
    mr_writer_settle();
    uint64_t *record = mr_writer_room();
    record[0] = mr_log_head(kind, role, (uint64_t)address & 0xffffffffffffu);
    record[1] = (uint64_t)code | (uint64_t)count << 48 | (mr_is_foreign(code) ? MR_LOG_FOREIGN : 0);
    record[2] = number;
    mr_writer_advance(record + 3);
}

void mr_write_alias(const void *address, uintptr_t code, uint64_t bytes, uintptr_t to)
{
    mr_writer_settle();
    uint64_t *record = mr_writer_room();
    record[0] = mr_log_head(MR_LOG_ALIAS, 0, (uint64_t)address & 0xffffffffffffu);
    record[1] = (uint64_t)code;
    record[2] = bytes;
    record[3] = to;
    mr_writer_advance(record + 4);
}

void mr_write_state(const void *address, uintptr_t code, uint64_t fingerprint)
{
    bool waits = mr_hot->live.waiting == MR_LOG_WAITING_WRITE;
    uint64_t *record = waits ? mr_writer_cursor() : mr_writer_room();
    record[0] = mr_log_head(MR_LOG_STATE, 0, (uint64_t)address & 0xffffffffffffu);
    record[1] = (uint64_t)code;
    record[2] = fingerprint;
    mr_writer_advance(record + 3);
    if (waits) {
        mr_hot->live.waiting = MR_LOG_WAITING_BOTH; /* its record is not the last one any more */
    }
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
    unsigned detail = kind == MR_LOG_RANGE_READ ? mr_ignore_detail(mr_self, 0) : 0;
    if (!mr_hot->kept) {
        mr_writer_settle();
    }
    while (bytes > 0) {
        size_t piece = bytes < RANGE_PIECE ? bytes : RANGE_PIECE;
        uint64_t *record = begin_piece(mr_log_head(kind, detail, (uint64_t)at), piece, code);
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
    detail = kind == MR_LOG_READ ? mr_ignore_detail(mr_self, detail) : detail;
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
    char buffer[MR_LOG_TEXT_BYTES] = {0};
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
    mr_steer_module(module, path);
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
    if (mr_steers()) {
        mr_steer_count();
    }
    uint64_t *record = mr_writer_room();
    if (writer.after_switch != NULL && record == writer.after_switch) {
        record--; /* the thread before did nothing */
    }
    writer.after_switch = record + 1;
    record[0] = mr_log_head(MR_LOG_SWITCH, 0, thread);
    mr_writer_advance(record + 1);
    if (mr_steers()) {
        mr_steer_switched(thread);
    }
}

/* The site of an access: which one, and how far away its last address is. */
typedef struct placed {
    unsigned number;
    bool is_new; /* READ or WRITE puts it in */
    int64_t distance;
    mr_log_site before;
} placed;

static placed place(unsigned head, uintptr_t code, uintptr_t address)
{
    mr_log_site now = {head | (uint64_t)code << 16, address};
    unsigned number = mr_log_site_of(mr_log_kind_of(head), code, address);
    mr_log_site before = mr_writer_model.sites[number];
    int64_t distance = (int64_t)(address - before.address);
    bool is_new =
        before.head != now.head || !mr_log_fits_far(distance) || mr_writer_keeps_long(head);
    mr_writer_model.sites[number] = now;
    return (placed){number, is_new, distance, before};
}

/* The head of a record at a site that is not new. Returns where its value goes. */
static uint32_t *put_head(const placed *at, mr_log_form form)
{
    uint32_t *record = mr_hot->live.cursor;
    if (mr_log_fits_short(at->distance)) {
        record[0] = mr_log_short(form, at->number, at->distance);
        return record + 1;
    }
    *(mr_any64 *)record = (int64_t)mr_log_far(form, at->number, at->distance);
    return record + 2;
}

void mr_put_known_far(unsigned head, uintptr_t code, uintptr_t address, int64_t value)
{
    placed at = place(head, code, address);
    int64_t *known = mr_writer_known(head, address);
    mr_log_form form = mr_log_form_for(value, *known);
    *known = value;
    if (at.is_new) {
        mr_put_access(mr_writer_cursor(), head | (uint64_t)address << 16, code, value);
    } else {
        uint32_t *content = put_head(&at, form);
        *(mr_any64 *)content = value;
        mr_hot_advance(mr_hot, content + form - MR_LOG_FORM_SAME);
    }
}

void mr_put_write_far(unsigned head, uintptr_t code, uintptr_t address)
{
    unsigned log2 = head >> 8 & 3;
    placed at = place(head, code, address);
    uint32_t *after;
    mr_hot->open_address = (const void *)address;
    mr_hot->open_known = mr_writer_known(head, address);
    if (at.is_new) {
        uint64_t *record = mr_writer_cursor();
        record[0] = head | (uint64_t)address << 16;
        record[1] = (uint64_t)code;
        mr_hot->open_form = log2 | MR_OPEN_LONG;
        mr_hot->open_site = &mr_writer_model.sites[at.number];
        mr_hot->open_before = at.before;
        mr_hot->live.open = record + 2;
        after = (uint32_t *)(void *)(record + 3);
    } else {
        mr_log_form form = log2 == 3 ? MR_LOG_FORM_64 : MR_LOG_FORM_32;
        uint32_t *content = put_head(&at, form);
        mr_hot->open_form = log2 | (content - mr_hot->live.cursor == 2 ? MR_OPEN_FAR : 0);
        mr_hot->live.open = content;
        after = content + form - MR_LOG_FORM_SAME;
    }
    mr_hot->live.waiting = MR_LOG_WAITING_WRITE;
    mr_hot_advance(mr_hot, after);
}

/* The write that waits has no record any more, and its site is as it was, because no reader hears
 * of it. Returns what the site said. */
static mr_log_site take_write_back(void)
{
    uint32_t *open = mr_hot->live.open, *record;
    mr_log_site *site = mr_hot->open_site, said;
    if (mr_hot->open_form & MR_OPEN_LONG) {
        record = open - 4;
        said = *site;
        *site = mr_hot->open_before;
    } else {
        record = mr_hot->open_form & MR_OPEN_FAR ? open - 2 : open - 1;
        mr_log_parts parts = mr_log_take_apart(record);
        site = &mr_writer_model.sites[parts.site];
        said = *site;
        site->address -= (uint64_t)parts.distance;
    }
    uint32_t *end = open + ((mr_hot->open_form & (3 | MR_OPEN_LONG)) >= 3 ? 2 : 1);
    while (end > record) { /* the head last: at each moment it is a record */
        *(volatile uint32_t *)--end = MR_LOG_PADDING_UNIT;
    }
    mr_hot->live.waiting = MR_LOG_WAITING_NONE;
    return said;
}

void mr_writer_wait_as_range(void)
{
    unsigned bytes = 1u << (mr_hot->open_form & 3);
    mr_log_site said = take_write_back();
    unsigned detail = (mr_log_detail(said.head) & ~3u) | MR_LOG_NO_VALUE;
    uint64_t *record = mr_writer_cursor();
    record[0] = mr_log_head(MR_LOG_RANGE_WRITE, detail, (uint64_t)mr_hot->open_address);
    record[1] = mr_log_payload(said.head);
    record[2] = bytes;
    mr_hot->live.waiting = MR_LOG_WAITING_RANGE;
    mr_hot->range = record;
    mr_writer_advance(record + 4);
}

void mr_writer_fault(void)
{
    uint64_t value;
    struct iovec here = {&value, 1u << (mr_hot->open_form & 3)};
    struct iovec there = {(void *)(uintptr_t)mr_hot->open_address, here.iov_len};
    if (mr_hot->live.waiting != MR_LOG_WAITING_WRITE &&
        mr_hot->live.waiting != MR_LOG_WAITING_BOTH) {
        return;
    }
    if (mr_sys(SYS_process_vm_readv, mr_sys(SYS_getpid, 0, 0, 0, 0, 0, 0), (long)&here, 1,
               (long)&there, 1, 0) == -EFAULT) {
        take_write_back();
    }
}
