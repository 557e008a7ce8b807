/* The thread that finds nobody at the socket writes after its section, so that says nothing of the other thread, which writes before it
 * connects. Predicted from every order. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int listens, shared;
static struct sockaddr_in at;

static void *look(void *unused)
{
    pthread_mutex_lock(&lock);
    accept(listens, NULL, NULL);
    pthread_mutex_unlock(&lock);
    shared = 1;
    return unused;
}

static void *act(void *unused)
{
    usleep(1000);
    shared = 2;
    pthread_mutex_lock(&lock);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    connect(fd, (struct sockaddr *)&at, sizeof at);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t first, second;
    socklen_t bytes = sizeof at;
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listens = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    bind(listens, (struct sockaddr *)&at, bytes);
    getsockname(listens, (struct sockaddr *)&at, &bytes);
    listen(listens, 9);
    pthread_create(&first, NULL, look, NULL);
    pthread_create(&second, NULL, act, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
