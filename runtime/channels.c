#include "channels.h"

#include "channel_units.h"
#include "input_descriptors.h"
#include "outside.h"
#include "signals.h"
#include "sys.h"
#include "writer.h"

#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

enum { UNLIKE = UINT16_MAX };

/* A pipe, a file, or one end of a pair of sockets: what is read there, and what is written there, by number. */
typedef struct passage {
    dev_t device;
    ino_t inode;
    uint64_t reads, writes;
    uint64_t reader;   /* reads of what is written there are TAKEN from this; 0: not known */
    bool is_stream;    /* of bytes; not a file */
    bool is_inherited; /* by a child, which may read and write there, too */
} passage;

/* Those that were seen so far; numbers, because that of an inode is another in each run. */
static struct {
    passage of[MR_CHANNELS_MAX];
    uint64_t count;
    uint16_t token[MR_CHANNELS_MAX + 1]; /* the byte that all reads got, plus 1; by number */
    uint16_t sent[MR_CHANNELS_MAX + 1];  /* the byte that all writes wrote, plus 1; UNLIKE */
    /* Bytes that the program wrote, and that were not read yet. */
    int64_t left[MR_CHANNELS_MAX + 1];
} channels;

static bool files_are_locked; /* by some call so far */

/* Its numbers are 0. */
static passage no_channel;

static passage *find_channel(const struct stat *is)
{
    for (uint64_t i = 0; i < channels.count; i++) {
        if (channels.of[i].inode == is->st_ino && channels.of[i].device == is->st_dev) {
            return &channels.of[i];
        }
    }
    return &no_channel;
}

static passage *add_channel(const struct stat *is, uint64_t reads, uint64_t writes, bool is_stream)
{
    passage *added = &channels.of[channels.count++];
    *added = (passage){is->st_dev, is->st_ino, reads, writes, writes, is_stream, false};
    return added;
}

static passage *channel_of(const struct stat *is)
{
    passage *found = find_channel(is);
    if (found->reads == 0 && channels.count < MR_CHANNELS_MAX) {
        uint64_t number = channels.count + 1;
        found = add_channel(is, number, number, S_ISFIFO(is->st_mode));
    }
    return found;
}

static bool is_stream(int fd)
{
    int type = 0;
    socklen_t bytes = sizeof type;
    return mr_sys(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, (long)&type, (long)&bytes, 0) == 0 &&
           type == SOCK_STREAM;
}

/* Its own end, and the other one. */
static void add_pair(const struct stat *is, uint64_t reads, uint64_t writes, const int ends[2])
{
    passage *added = add_channel(is, reads, writes, is_stream(ends[0]));
    added->reader = MR_LOG_SOCKETS_AT + mr_descriptor_object(ends[1]);
}

void mr_channel_pair(const int ends[2])
{
    struct stat one, other;
    int saved_errno = errno;
    if (mr_descriptor_stat(ends[0], &one) == 0 && mr_descriptor_stat(ends[1], &other) == 0 &&
        S_ISSOCK(one.st_mode) && channels.count + 2 <= MR_CHANNELS_MAX) {
        uint64_t number = channels.count + 1;
        add_pair(&one, number, number + 1, ends);
        add_pair(&other, number + 1, number, (const int[]){ends[1], ends[0]});
    }
    errno = saved_errno;
}

enum { COUNTERS_MAX = 4096 };

/* Eventfds, timers and descriptors of signals, by the number of their object. */
static struct {
    uint64_t left;               /* to be read */
    uint64_t last;               /* the value that the last write added */
    sigset_t signals;            /* that are read there */
    bool is_known, is_semaphore; /* an eventfd */
    bool has_units;              /* each read of it takes one, of any write */
    bool is_timer, has_signals;
    bool is_inherited;
} counters[COUNTERS_MAX];

/* The number of the eventfd's object; 0: it is no eventfd, or is not known. */
static uint32_t counter_of(int fd)
{
    uint32_t number = mr_descriptor_object(fd);
    return number < COUNTERS_MAX && counters[number].is_known ? number : 0;
}

static uint32_t timer_of(int fd)
{
    uint32_t number = mr_descriptor_object(fd);
    return number < COUNTERS_MAX && counters[number].is_timer ? number : 0;
}

