/* Talks to another process over loopback, in both directions, and threads of it to each other, over loopback too.
 *
 *   peer other FILE     the other process; writes its port to FILE
 *   peer here PORT      the program that is recorded */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static void need(int condition, const char *what)
{
    if (!condition) {
        perror(what);
        exit(9);
    }
}

static struct sockaddr_in at(int port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((unsigned short)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int listening(int *port)
{
    struct sockaddr_in address = at(0);
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    need(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0, "bind");
    need(listen(fd, 4) == 0, "listen");
    need(getsockname(fd, (struct sockaddr *)&address, &length) == 0, "getsockname");
    *port = ntohs(address.sin_port);
    return fd;
}

static int connected(int port)
{
    struct sockaddr_in address = at(port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    need(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0, "connect");
    return fd;
}

static int accepted(int fd)
{
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    int got = accept(fd, (struct sockaddr *)&address, &length);
    need(got >= 0, "accept");
    return got;
}

static int other(const char *path)
{
    char text[64] = "";
    int port, fd = listening(&port);
    char temporary[512];
    snprintf(temporary, sizeof temporary, "%s.part", path);
    FILE *file = fopen(temporary, "w");
    need(file != NULL, path);
    fprintf(file, "%d\n", port);
    fclose(file);
    need(rename(temporary, path) == 0, "rename");
    int talk = accepted(fd);
    need(recv(talk, text, sizeof text - 1, 0) > 0, "recv");
    int back = connected(atoi(text));
    need(send(back, "call from outside", 17, 0) == 17, "send");
    memset(text, 0, sizeof text);
    need(recv(back, text, sizeof text - 1, 0) > 0, "recv");
    need(send(talk, text, strlen(text), 0) > 0, "send");
    return 0;
}

static char said[4][512];
static int own_port, outside_port;

static void *calls(void *unused)
{
    char text[64] = "";
    int mine, fd = listening(&mine), talk = connected(outside_port);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    int set = epoll_create1(0);
    epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
    snprintf(text, sizeof text, "%d", mine);
    need(send(talk, text, strlen(text), 0) > 0, "send");
    int ready = epoll_wait(set, &event, 1, -1);
    int back = accepted(fd);
    struct iovec part = {text, sizeof text - 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    memset(text, 0, sizeof text);
    ssize_t got = recvmsg(back, &message, 0);
    int length = snprintf(said[0], sizeof said[0], "port %d, ready %d, back %d, got %zd '%s'\n",
                          mine, ready, back, got, text);
    need(write(back, "thanks", 6) == 6, "write");
    memset(text, 0, sizeof text);
    got = read(talk, text, sizeof text - 1);
    snprintf(said[0] + length, sizeof said[0] - (size_t)length, "then %zd '%s'\n", got, text);
    return unused;
}

static void *serves(void *listener)
{
    char text[64] = "";
    int fd = accepted(*(int *)listener);
    ssize_t got = recv(fd, text, sizeof text - 1, 0);
    snprintf(said[1], sizeof said[1], "inside %zd '%s'\n", got, text);
    need(send(fd, "answer", 6, 0) == 6, "send");
    return NULL;
}

static void *asks(void *unused)
{
    char text[64] = "";
    int fd = connected(own_port);
    need(send(fd, "question", 8, 0) == 8, "send");
    ssize_t got = recv(fd, text, sizeof text - 1, 0);
    snprintf(said[2], sizeof said[2], "answered %zd '%s'\n", got, text);
    return unused;
}

int main(int count, char **arguments)
{
    void *(*const work[])(void *) = {calls, serves, asks};
    pthread_t threads[3];
    if (count == 3 && strcmp(arguments[1], "other") == 0)
        return other(arguments[2]);
    outside_port = atoi(arguments[2]);
    int listener = listening(&own_port);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work[i], &listener);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%s%s%s", said[0], said[1], said[2]);
}
