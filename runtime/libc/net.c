#include "../descriptors.h"
#include "../input_descriptors.h"
#include "calls.h"

#define pair(status, to) mr_descriptors_pair((status), (to));

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <sys/socket.h>

/* Behind all others: it defines MR_CALLER anew. */
#include "../direct.h"

#define remember(value) const size_t remembered = bytes != NULL ? (value) : 0;

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t address_bytes(int family)
{
    return family == AF_INET    ? sizeof(struct in_addr)
           : family == AF_INET6 ? sizeof(struct in6_addr)
                                : 0;
}

static void log_addresses(const struct addrinfo *of, uintptr_t code)
{
    for (; of != NULL; of = of->ai_next) {
        out(of, sizeof *of);
        out(of->ai_addr, of->ai_addrlen);
        out(of->ai_canonname, text(of->ai_canonname));
    }
}

static void log_texts(char *const *of, size_t bytes, uintptr_t code)
{
    size_t count = 0;
    if (of == NULL) {
        return;
    }
    for (; of[count] != NULL; count++) {
        out(of[count], bytes != 0 ? bytes : text(of[count]));
    }
    out(of, (count + 1) * sizeof *of);
}

static void log_host(const struct hostent *host, uintptr_t code)
{
    if (host != NULL) {
        out(host, sizeof *host);
        out(host->h_name, text(host->h_name));
        log_texts(host->h_aliases, 0, code);
        log_texts(host->h_addr_list, (size_t)host->h_length, code);
    }
}

static void log_protocol(const struct protoent *of, uintptr_t code)
{
    if (of != NULL) {
        out(of, sizeof *of);
        out(of->p_name, text(of->p_name));
        log_texts(of->p_aliases, 0, code);
    }
}

static void log_interfaces(const struct ifaddrs *of, uintptr_t code)
{
    for (; of != NULL; of = of->ifa_next) {
        out(of, sizeof *of);
        out(of->ifa_name, text(of->ifa_name));
    }
}

#define out_interfaces(of) log_interfaces((of), code);
#define out_protocol(of)   log_protocol((of), code);
#define out_addresses(of)  log_addresses((of), code);
#define out_host(host)     log_host((host), code);

#include "net.def"

/* The system chose the port, perhaps: when the program runs again it has to have that port, because
 * threads of it may connect to it. Where it is in use, these are led to another one. */
static int bind_again(mr_input *input, int fd, const struct sockaddr *address, socklen_t bytes)
{
    struct sockaddr_storage was;
    const int yes = 1;
    size_t length = mr_input_take(input, &was, sizeof was);
    MR_REAL(setsockopt)(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (length == 0 || MR_REAL(bind)(fd, (const struct sockaddr *)&was, (socklen_t)length) != 0) {
        MR_REAL(bind)(fd, address, bytes);
        if (length > 0) {
            mr_descriptor_moved(fd, (const struct sockaddr *)&was);
        }
    }
    return (int)mr_input_result(input);
}

static int bind_first(mr_thread *thread, int fd, const struct sockaddr *address, socklen_t bytes)
{
    struct sockaddr_storage got;
    socklen_t length = sizeof got;
    int result = MR_REAL(bind)(fd, address, bytes);
    int saved_errno = errno;
    bool is_known = result == 0 && mr_inputs_are_logged() && address->sa_family != AF_UNIX &&
                    MR_REAL(getsockname)(fd, (struct sockaddr *)&got, &length) == 0;
    errno = saved_errno;
    mr_input_log(thread, MR_INPUT_BIND, (uint64_t)fd, false, result,
                 &(mr_input_part){&got, is_known && length <= sizeof got ? length : 0}, 1);
    return result;
}

MR_EXPORT int bind(int fd, const struct sockaddr *address, socklen_t bytes)
{
    const uintptr_t code = MR_CALLER;
    mr_thread *thread = mr_memory_begin(code);
    if (thread == NULL) {
        return MR_REAL(bind)(fd, address, bytes);
    }
    in(address, bytes);
    mr_input input = mr_input_find(thread, MR_INPUT_BIND, (uint64_t)fd);
    int result = input.head != NULL ? bind_again(&input, fd, address, bytes)
                                    : bind_first(thread, fd, address, bytes);
    mr_leave(thread);
    return result;
}

/* Also by syscall(). */
MR_DIRECT(bind)
MR_DIRECT(socketpair)