void mr_channel_new_timer(int fd)
{
    uint32_t number = mr_descriptor_new_object(fd);
    if (number > 0 && number < COUNTERS_MAX) {
        counters[number].is_timer = true;
    }
}

void mr_channel_set_signals(int fd, bool is_new, const sigset_t *set)
{
    uint32_t number = is_new ? mr_descriptor_new_object(fd) : mr_descriptor_object(fd);
    if (number > 0 && number < COUNTERS_MAX) {
        counters[number].has_signals = true;
        counters[number].signals = *set;
    }
}

/* The signals that are read there; NULL: it is another descriptor. */
static const sigset_t *signals_of(int fd)
{
    uint32_t number = mr_descriptor_object(fd);
    bool has = number < COUNTERS_MAX && counters[number].has_signals;
    return has ? &counters[number].signals : NULL;
}

static void log_counter(mr_log_kind kind, unsigned count, uint32_t number, uintptr_t code)
{
    mr_write_object(kind, MR_LOG_ROLE_READY, (void *)(uintptr_t)number, code, count, 0);
}

enum { MOST_UNITS = UINT16_MAX };

/* Units of a semaphore, as far as there are any. */
static void log_units(mr_log_kind kind, uint32_t number, uint64_t units, uintptr_t code)
{
    counters[number].has_units = counters[number].has_units && units <= MOST_UNITS;
    if (counters[number].has_units && units > 0) {
        mr_write_object(kind, MR_LOG_ROLE_UNITS, (void *)(uintptr_t)(MR_LOG_COUNTERS_AT + number),
                        code, (unsigned)units, 0);
    }
}

static void add_to(uint32_t number, uint64_t value, uintptr_t code)
{
    log_units(MR_LOG_POST, number, value, code);
    counters[number].left += value;
    counters[number].last = value;
    if (value > 0) {
        log_counter(MR_LOG_BEFORE, 0, number, code);
    }
}

void mr_channel_new_counter(int fd, unsigned count, bool is_semaphore, uintptr_t code)
{
    uint32_t number = mr_descriptor_new_object(fd);
    if (number > 0 && number < COUNTERS_MAX) {
        counters[number].is_known = true;
        counters[number].is_semaphore = counters[number].has_units = is_semaphore;
        add_to(number, count, code);
    }
}

static void log_taken(uint64_t channel, mr_log_taking how, uintptr_t code)
{
    mr_write_object(MR_LOG_BEFORE, MR_LOG_ROLE_CHANNEL, (void *)channel, code, how,
                    MR_LOG_CHANNEL_TAKEN);
}

/* A read takes all that is left, or 1 from a semaphore. */
static void take_from(uint32_t number, uintptr_t code)
{
    uint64_t left = counters[number].left;
    counters[number].left = counters[number].is_semaphore && left > 1 ? left - 1 : 0;
    log_units(MR_LOG_WAIT, number, 1, code);
    log_taken(MR_LOG_COUNTERS_AT + number,
              counters[number].has_units ? MR_LOG_TAKING_LIKE : MR_LOG_TAKING_UNLIKE, code);
    if (counters[number].left == 0) {
        log_counter(MR_LOG_BEFORE, MR_LOG_NOT_READY, number, code);
    }
}

/*
 * Pipes and files are told apart, and so are the ends of pairs of sockets and eventfds. Other sockets, and whatever
 * else has no file of its own, are not: channel 0.
 */
static passage *channel_at(const struct stat *is)
{
    return S_ISFIFO(is->st_mode) || S_ISREG(is->st_mode) ? channel_of(is)
           : S_ISSOCK(is->st_mode)                       ? find_channel(is)
                                                         : &no_channel;
}

/* The number of what is read there (AFTER), or written (BEFORE). */
static uint64_t number_at(const struct stat *is, mr_log_kind kind, int fd)
{
    const passage *at = channel_at(is);
    uint32_t counter = at->reads == 0 ? counter_of(fd) : 0;
    uint32_t timer = at->reads == 0 ? timer_of(fd) : 0;
    return counter != 0            ? MR_LOG_COUNTERS_AT + counter
           : timer != 0            ? MR_LOG_TIMERS_AT + timer
           : kind == MR_LOG_BEFORE ? at->writes
                                   : at->reads;
}

