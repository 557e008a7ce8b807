/* syscall() of calls whose functions are interposed: what they do to memory, descriptors and orders is the same. */
#include "direct.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__thread uintptr_t mr_direct_code __attribute__((tls_model("initial-exec")));

#define OWN(name) extern __typeof__(name) mr_own_##name __attribute__((visibility("hidden")));
OWN(read)
OWN(write)
OWN(pread64)
OWN(pwrite64)
OWN(readv)
OWN(writev)
OWN(preadv64)
OWN(pwritev64)
OWN(recvfrom)
OWN(sendto)
OWN(recvmsg)
OWN(sendmsg)
OWN(sendfile64)
OWN(splice)
OWN(tee)
OWN(vmsplice)
OWN(shutdown)
OWN(close)
OWN(dup)
OWN(dup2)
OWN(dup3)
OWN(pipe)
OWN(pipe2)
OWN(eventfd)
OWN(epoll_create1)
OWN(epoll_ctl)
OWN(epoll_wait)
OWN(epoll_pwait)
OWN(poll)
OWN(ppoll)
OWN(select)
OWN(open)
OWN(openat)
OWN(socket)
OWN(socketpair)
OWN(bind)
OWN(listen)
OWN(accept)
OWN(accept4)
OWN(connect)
OWN(nanosleep)
OWN(clock_nanosleep)
OWN(sched_yield)
OWN(wait4)
OWN(getpid)
OWN(gettid)
OWN(getrandom)
OWN(pthread_setcancelstate)
#undef OWN

#define FD       ((int)a[0])
#define DATA     ((void *)a[1])
#define BYTES    ((size_t)a[2])
#define AS(i, t) ((t)a[i])
/* Code in this section is what mr_direct_caller knows; a call in it is never the last thing that a function does. */
#define CALLS __attribute__((section("mr_direct"), noinline))

/* The call gave -1 and an error, or its result. */
#define CASE(number, call)                                                                         \
    case number:                                                                                   \
        *result = (call);                                                                          \
        break;

static CALLS bool transfers(long number, const long *a, long *result)
{
    switch (number) {
        CASE(SYS_read, mr_own_read(FD, DATA, BYTES))
        CASE(SYS_write, mr_own_write(FD, DATA, BYTES))
        CASE(SYS_pread64, mr_own_pread64(FD, DATA, BYTES, a[3]))
        CASE(SYS_pwrite64, mr_own_pwrite64(FD, DATA, BYTES, a[3]))
        CASE(SYS_readv, mr_own_readv(FD, DATA, AS(2, int)))
        CASE(SYS_writev, mr_own_writev(FD, DATA, AS(2, int)))
        CASE(SYS_preadv, mr_own_preadv64(FD, DATA, AS(2, int), a[3]))
        CASE(SYS_pwritev, mr_own_pwritev64(FD, DATA, AS(2, int), a[3]))
        CASE(SYS_recvfrom,
             mr_own_recvfrom(FD, DATA, BYTES, AS(3, int), AS(4, void *), AS(5, void *)))
        CASE(SYS_sendto,
             mr_own_sendto(FD, DATA, BYTES, AS(3, int), AS(4, void *), AS(5, socklen_t)))
        CASE(SYS_recvmsg, mr_own_recvmsg(FD, DATA, AS(2, int)))
        CASE(SYS_sendmsg, mr_own_sendmsg(FD, DATA, AS(2, int)))
        CASE(SYS_sendfile, mr_own_sendfile64(FD, AS(1, int), AS(2, void *), AS(3, size_t)))
        CASE(SYS_splice,
             mr_own_splice(FD, DATA, AS(2, int), AS(3, void *), AS(4, size_t), AS(5, unsigned)))
        CASE(SYS_tee, mr_own_tee(FD, AS(1, int), BYTES, AS(3, unsigned)))
        CASE(SYS_vmsplice, mr_own_vmsplice(FD, DATA, BYTES, AS(3, unsigned)))
        CASE(SYS_shutdown, mr_own_shutdown(FD, AS(1, int)))
    default:
        return false;
    }
    return true;
}

