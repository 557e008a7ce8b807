/* ioctl and prctl: what the argument is depends on the request. */
#include "calls.h"

#include "../descriptors.h"
#include "../input_descriptors.h"
#include "../modules.h"

#include <linux/fs.h>
#include <net/if.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <termios.h>

typedef struct argument {
    size_t reads, writes; /* bytes; 0: it is no address, or nothing is known of it */
} argument;

/* What the kernel has of a termios. */
enum { KERNEL_TERMIOS = 36 };

/* Requests from before the number of a request told what its argument is, and those whose number
 * tells a wrong size. */
static const struct {
    unsigned long request;
    argument of;
} known[] = {
    {FIONREAD, {0, sizeof(int)}},
    {TIOCOUTQ, {0, sizeof(int)}},
    {FIONBIO, {sizeof(int), 0}},
    {FIOASYNC, {sizeof(int), 0}},
    {TCGETS, {0, KERNEL_TERMIOS}},
    {TCSETS, {KERNEL_TERMIOS, 0}},
    {TCSETSW, {KERNEL_TERMIOS, 0}},
    {TCSETSF, {KERNEL_TERMIOS, 0}},
    {TIOCGWINSZ, {0, sizeof(struct winsize)}},
    {TIOCSWINSZ, {sizeof(struct winsize), 0}},
    {TIOCGPGRP, {0, sizeof(pid_t)}},
    {TIOCSPGRP, {sizeof(pid_t), 0}},
    {TIOCGSID, {0, sizeof(pid_t)}},
    {TIOCMGET, {0, sizeof(int)}},
    {TIOCMSET, {sizeof(int), 0}},
    {TIOCMBIS, {sizeof(int), 0}},
    {TIOCMBIC, {sizeof(int), 0}},
    {SIOCATMARK, {0, sizeof(int)}},
    {SIOCGIFINDEX, {IFNAMSIZ, sizeof(struct ifreq)}},
    {SIOCGIFFLAGS, {IFNAMSIZ, sizeof(struct ifreq)}},
    {SIOCGIFADDR, {IFNAMSIZ, sizeof(struct ifreq)}},
    {SIOCGIFNETMASK, {IFNAMSIZ, sizeof(struct ifreq)}},
    {SIOCGIFMTU, {IFNAMSIZ, sizeof(struct ifreq)}},
    {SIOCGIFHWADDR, {IFNAMSIZ, sizeof(struct ifreq)}},
    {FS_IOC_GETFLAGS, {0, sizeof(int)}},
    {FS_IOC_SETFLAGS, {sizeof(int), 0}},
};

static argument argument_of(unsigned long request)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].request == request) {
            return known[i].of;
        }
    }
    unsigned direction = _IOC_DIR(request);
    size_t bytes = _IOC_SIZE(request);
    return (argument){direction & _IOC_WRITE ? bytes : 0, direction & _IOC_READ ? bytes : 0};
}

/* The bytes that a request gives as an input (input_descriptors.h); 0: they are not known. */
static size_t given_by(unsigned long request)
{
    return request == FIONREAD ? sizeof(int) : request == TIOCGWINSZ ? sizeof(struct winsize) : 0;
}

/* These set what the descriptor does, and give nothing. */
static bool gives_nothing(unsigned long request)
{
    return request == FIONBIO || request == FIOCLEX || request == FIONCLEX || request == FIOASYNC;
}

/* What FIONREAD told of: there is something, or nothing, to be read. */
static void log_there(int fd, int bytes, uintptr_t code)
{
    if (bytes > 0) {
        mr_channel_log_end(fd, code);
    } else {
        mr_channel_log_unready(fd, code);
        mr_yield_to_others(mr_self);
    }
}

/* A request whose answer is an input: the answer of the recorded run, or of the system. */
static int ask(mr_thread *thread, int fd, unsigned long request, void *to)
{
    size_t bytes = given_by(request);
    mr_input input = mr_input_find(thread, MR_INPUT_CALL, (uint64_t)fd);
    if (input.head != NULL) {
        int result = (int)mr_input_result(&input);
        mr_input_take(&input, to, bytes);
        return result;
    }
    int result = MR_REAL(ioctl)(fd, request, to);
    mr_input_log(thread, MR_INPUT_CALL, (uint64_t)fd, mr_descriptor_is_inside(fd), result,
                 &(mr_input_part){to, result == 0 ? bytes : 0}, 1);
    return result;
}

MR_EXPORT int ioctl(int fd, unsigned long request, ...)
{
    const uintptr_t code = MR_CALLER;
    va_list rest;
    va_start(rest, request);
    void *given = va_arg(rest, void *);
    va_end(rest);
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(ioctl)(fd, request, given);
    }
    argument of = mr_is_instrumented(code) ? argument_of(request) : (argument){0, 0};
    int result;
    mr_descriptor_use(fd, code);
    in(given, of.reads);
    if (given_by(request) > 0) {
        result = ask(thread, fd, request, given);
    } else {
        if (!gives_nothing(request)) {
            mr_inputs_unfed(MR_INPUTS_UNFED_IOCTL);
        }
        mr_libc_leave(thread, code);
        result = MR_REAL(ioctl)(fd, request, given);
        thread = mr_libc_return(thread);
    }
    if (thread != NULL) {
        out_if(result >= 0, given, of.writes);
        if (request == FIONREAD && result >= 0) {
            log_there(fd, *(const int *)given, code);
        }
        mr_leave(thread);
    }
    return result;
}

/* What prctl writes to its second argument. */
static size_t written_by(int what)
{
    enum { NAME = 16 };
    switch (what) {
    case PR_GET_NAME:
        return NAME;
    case PR_GET_PDEATHSIG:
    case PR_GET_CHILD_SUBREAPER:
    case PR_GET_ENDIAN:
    case PR_GET_FPEMU:
    case PR_GET_FPEXC:
    case PR_GET_TSC:
    case PR_GET_UNALIGN:
        return sizeof(int);
    case PR_GET_TID_ADDRESS:
        return sizeof(int *);
    default:
        return 0;
    }
}

MR_EXPORT int prctl(int what, ...)
{
    enum { MORE = 4, NAME = 16 };
    const uintptr_t code = MR_CALLER;
    unsigned long more[MORE];
    va_list rest;
    va_start(rest, what);
    for (int i = 0; i < MORE; i++) {
        more[i] = va_arg(rest, unsigned long);
    }
    va_end(rest);
    mr_thread *thread = mr_memory_begin(code);
    char *first = (char *)more[0]; /* NOLINT(performance-no-int-to-ptr): as the kernel takes it */
    if (thread != NULL && what == PR_SET_NAME) {
        in(first, text_up_to(first, NAME));
    }
    int result = MR_REAL(prctl)(what, more[0], more[1], more[2], more[3]);
    if (thread != NULL) {
        out_if(result >= 0 && written_by(what) > 0, first, written_by(what));
        mr_leave(thread);
    }
    return result;
}