/* Are those who close it told from those who write to it? */
static bool is_closed_inside(const struct stat *is, int fd)
{
    return S_ISFIFO(is->st_mode) || (S_ISSOCK(is->st_mode) && mr_descriptor_is_inside(fd));
}

/* Both ends are closed at one number. */
static uint64_t closed_number(const struct stat *is)
{
    const passage *at = channel_at(is);
    return at->reads < at->writes ? at->reads : at->writes;
}

static void log_closed(const struct stat *is, mr_log_kind kind, unsigned count, int fd,
                       uintptr_t code)
{
    if (is_closed_inside(is, fd)) {
        mr_write_object(kind, MR_LOG_ROLE_CHANNEL, (void *)closed_number(is), code, count,
                        MR_LOG_CHANNEL_CLOSED);
    }
}

/* Leaves errno as it is. */
static bool look_at(int fd, struct stat *is)
{
    int saved_errno = errno;
    bool is_there = mr_descriptor_stat(fd, is) == 0;
    errno = saved_errno;
    return is_there;
}

/* Who reads from a pipe, a file or a socket comes after those who wrote to it. */
static void log_written(const struct stat *is, mr_log_kind kind, unsigned count, int fd,
                        uintptr_t code)
{
    if (!S_ISCHR(is->st_mode)) {
        mr_write_object(kind, MR_LOG_ROLE_CHANNEL, (void *)number_at(is, kind, fd), code, count,
                        MR_LOG_CHANNEL_DATA);
    }
}

/* Is this the byte that all writes wrote so far, one at a time? */
static bool is_like(uint64_t number, const uint8_t *from, size_t bytes)
{
    uint16_t *sent = &channels.sent[number];
    bool like = from != NULL && bytes == 1 && (*sent == 0 || *sent == *from + 1);
    *sent = like ? (uint16_t)(*from + 1) : UNLIKE;
    return like;
}

static bool is_inherited(const passage *at, int fd)
{
    return at->is_inherited || counters[counter_of(fd)].is_inherited;
}

enum { NOT_OURS = INT32_MIN };

/* A thread has read so many bytes of a channel that a child has, too, or looked at it. Has it seen only what threads of the program
 * wrote? Where other bytes were read or written once, nobody knows any more. */
static bool is_ours(const passage *at, int fd, size_t bytes)
{
    int there = 0;
    int64_t *left = &channels.left[at->reads];
    *left -= (int64_t)bytes;
    bool is = at->is_stream && mr_sys(SYS_ioctl, fd, FIONREAD, (long)&there, 0, 0, 0) == 0 &&
              *left == there;
    *left = is ? *left : NOT_OURS;
    return is;
}

static void hear(const passage *at, int fd, size_t bytes, uintptr_t code)
{
    if (is_inherited(at, fd) && (bytes == 0 || !is_ours(at, fd, bytes))) {
        mr_outside_hear(code);
    }
}

void mr_channel_wrote(int fd, size_t bytes)
{
    struct stat is;
    if (look_at(fd, &is) && channel_at(&is)->is_inherited) {
        channels.left[channel_at(&is)->writes] += (int64_t)bytes;
    }
}

void mr_channel_inherited(int fd)
{
    struct stat is;
    uint32_t counter = counter_of(fd);
    counters[counter].is_inherited = counter != 0;
    if (look_at(fd, &is) && (S_ISFIFO(is.st_mode) || S_ISSOCK(is.st_mode))) {
        passage *at = channel_at(&is);
        int there = 0;
        if (at->reads != 0 && !at->is_inherited) {
            at->is_inherited = true;
            mr_sys(SYS_ioctl, fd, FIONREAD, (long)&there, 0, 0, 0);
            channels.left[at->reads] = there;
        }
    }
}

static bool inherited;

bool mr_channels_are_inherited(void)
{
    return inherited;
}

