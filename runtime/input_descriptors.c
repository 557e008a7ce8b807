#include "input_descriptors.h"

#include "real.h"
#include "scheduler.h"
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { KNOWN = 1 << 14, WRITTEN = 64, WAITED = 1024, MOVED = 64 };

static struct {
    struct {
        uint8_t origin;
        bool is_socket;
        uint32_t mode;   /* 0: what fstat says */
        uint32_t object; /* 0: none is known */
    } of[KNOWN];
    uint32_t objects;
    int highest_socket;
    struct {
        dev_t device;
        ino_t inode;
    } written[WRITTEN];
    unsigned written_count; /* may exceed WRITTEN */
    struct {
        int set, fd;
        uint64_t data;
        uint32_t events;
        bool is_there;
    } waited[WAITED]; /* with an epoll set; the newest first, in a ring */
    unsigned waited_count;
    struct {
        uint16_t was, is; /* ports, as in an address */
    } moved[MOVED];
    unsigned moved_count;
} table;

static bool is_known(int fd)
{
    return fd >= 0 && fd < KNOWN;
}

void mr_descriptor_set(int fd, mr_descriptor_origin origin)
{
    if (is_known(fd)) {
        table.of[fd].origin = (uint8_t)origin;
    }
}

void mr_descriptor_copy(int from, int to)
{
    struct stat is;
    if (is_known(from) && is_known(to)) {
        table.of[to] = table.of[from];
        if (mr_inputs_are_fed() && table.of[to].mode == 0 && mr_descriptor_stat(from, &is) == 0) {
            table.of[to].mode = is.st_mode;
        }
    }
}

void mr_descriptor_forget(int fd)
{
    if (is_known(fd)) {
        table.of[fd].origin = MR_DESCRIPTOR_UNKNOWN;
        table.of[fd].is_socket = false;
        table.of[fd].mode = 0;
        table.of[fd].object = 0;
    }
}

uint32_t mr_descriptor_new_object(int fd)
{
    if (!is_known(fd)) {
        return 0;
    }
    table.of[fd].object = ++table.objects;
    return table.objects;
}

uint32_t mr_descriptor_object(int fd)
{
    return is_known(fd) ? table.of[fd].object : 0;
}

void mr_descriptor_written(int fd)
{
    struct stat is;
    if (fd >= 0 && mr_inputs_are_logged() && MR_REAL(fstat)(fd, &is) == 0 && S_ISREG(is.st_mode)) {
        unsigned at = table.written_count++;
        if (at < WRITTEN) {
            table.written[at].device = is.st_dev;
            table.written[at].inode = is.st_ino;
        }
    }
}

static bool is_written(const struct stat *is)
{
    if (table.written_count > WRITTEN) {
        return true;
    }
    for (unsigned i = 0; i < table.written_count; i++) {
        if (table.written[i].inode == is->st_ino && table.written[i].device == is->st_dev) {
            return true;
        }
    }
    return false;
}

bool mr_descriptor_is_inside(int fd)
{
    struct stat is;
    if (is_known(fd) && table.of[fd].origin != MR_DESCRIPTOR_UNKNOWN) {
        return table.of[fd].origin == MR_DESCRIPTOR_INSIDE;
    }
    int saved_errno = errno;
    bool inside = table.written_count > 0 && MR_REAL(fstat)(fd, &is) == 0 && S_ISREG(is.st_mode) &&
                  is_written(&is);
    errno = saved_errno;
    return inside;
}

bool mr_descriptor_is_peer(int fd)
{
    return is_known(fd) && table.of[fd].origin == MR_DESCRIPTOR_PEER;
}

