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

#define remember(value) const size_t remembered = (value);

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

static void log_interfaces(const struct ifaddrs *of, uintptr_t code)
{
    for (; of != NULL; of = of->ifa_next) {
        out(of, sizeof *of);
        out(of->ifa_name, text(of->ifa_name));
    }
}

#define out_interfaces(of) log_interfaces((of), code);
#define out_addresses(of)  log_addresses((of), code);
#define out_host(host)     log_host((host), code);

#include "net.def"