void mr_channels_inherited(uintptr_t code)
{
    inherited = true;
    static struct pollfd all[MR_LOG_DESCRIPTORS];
    const struct timespec now = {0, 0};
    for (int fd = 0; fd < MR_LOG_DESCRIPTORS; fd++) {
        all[fd] = (struct pollfd){.fd = fd};
    }
    /* One call tells which are open; not where the program may have fewer. */
    bool is_told = mr_sys(SYS_ppoll, (long)all, MR_LOG_DESCRIPTORS, (long)&now, 0, 0, 0) >= 0;
    for (int fd = 0; fd < MR_LOG_DESCRIPTORS; fd++) {
        if (!is_told || (all[fd].revents & POLLNVAL) == 0) {
            mr_channel_inherited(fd);
        }
    }
    mr_outside_tell(code);
}

/* Values that are added to an eventfd may come in any order, and so may bytes of a stream while all are the same one. */
static void log_write(int fd, const void *from, size_t bytes, uintptr_t code)
{
    struct stat is;
    if (!look_at(fd, &is)) {
        return;
    }
    const passage *at = channel_at(&is);
    bool apart = at->is_stream ? is_like(at->writes, from, bytes) : counter_of(fd) && from;
    if (S_ISREG(is.st_mode)) {
        mr_outside_file_changes(code);
    }
    log_closed(&is, MR_LOG_AFTER, MR_LOG_NOT_YET, fd, code);
    log_written(&is, MR_LOG_BEFORE, apart ? MR_LOG_WRITING_APART : MR_LOG_WRITING_IN_ORDER, fd,
                code);
    if (at->is_stream) {
        mr_channel_units_write(at->writes, apart, code);
    }
    if (is_inherited(at, fd)) {
        mr_outside_tell(code);
    }
}

void mr_channel_log(mr_log_kind kind, int fd, uintptr_t code)
{
    struct stat is;
    if (kind == MR_LOG_BEFORE) {
        log_write(fd, NULL, 0, code);
    } else if (look_at(fd, &is)) {
        log_written(&is, kind, 0, fd, code);
        hear(channel_at(&is), fd, 0, code);
    }
}

mr_channel mr_channel_at(int fd)
{
    struct stat is;
    mr_channel at = {MR_CHANNEL_NONE, MR_CHANNEL_NONE};
    if (look_at(fd, &is) && !S_ISCHR(is.st_mode)) {
        at.data = number_at(&is, MR_LOG_AFTER, fd);
        at.closed = is_closed_inside(&is, fd) ? closed_number(&is) : MR_CHANNEL_NONE;
    }
    return at;
}

static void log_after(uint64_t number, uint64_t which, unsigned count, uintptr_t code)
{
    if (number != MR_CHANNEL_NONE) {
        mr_write_object(MR_LOG_AFTER, MR_LOG_ROLE_CHANNEL, (void *)number, code, count, which);
    }
}

void mr_channel_log_end_of(mr_channel channel, uintptr_t code)
{
    log_after(channel.data, MR_LOG_CHANNEL_DATA, 0, code);
    log_after(channel.closed, MR_LOG_CHANNEL_CLOSED, 0, code);
}

void mr_channel_log_turn(int fd, uintptr_t code)
{
    struct stat is;
    if (look_at(fd, &is)) {
        log_taken(channel_of(&is)->reads, MR_LOG_TAKING_UNLIKE, code);
    }
}

/* The order of the reads from a pipe or a socket. */
static void log_turn(const struct stat *is, int fd, const uint8_t *token, uintptr_t code)
{
    if (S_ISFIFO(is->st_mode)) {
        uint64_t number = channel_of(is)->reads;
        uint16_t *seen = &channels.token[number];
        bool like = token != NULL && number != 0 && (*seen == 0 || *seen == *token + 1);
        *seen = token != NULL ? (uint16_t)(*token + 1) : *seen;
        log_taken(number, like ? MR_LOG_TAKING_LIKE : MR_LOG_TAKING_UNLIKE, code);
    } else if (S_ISSOCK(is->st_mode)) {
        log_taken(MR_LOG_SOCKETS_AT + mr_descriptor_object(fd), MR_LOG_TAKING_UNLIKE, code);
    }
}

