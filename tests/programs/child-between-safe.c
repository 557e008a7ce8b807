/* No race: a child comes between the two threads. It reads what one of them wrote, or finds its pipe closed, and then writes to a pipe
 * or ends, and the other thread learns of that: by a read, a wait, or the end of the child. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int to_child[2], from_child[2], to_sleeper[2], pairs[2][2], to_command[2], of_sleeper;
static pid_t echo, sleeper, closer;
static int by_pipe, by_end, by_descriptor, by_close, by_command;

static void *learn(void *unused)
{
    char byte, command[64];
    struct pollfd ends = {.fd = of_sleeper, .events = POLLIN};
    struct pollfd tells = {.fd = pairs[1][0], .events = POLLIN};
    read(from_child[0], &byte, 1);
    by_pipe = 2;
    poll(&ends, 1, -1);
    by_descriptor = 2;
    while (waitpid(sleeper, NULL, 0) < 0)
        usleep(100);
    by_end = 2;
    poll(&tells, 1, -1);
    by_close = 2;
    snprintf(command, sizeof command, "head -c 1 <&%d", to_command[0]);
    FILE *answer = popen(command, "r");
    fread(&byte, 1, 1, answer);
    by_command = 2;
    pclose(answer);
    return unused;
}

static void *cause(void *unused)
{
    by_pipe = 1;
    write(to_child[1], "a", 1);
    by_descriptor = by_end = 1;
    write(to_sleeper[1], "b", 1);
    by_close = 1;
    close(pairs[0][1]);
    by_command = 1;
    write(to_command[1], "c", 1);
    return unused;
}

int main(void)
{
    pthread_t first, second;
    char byte;
    pipe(to_child);
    pipe(from_child);
    pipe(to_sleeper);
    pipe(to_command);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[0]);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[1]);
    if ((echo = fork()) == 0) {
        read(to_child[0], &byte, 1);
        write(from_child[1], &byte, 1);
        _exit(0);
    }
    if ((sleeper = fork()) == 0) {
        read(to_sleeper[0], &byte, 1);
        _exit(0);
    }
    if ((closer = fork()) == 0) {
        close(pairs[0][1]);
        read(pairs[0][0], &byte, 1);
        write(pairs[1][1], "d", 1);
        _exit(0);
    }
    close(pairs[0][0]);
    of_sleeper = pidfd_open(sleeper, 0);
    pthread_create(&first, NULL, learn, NULL);
    pthread_create(&second, NULL, cause, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    waitpid(echo, NULL, 0);
    waitpid(closer, NULL, 0);
    return 0;
}