static CALLS bool waits(long number, const long *a, long *result)
{
    switch (number) {
        CASE(SYS_epoll_ctl, mr_own_epoll_ctl(FD, AS(1, int), AS(2, int), AS(3, void *)))
        CASE(SYS_epoll_pwait, mr_own_epoll_pwait(FD, DATA, AS(2, int), AS(3, int), AS(4, void *)))
        CASE(SYS_ppoll, mr_own_ppoll(AS(0, void *), AS(1, nfds_t), AS(2, void *), AS(3, void *)))
#ifdef SYS_epoll_wait
        CASE(SYS_epoll_wait, mr_own_epoll_wait(FD, DATA, AS(2, int), AS(3, int)))
#endif
#ifdef SYS_poll
        CASE(SYS_poll, mr_own_poll(AS(0, void *), AS(1, nfds_t), AS(2, int)))
#endif
#ifdef SYS_select
        CASE(SYS_select, mr_own_select(FD, DATA, AS(2, void *), AS(3, void *), AS(4, void *)))
#endif
        CASE(SYS_nanosleep, mr_own_nanosleep(AS(0, void *), DATA))
        CASE(SYS_sched_yield, mr_own_sched_yield())
        CASE(SYS_wait4, mr_own_wait4(AS(0, pid_t), DATA, AS(2, int), AS(3, void *)))
        CASE(SYS_getpid, mr_own_getpid())
        CASE(SYS_gettid, mr_own_gettid())
        CASE(SYS_getrandom, mr_own_getrandom(AS(0, void *), AS(1, size_t), AS(2, unsigned)))
    case SYS_clock_nanosleep:
        errno = mr_own_clock_nanosleep(AS(0, clockid_t), AS(1, int), AS(2, void *), AS(3, void *));
        *result = errno != 0 ? -1 : 0;
        break;
    default:
        return false;
    }
    return true;
}

static CALLS bool descriptors(long number, const long *a, long *result)
{
    switch (number) {
        CASE(SYS_close, mr_own_close(FD))
        CASE(SYS_dup, mr_own_dup(FD))
        CASE(SYS_dup3, mr_own_dup3(FD, AS(1, int), AS(2, int)))
        CASE(SYS_pipe2, mr_own_pipe2(AS(0, int *), AS(1, int)))
        CASE(SYS_eventfd2, mr_own_eventfd(AS(0, unsigned), AS(1, int)))
        CASE(SYS_epoll_create1, mr_own_epoll_create1(FD))
        CASE(SYS_openat, mr_own_openat(FD, AS(1, char *), AS(2, int), AS(3, mode_t)))
        CASE(SYS_socket, mr_own_socket(FD, AS(1, int), AS(2, int)))
        CASE(SYS_socketpair, mr_own_socketpair(FD, AS(1, int), AS(2, int), AS(3, int *)))
        CASE(SYS_bind, mr_own_bind(FD, DATA, AS(2, socklen_t)))
        CASE(SYS_listen, mr_own_listen(FD, AS(1, int)))
        CASE(SYS_accept, mr_own_accept(FD, DATA, AS(2, void *)))
        CASE(SYS_accept4, mr_own_accept4(FD, DATA, AS(2, void *), AS(3, int)))
        CASE(SYS_connect, mr_own_connect(FD, DATA, AS(2, socklen_t)))
#ifdef SYS_open
        CASE(SYS_open, mr_own_open(AS(0, char *), AS(1, int), AS(2, mode_t)))
        CASE(SYS_pipe, mr_own_pipe(AS(0, int *)))
        CASE(SYS_dup2, mr_own_dup2(FD, AS(1, int)))
        CASE(SYS_eventfd, mr_own_eventfd(AS(0, unsigned), 0))
#endif
    default:
        return false;
    }
    return true;
}

/* No syscall() is a cancellation point, as the functions are; only asynchronous cancellation ends it. */
bool mr_direct_call(long number, const long *a, uintptr_t code, long *result)
{
    const uintptr_t outer = mr_direct_code; /* a handler may interrupt one */
    const int saved_errno = errno;
    int state = PTHREAD_CANCEL_ENABLE;
    if (mr_self == NULL || number == SYS_futex) {
        return false;
    }
    const bool disables = !mr_self->cancel_async;
    if (disables) {
        mr_own_pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    }
    mr_direct_code = code;
    bool is_done =
        transfers(number, a, result) || waits(number, a, result) || descriptors(number, a, result);
    mr_direct_code = outer;
    if (is_done && *result == -1) {
        *result = -errno;
    }
    if (disables) {
        mr_own_pthread_setcancelstate(state, NULL);
    }
    errno = saved_errno;
    return is_done;
}