void mr_channel_log_taken(int fd, size_t bytes, const uint8_t *token, uintptr_t code)
{
    struct stat is;
    uint32_t counter = counter_of(fd);
    const sigset_t *signals = signals_of(fd);
    if (signals != NULL) {
        mr_signal_log_taken(signals, code);
        return;
    }
    if (!look_at(fd, &is)) {
        return;
    }
    const passage *at = channel_at(&is);
    bool apart =
        counters[counter].has_units ||
        (at->is_stream && mr_channel_units_read(at->reads, fd, bytes, token != NULL, code));
    log_written(&is, MR_LOG_AFTER, apart ? MR_LOG_NOTHING : 0, fd, code);
    if (counter != 0) {
        take_from(counter, code);
    } else {
        log_turn(&is, fd, token, code);
    }
    hear(at, fd, bytes, code);
}

void mr_channel_log_written(int fd, const void *from, size_t bytes, uintptr_t code)
{
    uint32_t number = counter_of(fd);
    uint64_t value;
    log_write(fd, from, bytes, code);
    if (number != 0 && bytes == sizeof value) {
        __builtin_memcpy(&value, from, sizeof value);
        add_to(number, value, code);
    }
}

/* Takes the last value for the refused one. When another thread wrote meanwhile, that may be its value. */
void mr_channel_log_refused(int fd, uintptr_t code)
{
    struct stat is;
    uint32_t number = counter_of(fd);
    if (number == 0 && look_at(fd, &is) && channel_at(&is)->is_stream) {
        mr_channel_units_refuse(channel_at(&is)->writes, code);
    }
    if (number != 0 && counters[number].last > 0) {
        log_units(MR_LOG_WAIT, number, counters[number].last, code);
        counters[number].left -= counters[number].last;
        counters[number].last = 0;
        if (counters[number].left == 0) {
            log_counter(MR_LOG_BEFORE, MR_LOG_NOT_READY, number, code);
        }
    }
}

static void log_end(const struct stat *is, int fd, uintptr_t code)
{
    log_written(is, MR_LOG_AFTER, 0, fd, code);
    log_closed(is, MR_LOG_AFTER, 0, fd, code);
    hear(channel_at(is), fd, 0, code);
}

void mr_channel_log_end(int fd, uintptr_t code)
{
    struct stat is;
    if (look_at(fd, &is)) {
        log_end(&is, fd, code);
    }
}

/* Does a wait that finds the descriptor ready come after other threads? */
static bool tells(const struct stat *is, int fd)
{
    return (is->st_mode & S_IFMT) == 0 || is_closed_inside(is, fd);
}

void mr_channel_log_ready(int fd, bool is_edge, uintptr_t code)
{
    struct stat is;
    uint32_t counter = counter_of(fd);
    const sigset_t *signals = signals_of(fd);
    if (signals != NULL) {
        mr_signal_log_taken(signals, code);
        return;
    }
    if (counter != 0 && counters[counter].left > 0 && !is_edge) {
        log_counter(MR_LOG_AFTER, 0, counter, code);
        return;
    }
    if (!look_at(fd, &is) || !tells(&is, fd)) {
        return;
    }
    const passage *at = channel_at(&is);
    bool apart = at->is_stream && !is_edge && mr_channel_units_ready(at->reads, fd, code);
    if (!apart) {
        log_written(&is, MR_LOG_AFTER, 0, fd, code);
    }
    log_closed(&is, MR_LOG_AFTER, 0, fd, code);
    if (is_inherited(at, fd) && !(is_ours(at, fd, 0) && channels.left[at->reads] > 0)) {
        mr_outside_hear(code); /* or the other end is closed */
    }
}

/* Nothing was there to be read, and no end: the call comes before the next write, and before the next close. */
static void log_not_yet(const struct stat *is, int fd, uintptr_t code)
{
    log_written(is, MR_LOG_AFTER, MR_LOG_NOT_YET, fd, code);
    log_closed(is, MR_LOG_AFTER, MR_LOG_NOT_YET, fd, code);
}

void mr_channel_log_unready(int fd, uintptr_t code)
{
    struct stat is = {.st_mode = 0};
    const sigset_t *signals = signals_of(fd);
    if (signals != NULL) {
        mr_signal_log_pending(signals, code);
    } else if (look_at(fd, &is) && tells(&is, fd)) {
        log_not_yet(&is, fd, code);
    } else if (S_ISSOCK(is.st_mode) && mr_outside_listens(fd)) {
        mr_outside_call_seen(MR_OUTSIDE_CONNECTS, false, code);
    }
}

