#include "inputs.h"

#include "explore.h"
#include "input_descriptors.h"
#include "input_signals.h"
#include "real.h"
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

enum { WINDOW = 1 << 20, PAGE = 4096, LOWEST_FD = 901, LONG_BYTES = 1 << 13, OPEN_ROOM = 1 << 16 };

/* Inputs of a role, when they are fed. */
typedef struct role_inputs {
    const mr_input_head **of;
    uint64_t count, next;
    bool lost; /* one was not the one that was due */
} role_inputs;

static struct {
    bool logged, fed;
    int fd;
    dev_t device;
    ino_t inode;
    uint64_t most;            /* bytes of the file, 0: no limit */
    mr_inputs_header *header; /* mapped */
    uint8_t *window;          /* of the file, from `window_at` on, WINDOW bytes or more */
    uint64_t window_at, window_bytes;
    role_inputs *roles;
    uint32_t role_count;
    bool ran_out;           /* somebody asked for more than there is, or for something else */
    bool refused;           /* that a file cannot be changed has been said */
    uint64_t signals;       /* bit n: the signal of the number n mod 64 is among them */
    long process, recorded; /* numbers of this process and of the recorded one, also in children */
    mr_inputs_differ differ;
    /* The call between mr_input_call and mr_input_called. */
    bool is_call, call_is_fed;
    uint64_t call_argument;
    mr_input call;
    uint8_t written[OPEN_ROOM];
    size_t written_bytes;
} inputs;

bool mr_inputs_are_logged(void)
{
    return inputs.logged;
}

bool mr_inputs_are_fed(void)
{
    return inputs.fed;
}

static bool is_ours(void)
{
    struct stat is;
    return MR_REAL(fstat)(inputs.fd, &is) == 0 && is.st_dev == inputs.device &&
           is.st_ino == inputs.inode;
}

/* Nothing more is logged. */
static void stop(mr_inputs_state state)
{
    inputs.logged = false;
    inputs.header->state = state;
}

/* The descriptor gets a high number: programs count on the low ones. */
static void keep_high(void)
{
    int high = (int)mr_sys(SYS_fcntl, inputs.fd, F_DUPFD_CLOEXEC, LOWEST_FD, 0, 0, 0);
    if (high >= 0) {
        mr_sys(SYS_close, inputs.fd, 0, 0, 0, 0, 0);
        inputs.fd = high;
    }
}

bool mr_inputs_own(int fd)
{
    return inputs.fd > 0 && fd == inputs.fd && (inputs.fed || is_ours());
}

void mr_inputs_renumber(void)
{
    inputs.fd = mr_move_descriptor(inputs.fd);
}

static void *map(uint64_t at, uint64_t bytes, int protection)
{
    long result = mr_sys(SYS_mmap, 0, (long)bytes, protection, MAP_SHARED, inputs.fd, (long)at);
    return mr_sys_failed(result) ? NULL : (void *)result;
}

static bool allocate(uint64_t at, uint64_t bytes)
{
    long status;
    do {
        status = mr_sys(SYS_fallocate, inputs.fd, 0, (long)at, (long)bytes, 0, 0);
    } while (status == -EINTR);
    if (status == -EOPNOTSUPP || status == -ENOSYS) {
        status = mr_sys(SYS_ftruncate, inputs.fd, (long)(at + bytes), 0, 0, 0, 0);
    }
    return status == 0;
}

/* What is at the other end of a socket that the program inherits is another process. Not of the
 * standard streams: what goes there is output. */
static void note_inherited_sockets(void)
{
    for (int fd = 3; fd < MR_INPUTS_INHERITED; fd++) {
        if (S_ISSOCK(inputs.header->modes[fd])) {
            mr_descriptor_set(fd, MR_DESCRIPTOR_PEER);
        }
    }
}

