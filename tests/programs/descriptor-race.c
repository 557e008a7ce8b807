/* Race on a descriptor: closed in one thread while the other may write to it. Predicted from every
 * order. */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static int file;

static void *work(void *unused)
{
    if (write(file, "x", 1) < 0) {
        return NULL;
    }
    return unused;
}

int main(void)
{
    pthread_t other;
    file = open("/dev/null", O_WRONLY);
    pthread_create(&other, NULL, work, NULL);
    usleep(1000);
    close(file);
    pthread_join(other, NULL);
    return 0;
}