void mr_channel_log_empty(int fd, uintptr_t code)
{
    struct stat is;
    const sigset_t *signals = signals_of(fd);
    if (signals != NULL) {
        mr_signal_log_pending(signals, code);
        return;
    }
    if (!look_at(fd, &is) ||
        !(tells(&is, fd) || S_ISREG(is.st_mode))) { /* a message queue is a file */
        return;
    }
    uint32_t counter = counter_of(fd);
    uint64_t number = counter != 0           ? MR_LOG_COUNTERS_AT + counter
                      : S_ISSOCK(is.st_mode) ? MR_LOG_SOCKETS_AT + mr_descriptor_object(fd)
                                             : channel_of(&is)->reads;
    log_not_yet(&is, fd, code);
    log_after(number, MR_LOG_CHANNEL_TAKEN, 0, code);
}

/* The number from which reads take what is written there; MR_CHANNEL_NONE: it is not known. */
static uint64_t reader_of(const struct stat *is, int fd)
{
    uint32_t counter = counter_of(fd);
    if (S_ISFIFO(is->st_mode) || S_ISREG(is->st_mode)) { /* a message queue is a file */
        return channel_of(is)->reads;
    }
    uint64_t reader = S_ISSOCK(is->st_mode) ? find_channel(is)->reader : 0;
    return counter != 0 ? MR_LOG_COUNTERS_AT + counter : reader != 0 ? reader : MR_CHANNEL_NONE;
}

void mr_channel_log_full(int fd, uintptr_t code)
{
    struct stat is;
    if (!look_at(fd, &is) || S_ISCHR(is.st_mode)) {
        return;
    }
    uint64_t written = number_at(&is, MR_LOG_BEFORE, fd), reader = reader_of(&is, fd);
    if (reader != MR_CHANNEL_NONE) {
        log_after(written, MR_LOG_CHANNEL_DATA, 0, code);
        log_after(reader, MR_LOG_CHANNEL_TAKEN, MR_LOG_NOT_YET, code);
    }
}

void mr_channel_log_room(int fd, uintptr_t code)
{
    struct stat is;
    if (look_at(fd, &is)) {
        log_after(reader_of(&is, fd), MR_LOG_CHANNEL_TAKEN, 0, code);
    }
}

void mr_channel_log_closed(int fd, uintptr_t code)
{
    struct stat is;
    if (look_at(fd, &is)) {
        log_closed(&is, MR_LOG_BEFORE, 0, fd, code);
        if (is_inherited(channel_at(&is), fd)) {
            mr_outside_tell(code);
        }
        if (S_ISREG(is.st_mode)) {
            mr_outside_file_changes(code);
        }
        if (files_are_locked && (S_ISREG(is.st_mode) || S_ISDIR(is.st_mode))) {
            mr_channel_log_lock(fd, code); /* that ends its locks */
        }
    }
}

void mr_channel_log_lock(int fd, uintptr_t code)
{
    struct stat is;
    if (look_at(fd, &is)) {
        log_written(&is, MR_LOG_AFTER, 0, fd, code);
        log_written(&is, MR_LOG_BEFORE, MR_LOG_WRITING_IN_ORDER, fd, code);
        files_are_locked = true;
    }
}

void mr_channel_log_shut(int fd, uintptr_t code)
{
    struct stat is;
    if (look_at(fd, &is) && S_ISSOCK(is.st_mode) && is_closed_inside(&is, fd)) {
        log_closed(&is, MR_LOG_BEFORE, 0, fd, code);
        if (is_inherited(channel_at(&is), fd)) {
            mr_outside_tell(code);
        }
    } else {
        mr_channel_log(MR_LOG_BEFORE, fd, code);
    }
}

void mr_channel_log_watch(mr_log_kind kind, int set, uint64_t data, uintptr_t code)
{
    mr_write_object(kind, MR_LOG_ROLE_WATCH, (void *)(uintptr_t)mr_descriptor_object(set), code, 0,
                    mr_log_watched(data));
}