static void start_log(const char *log)
{
    char path[4200];
    struct stat is;
    size_t length = mr_copy_text(path, sizeof path - 16, log);
    mr_copy_text(path + length, sizeof path - length, MR_INPUTS_SUFFIX);
    inputs.fd = (int)mr_sys(SYS_openat, AT_FDCWD, (long)path,
                            O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600, 0, 0);
    if (inputs.fd < 0) {
        mr_complain("cannot write inputs: ", path);
        return;
    }
    keep_high();
    if (fstat(inputs.fd, &is) != 0 || !allocate(0, MR_INPUTS_HEADER_BYTES) ||
        (inputs.header = map(0, MR_INPUTS_HEADER_BYTES, PROT_READ | PROT_WRITE)) == NULL) {
        mr_complain("cannot write inputs: ", path);
        return;
    }
    inputs.device = is.st_dev;
    inputs.inode = is.st_ino;
    inputs.most = mr_parse_number(secure_getenv(MR_INPUTS_ENV_MAX), 0);
    *inputs.header = (mr_inputs_header){.magic = MR_INPUTS_MAGIC,
                                        .version = MR_INPUTS_VERSION,
                                        .header_bytes = MR_INPUTS_HEADER_BYTES,
                                        .end = MR_INPUTS_HEADER_BYTES};
    for (int fd = 0; fd < MR_INPUTS_INHERITED; fd++) {
        inputs.header->modes[fd] = fstat(fd, &is) == 0 ? is.st_mode : 0;
    }
    note_inherited_sockets();
    inputs.logged = true;
}

static const mr_input_head *after(const mr_input_head *head)
{
    return (const mr_input_head *)(const void *)((const uint8_t *)head + mr_input_size(head));
}

/* Is the whole record before `end`? */
static bool fits(const mr_input_head *head, const uint8_t *end)
{
    return (const uint8_t *)head + sizeof *head <= end &&
           mr_input_size(head) <= (size_t)(end - (const uint8_t *)head);
}

static bool index_roles(const uint8_t *file, uint64_t bytes)
{
    const uint8_t *end = file + bytes;
    const mr_input_head *first =
        (const mr_input_head *)(const void *)(file + MR_INPUTS_HEADER_BYTES);
    for (const mr_input_head *head = first; fits(head, end); head = after(head)) {
        inputs.role_count = head->role < inputs.role_count ? inputs.role_count : head->role + 1;
    }
    inputs.roles = mr_pages(((size_t)inputs.role_count + 1) * sizeof *inputs.roles);
    if (inputs.roles == NULL) {
        return false;
    }
    uint64_t all = 0;
    for (const mr_input_head *head = first; fits(head, end); head = after(head), all++) {
        inputs.roles[head->role].count++;
    }
    const mr_input_head **place = mr_pages((all + 1) * sizeof *place);
    if (place == NULL) {
        return false;
    }
    for (uint32_t role = 0; role < inputs.role_count; role++) {
        inputs.roles[role].of = place;
        place += inputs.roles[role].count;
        inputs.roles[role].count = 0;
    }
    for (const mr_input_head *head = first; fits(head, end); head = after(head)) {
        role_inputs *role = &inputs.roles[head->role];
        role->of[role->count++] = head;
        inputs.signals |= head->kind == MR_INPUT_SIGNAL ? (uint64_t)1 << head->argument % 64 : 0;
    }
    return true;
}

/* Standard descriptors that are closed now and were open: the program must not get their numbers. */
static void open_standard(void)
{
    for (int fd = 0; fd < 3; fd++) {
        if (inputs.header->modes[fd] != 0 && mr_sys(SYS_fcntl, fd, F_GETFD, 0, 0, 0, 0) < 0) {
            mr_sys(SYS_openat, AT_FDCWD, (long)"/dev/null", fd == 0 ? O_RDONLY : O_WRONLY, 0, 0, 0);
        }
    }
}