void mr_descriptor_socket(int fd, int type)
{
    type &= ~(SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (is_known(fd)) {
        table.of[fd].is_socket = true;
        table.of[fd].origin = type == SOCK_STREAM ? MR_DESCRIPTOR_UNKNOWN : MR_DESCRIPTOR_PEER;
        table.highest_socket = fd > table.highest_socket ? fd : table.highest_socket;
    }
}

/* Ports of two addresses are equal, and so are the hosts, or one of them is any. */
static bool are_same(const struct sockaddr *a, const struct sockaddr *b)
{
    if (a->sa_family != b->sa_family) {
        return false;
    }
    if (a->sa_family == AF_INET) {
        const struct sockaddr_in *x = (const void *)a, *y = (const void *)b;
        return x->sin_port == y->sin_port && (x->sin_addr.s_addr == y->sin_addr.s_addr ||
                                              x->sin_addr.s_addr == 0 || y->sin_addr.s_addr == 0);
    }
    if (a->sa_family == AF_INET6) {
        const struct sockaddr_in6 *x = (const void *)a, *y = (const void *)b;
        static const struct in6_addr any;
        return x->sin6_port == y->sin6_port &&
               (__builtin_memcmp(&x->sin6_addr, &y->sin6_addr, sizeof any) == 0 ||
                __builtin_memcmp(&x->sin6_addr, &any, sizeof any) == 0 ||
                __builtin_memcmp(&y->sin6_addr, &any, sizeof any) == 0);
    }
    return false;
}

static bool has_address(int fd, const struct sockaddr *wanted)
{
    struct sockaddr_storage own;
    socklen_t length = sizeof own;
    return mr_sys(SYS_getsockname, fd, (long)&own, (long)&length, 0, 0, 0) == 0 &&
           are_same((const struct sockaddr *)&own, wanted);
}

mr_descriptor_origin mr_descriptor_peer_of(int fd, const struct sockaddr *peer, bool is_accepted)
{
    struct sockaddr_storage given;
    struct ucred other;
    socklen_t length = sizeof given, bytes = sizeof other;
    if (is_accepted) {
        peer = (const struct sockaddr *)&given;
        if (mr_sys(SYS_getpeername, fd, (long)&given, (long)&length, 0, 0, 0) != 0) {
            return MR_DESCRIPTOR_PEER;
        }
    }
    if (peer == NULL) {
        return MR_DESCRIPTOR_PEER;
    }
    if (peer->sa_family == AF_UNIX) {
        return mr_sys(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, (long)&other, (long)&bytes, 0) ==
                           0 &&
                       other.pid == (pid_t)mr_sys(SYS_getpid, 0, 0, 0, 0, 0, 0)
                   ? MR_DESCRIPTOR_INSIDE
                   : MR_DESCRIPTOR_PEER;
    }
    for (int i = 0; i <= table.highest_socket; i++) {
        if (i != fd && table.of[i].is_socket && has_address(i, peer)) {
            return MR_DESCRIPTOR_INSIDE;
        }
    }
    return MR_DESCRIPTOR_PEER;
}

/* Where the port is in an address; NULL: it has none. */
static uint16_t *port_of(struct sockaddr *address)
{
    return address->sa_family == AF_INET    ? &((struct sockaddr_in *)(void *)address)->sin_port
           : address->sa_family == AF_INET6 ? &((struct sockaddr_in6 *)(void *)address)->sin6_port
                                            : NULL;
}

void mr_descriptor_moved(int fd, const struct sockaddr *was)
{
    struct sockaddr_storage is = {.ss_family = 0}, before = {.ss_family = 0};
    socklen_t length = sizeof is;
    __builtin_memcpy(&before, was,
                     was->sa_family == AF_INET ? sizeof(struct sockaddr_in)
                                               : sizeof(struct sockaddr_in6));
    const uint16_t *from = port_of((struct sockaddr *)&before);
    if (from == NULL || table.moved_count == MOVED ||
        mr_sys(SYS_getsockname, fd, (long)&is, (long)&length, 0, 0, 0) != 0) {
        return;
    }
    const uint16_t *to = port_of((struct sockaddr *)&is);
    if (to != NULL) {
        table.moved[table.moved_count].was = *from;
        table.moved[table.moved_count++].is = *to;
    }
}

const struct sockaddr *mr_descriptor_lead(const struct sockaddr *address, socklen_t length,
                                          struct sockaddr_storage *led)
{
    if (table.moved_count == 0 || length > sizeof *led) {
        return address;
    }
    __builtin_memcpy(led, address, length);
    uint16_t *port = port_of((struct sockaddr *)led);
    for (unsigned i = 0; port != NULL && i < table.moved_count; i++) {
        if (*port == table.moved[i].was) {
            *port = table.moved[i].is;
            return (const struct sockaddr *)led;
        }
    }
    return address;
}

/* The index in `waited`; `waited_count` or WAITED: it is not there. */
static unsigned find_waited(int set, int fd)
{
    unsigned at = 0;
    while (at < table.waited_count && at < WAITED &&
           (table.waited[at].set != set || table.waited[at].fd != fd)) {
        at++;
    }
    return at;
}

bool mr_epoll_kept(int set, int fd, mr_epoll_wanted *wanted)
{
    unsigned at = find_waited(set, fd);
    bool found = at < table.waited_count && at < WAITED && table.waited[at].is_there;
    if (found) {
        *wanted = (mr_epoll_wanted){table.waited[at].data, table.waited[at].events};
    }
    return found;
}

bool mr_epoll_next(int set, unsigned *at, int *fd, mr_epoll_wanted *wanted)
{
    for (; *at < table.waited_count && *at < WAITED; ++*at) {
        if (table.waited[*at].set == set && table.waited[*at].is_there) {
            *fd = table.waited[*at].fd;
            *wanted = (mr_epoll_wanted){table.waited[*at].data, table.waited[*at].events};
            ++*at;
            return true;
        }
    }
    return false;
}

bool mr_epoll_are_all_kept(void)
{
    return table.waited_count <= WAITED;
}

void mr_epoll_keep(int set, int fd, const mr_epoll_wanted *wanted)
{
    unsigned at = find_waited(set, fd);
    if (at == table.waited_count || at == WAITED) {
        at = table.waited_count++ % WAITED;
    }
    table.waited[at].set = set;
    table.waited[at].fd = fd;
    table.waited[at].is_there = wanted != NULL;
    table.waited[at].data = wanted != NULL ? wanted->data : 0;
    table.waited[at].events = wanted != NULL ? wanted->events : 0;
}

int mr_epoll_descriptor(int set, uint64_t data)
{
    for (unsigned i = 0; i < table.waited_count && i < WAITED; i++) {
        if (table.waited[i].set == set && table.waited[i].is_there &&
            table.waited[i].data == data) {
            return table.waited[i].fd;
        }
    }
    return -1;
}

bool mr_epoll_is_inside(int set, uint64_t data)
{
    int fd = mr_epoll_descriptor(set, data);
    return fd >= 0 && mr_descriptor_is_inside(fd);
}

int mr_descriptor_stat(int fd, struct stat *to)
{
    int status = MR_REAL(fstat)(fd, to);
    uint32_t mode = is_known(fd) && table.of[fd].mode != 0 ? table.of[fd].mode : mr_inputs_mode(fd);
    if (mode != 0) {
        if (status != 0 || ((to->st_mode ^ mode) & S_IFMT) != 0) { /* something stands for it */
            *to = (struct stat){.st_dev = ~(dev_t)0, .st_ino = (ino_t)fd};
        }
        to->st_mode = mode;
        status = 0;
    }
    return status;
}

bool mr_descriptor_expect(mr_input *input, uint64_t how)
{
    mr_thread *thread = mr_inputs_are_fed() ? mr_enter() : NULL;
    *input = (mr_input){NULL, NULL, 0};
    if (thread != NULL) {
        *input = mr_input_find(thread, MR_INPUT_OPEN, how);
        mr_leave(thread);
    }
    return input->head == NULL || input->head->result >= 0;
}

/* Moves a descriptor to a number that is free. */
static int move(int fd, int wanted)
{
    long flags = mr_sys(SYS_fcntl, fd, F_GETFD, 0, 0, 0, 0);
    if (fd == wanted || mr_sys(SYS_fcntl, wanted, F_GETFD, 0, 0, 0, 0) >= 0 ||
        mr_sys(SYS_dup3, fd, wanted, flags > 0 ? O_CLOEXEC : 0, 0, 0, 0) < 0) {
        return fd;
    }
    mr_sys(SYS_close, fd, 0, 0, 0, 0, 0);
    return wanted;
}

int mr_descriptor_place(const mr_input_head *head, mr_input_descriptor was, int fd)
{
    errno = head->error;
    if (head->result < 0) {
        return (int)head->result;
    }
    if (fd < 0) {
        fd = (int)(S_ISSOCK(was.mode)
                       ? mr_sys(SYS_socket, AF_INET, SOCK_STREAM, 0, 0, 0, 0)
                       : mr_sys(SYS_openat, AT_FDCWD, (long)"/dev/null", O_RDWR, 0, 0, 0));
    }
    fd = fd < 0 ? fd : move(fd, (int)head->result);
    if (is_known(fd)) {
        mr_descriptor_forget(fd);
        table.of[fd].mode = was.mode;
    }
    return fd;
}

int mr_descriptor_made(mr_input *input, uint64_t how, int fd, mr_descriptor_origin origin)
{
    mr_thread *thread = mr_inputs_are_fed() || mr_inputs_are_logged() ? mr_enter() : NULL;
    mr_input_descriptor was = {0, 0};
    struct stat is;
    if (thread == NULL) {
        return fd;
    }
    if (input->head != NULL) {
        mr_input_take(input, &was, sizeof was);
        fd = mr_descriptor_place(input->head, was, fd);
    } else {
        int saved_errno = errno;
        mr_descriptor_forget(fd);
        was.mode = fd >= 0 && MR_REAL(fstat)(fd, &is) == 0 ? is.st_mode : 0;
        errno = saved_errno;
        mr_input_log(thread, MR_INPUT_OPEN, how, false, fd, &(mr_input_part){&was, sizeof was}, 1);
    }
    mr_descriptor_set(fd, origin);
    mr_leave(thread);
    return fd;
}
