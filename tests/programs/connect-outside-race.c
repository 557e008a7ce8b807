/* Race on shared: two threads write to it when they are connected with another process, a child. Predicted from every order. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sockaddr_in address = {.sin_family = AF_INET};
static int shared;

/* Connections are made without an accept. It ends when the other end of `over` is closed. */
static int serve(int tell, const int over[2])
{
    char byte;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t length = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 2) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0 ||
        write(tell, &address, sizeof address) != sizeof address)
        return 1;
    close(over[1]);
    return read(over[0], &byte, 1) != 0;
}

static void *connects(void *unused)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        shared++;
    close(fd);
    return unused;
}

int main(void)
{
    pthread_t first, second;
    int ends[2], over[2], status = 1;
    if (pipe(ends) != 0 || pipe(over) != 0)
        return 1;
    pid_t child = fork();
    if (child == 0)
        _exit(serve(ends[1], over));
    if (read(ends[0], &address, sizeof address) != sizeof address)
        return 1;
    pthread_create(&first, NULL, connects, NULL);
    pthread_create(&second, NULL, connects, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    close(over[1]);
    waitpid(child, &status, 0);
    return status != 0;
}