static void start_feed(const char *path)
{
    struct stat is;
    inputs.fd = (int)mr_sys(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
    if (inputs.fd < 0) {
        mr_complain("cannot read inputs: ", path);
        return;
    }
    keep_high();
    /* A program that is run by this one has inputs of its own. */
    if (mr_sys(SYS_flock, inputs.fd, LOCK_EX | LOCK_NB, 0, 0, 0, 0) != 0) {
        return;
    }
    const uint8_t *file = fstat(inputs.fd, &is) == 0 && is.st_size >= (long)MR_INPUTS_HEADER_BYTES
                              ? map(0, (uint64_t)is.st_size, PROT_READ)
                              : NULL;
    inputs.header = (mr_inputs_header *)(uintptr_t)file;
    if (file == NULL || __builtin_memcmp(file, MR_INPUTS_MAGIC, 8) != 0 ||
        inputs.header->version == 0 || inputs.header->version > MR_INPUTS_VERSION ||
        inputs.header->end > (uint64_t)is.st_size) {
        mr_complain("these are no inputs of this version: ", path);
        return;
    }
    inputs.fed = index_roles(file, inputs.header->end);
    inputs.process = mr_sys(SYS_getpid, 0, 0, 0, 0, 0, 0);
    inputs.recorded = inputs.header->process;
    if (inputs.fed) {
        open_standard();
        if (mr_inputs_have_sockets()) {
            note_inherited_sockets();
        }
    }
}

void mr_inputs_start(const char *log)
{
    const char *path = secure_getenv(MR_INPUTS_ENV_FEED);
    if (path != NULL && path[0] != '\0') {
        start_feed(path);
    } else if (mr_parse_number(secure_getenv(MR_INPUTS_ENV_RECORD), 0) != 0) {
        start_log(log);
    }
}

void mr_inputs_end(void)
{
    if (inputs.logged && is_ours()) {
        mr_sys(SYS_ftruncate, inputs.fd, (long)inputs.header->end, 0, 0, 0, 0);
    }
    inputs.logged = false;
}

void mr_inputs_forget(void)
{
    if (inputs.header != NULL && is_ours()) {
        mr_sys(SYS_close, inputs.fd, 0, 0, 0, 0, 0);
    }
    if (inputs.window != NULL) {
        mr_sys(SYS_munmap, (long)inputs.window, (long)inputs.window_bytes, 0, 0, 0, 0);
        inputs.window = NULL;
    }
    inputs.logged = inputs.fed = inputs.is_call = false;
    inputs.header = NULL;
}

static const char *const kind_texts[MR_INPUT_KIND_COUNT] = {
#define KIND_TEXT(name, text) [MR_INPUT_##name] = (text),
    MR_INPUT_KIND_MAP(KIND_TEXT)
#undef KIND_TEXT
};

/* "a read from descriptor 5" */
static void describe(char *to, size_t room, unsigned kind, uint64_t argument)
{
    char digits[24];
    size_t length = mr_copy_text(to, room, kind_texts[kind < MR_INPUT_KIND_COUNT ? kind : 0]);
    size_t count = sizeof digits;
    digits[--count] = '\0';
    do {
        digits[--count] = (char)('0' + argument % 10);
        argument /= 10;
    } while (argument > 0);
    length += mr_copy_text(to + length, room - length, " ");
    mr_copy_text(to + length, room - length, digits + count);
}

static void differ(const mr_thread *thread, const mr_input_head *due, mr_input_kind kind,
                   uint64_t argument)
{
    char expected[96], seen[96];
    describe(expected, sizeof expected, due->kind, due->argument);
    describe(seen, sizeof seen, kind, argument);
    if (inputs.differ != NULL) {
        inputs.differ(thread, expected, seen);
        return;
    }
    mr_complain("another input than recorded is asked for; expected ", expected);
    mr_complain("… but there is ", seen);
}

void mr_inputs_tell(mr_inputs_differ differ_function)
{
    inputs.differ = differ_function;
}

mr_input mr_input_find(const mr_thread *thread, mr_input_kind kind, uint64_t argument)
{
    mr_input none = {NULL, NULL, 0};
    if (!inputs.fed || thread->role >= inputs.role_count) {
        return none;
    }
    while (mr_input_signal_send(thread)) { /* it came before this one */
    }
    role_inputs *role = &inputs.roles[thread->role];
    if (role->lost || role->next == role->count) {
        inputs.ran_out = true;
        return none;
    }
    const mr_input_head *head = role->of[role->next++];
    if (head->kind != kind || head->argument != argument) {
        role->lost = inputs.ran_out = true;
        differ(thread, head, kind, argument);
        return none;
    }
    if ((head->flags & MR_INPUT_INSIDE) != 0) {
        return none;
    }
    mr_rt.starved_ns = 0;
    return (mr_input){head, (const uint8_t *)(head + 1), head->bytes};
}

size_t mr_input_take(mr_input *input, void *to, size_t bytes)
{
    size_t taken = bytes < input->left ? bytes : input->left;
    if (to != NULL) {
        __builtin_memcpy(to, input->data, taken);
    }
    input->data += taken;
    input->left -= taken;
    return taken;
}

int64_t mr_input_result(const mr_input *input)
{
    if (input->head->result < 0) {
        errno = input->head->error;
    }
    return input->head->result;
}

/* May the file end there? The trace that is made of it has a copy. */
static bool may_grow(uint64_t end)
{
    struct rlimit limit;
    struct statfs disk;
    if (mr_sys(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0) == 0 &&
        limit.rlim_cur != RLIM_INFINITY && 2 * end > limit.rlim_cur) {
        return false; /* the kernel would send SIGXFSZ */
    }
    return mr_sys(SYS_fstatfs, inputs.fd, (long)&disk, 0, 0, 0, 0) != 0 || disk.f_blocks == 0 ||
           2 * end / (uint64_t)disk.f_bsize <= disk.f_bavail;
}

static bool is_within(uint64_t end)
{
    if (inputs.most != 0 && end > inputs.most) {
        stop(MR_INPUTS_LONG);
        return false;
    }
    return true;
}

static bool write_at(const void *from, uint64_t bytes, uint64_t *at)
{
    const uint8_t *next = from;
    while (bytes > 0) {
        long written = mr_sys(SYS_pwrite64, inputs.fd, (long)next, (long)bytes, (long)*at, 0, 0);
        if (written <= 0 && written != -EINTR) {
            return false;
        }
        written = written < 0 ? 0 : written;
        next += written;
        bytes -= (uint64_t)written;
        *at += (uint64_t)written;
    }
    return true;
}

/* A long record: new pages of a mapped file would cost more than its bytes. */
static void log_long(const mr_input_head *head, const mr_input_part *parts, size_t count)
{
    static const uint8_t padding[8];
    uint64_t at = inputs.header->end, end = at + mr_input_size(head);
    if (!is_within(end)) {
        return;
    }
    bool ok = is_ours() && may_grow(end) && write_at(head, sizeof *head, &at);
    for (size_t i = 0; i < count && ok; i++) {
        ok = write_at(parts[i].from, parts[i].bytes, &at);
    }
    if (ok && write_at(padding, end - at, &at)) {
        __atomic_store_n(&inputs.header->end, end, __ATOMIC_RELEASE);
    } else {
        stop(MR_INPUTS_FULL);
    }
}

/* Room for so many bytes at the end of the file; NULL: the log of inputs ends. */
static uint8_t *room(uint64_t bytes)
{
    uint64_t end = inputs.header->end;
    if (!is_within(end + bytes)) {
        return NULL;
    }
    if (inputs.window == NULL || end + bytes > inputs.window_at + inputs.window_bytes) {
        if (inputs.window != NULL) {
            mr_sys(SYS_munmap, (long)inputs.window, (long)inputs.window_bytes, 0, 0, 0, 0);
        }
        inputs.window_at = end / PAGE * PAGE;
        inputs.window_bytes = (end + bytes - inputs.window_at + WINDOW - 1) / WINDOW * WINDOW;
        inputs.window = is_ours() && may_grow(inputs.window_at + inputs.window_bytes) &&
                                allocate(inputs.window_at, inputs.window_bytes)
                            ? map(inputs.window_at, inputs.window_bytes, PROT_READ | PROT_WRITE)
                            : NULL;
        if (inputs.window == NULL) {
            stop(MR_INPUTS_FULL);
            return NULL;
        }
    }
    return inputs.window + (end - inputs.window_at);
}

void mr_input_log(const mr_thread *thread, mr_input_kind kind, uint64_t argument, bool inside,
                  int64_t result, const mr_input_part *parts, size_t count)
{
    if (!inside) {
        mr_explore_choice(MR_LOG_CHOICE_INPUT, MR_LOG_ROLE_NONE, (const void *)(uintptr_t)argument,
                          0, kind);
    }
    if (!inputs.logged) {
        return;
    }
    mr_input_head head = {.role = thread->role,
                          .kind = (uint8_t)kind,
                          .flags = inside ? MR_INPUT_INSIDE : 0,
                          .error = result < 0 ? errno : 0,
                          .result = result,
                          .argument = argument};
    for (size_t i = 0; i < count && !inside; i++) {
        head.bytes += (uint32_t)parts[i].bytes;
    }
    if (head.bytes > LONG_BYTES) {
        log_long(&head, parts, count);
        return;
    }
    uint8_t *to = room(mr_input_size(&head));
    if (to == NULL) {
        return;
    }
    __builtin_memcpy(to, &head, sizeof head);
    uint8_t *data = to + sizeof head;
    for (size_t i = 0; i < count && !inside; i++) {
        __builtin_memcpy(data, parts[i].from, parts[i].bytes);
        data += parts[i].bytes;
    }
    __atomic_store_n(&inputs.header->end, inputs.header->end + mr_input_size(&head),
                     __ATOMIC_RELEASE);
}

int64_t mr_input_number(const mr_thread *thread, mr_input_kind kind, uint64_t argument,
                        int64_t number)
{
    mr_input input = mr_input_find(thread, kind, argument);
    if (input.head != NULL) {
        return input.head->result;
    }
    mr_input_log(thread, kind, argument, false, number, NULL, 0);
    return number;
}

/* FNV-1a: which function it is. */
static uint64_t hash_of(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *name != '\0'; name++) {
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    }
    return hash;
}

bool mr_input_call(mr_thread *thread, const char *name, int64_t *result)
{
    if (!inputs.logged && !inputs.fed) {
        return false;
    }
    inputs.call_argument = hash_of(name);
    inputs.call = mr_input_find(thread, MR_INPUT_CALL, inputs.call_argument);
    inputs.call_is_fed = inputs.call.head != NULL;
    inputs.is_call = inputs.call_is_fed || inputs.logged;
    inputs.written_bytes = 0;
    if (inputs.call_is_fed) {
        *result = mr_input_result(&inputs.call);
    }
    return inputs.call_is_fed;
}

bool mr_input_change(mr_thread *thread, const char *name, int64_t *result)
{
    bool is_known = !inputs.fed || inputs.header->version >= MR_INPUTS_CHANGES;
    return is_known && mr_input_call(thread, name, result);
}

void mr_inputs_refused(const char *name)
{
    const int number = errno;
    bool is_refused = number == EXDEV || number == EROFS || number == EPERM || number == EACCES ||
                      number == EOVERFLOW;
    if (inputs.fed && is_refused && !inputs.refused) {
        inputs.refused = true;
        mr_complain(MR_INPUTS_REFUSED, name);
    }
    errno = number;
}

void mr_input_written(void *to, size_t bytes)
{
    if (!inputs.is_call || to == NULL) {
        return;
    }
    if (inputs.call_is_fed) {
        mr_input_take(&inputs.call, to, bytes);
    } else if (bytes <= OPEN_ROOM - inputs.written_bytes) {
        __builtin_memcpy(inputs.written + inputs.written_bytes, to, bytes);
        inputs.written_bytes += bytes;
    }
}

void mr_input_called(mr_thread *thread, int64_t result)
{
    if (inputs.is_call && !inputs.call_is_fed) {
        const mr_input_part part = {inputs.written, inputs.written_bytes};
        mr_input_log(thread, MR_INPUT_CALL, inputs.call_argument, false, result, &part, 1);
    }
    inputs.is_call = false;
}

bool mr_inputs_clock(int clock, int64_t *ns)
{
    if (inputs.fed && clock >= 0 && clock < MR_INPUTS_CLOCKS) {
        *ns = inputs.header->clocks[clock];
        return *ns != 0;
    }
    return false;
}

void mr_inputs_log_clock(int clock, int64_t ns)
{
    if (inputs.logged && clock >= 0 && clock < MR_INPUTS_CLOCKS) {
        inputs.header->clocks[clock] = ns;
    }
}

bool mr_inputs_have_flags(void)
{
    return !inputs.fed || inputs.header->version >= MR_INPUTS_FLAGS;
}

bool mr_inputs_have_sockets(void)
{
    return !inputs.fed || inputs.header->version >= MR_INPUTS_SOCKETS;
}

uint32_t mr_inputs_mode(int fd)
{
    return inputs.fed && fd >= 0 && fd < MR_INPUTS_INHERITED ? inputs.header->modes[fd] : 0;
}

void mr_inputs_log_process(void)
{
    if (inputs.logged) {
        inputs.header->process = (uint32_t)mr_sys(SYS_getpid, 0, 0, 0, 0, 0, 0);
    }
}

long mr_inputs_process(long process)
{
    return inputs.recorded != 0 && process == inputs.recorded ? inputs.process : process;
}

const mr_input_head *mr_input_next_signal(const mr_thread *thread)
{
    if (!inputs.fed || inputs.signals == 0 || thread->role >= inputs.role_count) {
        return NULL;
    }
    const role_inputs *role = &inputs.roles[thread->role];
    return !role->lost && role->next < role->count && role->of[role->next]->kind == MR_INPUT_SIGNAL
               ? role->of[role->next]
               : NULL;
}

void mr_input_pass(const mr_thread *thread)
{
    inputs.roles[thread->role].next++;
}

bool mr_inputs_ran_out(void)
{
    return inputs.fed && inputs.ran_out && !mr_inputs_come_from_children();
}

bool mr_inputs_come_from_children(void)
{
    return inputs.header != NULL && (inputs.header->unfed >> MR_INPUTS_UNFED_CHILDREN & 1) != 0;
}

bool mr_inputs_have_signal(int number)
{
    return inputs.fed && (inputs.signals >> number % 64 & 1) != 0;
}

void mr_inputs_unfed(unsigned what)
{
    mr_explore_choice(MR_LOG_CHOICE_UNFED, MR_LOG_ROLE_NONE, NULL, 0, what);
    if (inputs.logged) {
        inputs.header->unfed |= 1u << what;
    }
}

const char *mr_inputs_unfed_text(char *text, size_t room_bytes)
{
    static const char *const names[] = {
#define UNFED_TEXT(name, text_of) text_of,
        MR_INPUTS_UNFED_MAP(UNFED_TEXT)
#undef UNFED_TEXT
    };
    size_t length = 0;
    text[0] = '\0';
    for (unsigned i = 0; inputs.fed && i < MR_INPUTS_UNFED_COUNT; i++) {
        if ((inputs.header->unfed >> i & 1) != 0) {
            length += mr_copy_text(text + length, room_bytes - length, length > 0 ? ", " : "");
            length += mr_copy_text(text + length, room_bytes - length, names[i]);
        }
    }
    return text;
}
