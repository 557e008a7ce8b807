/* No race: the counter is under a lock that belongs to what was opened (F_OFD_SETLKW). */
#define _GNU_SOURCE
#include "file-lock.h"

static void *work(void *unused)
{
    int fd = open_again();
    for (int i = 0; i < ROUNDS; i++) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        need(fcntl(fd, F_OFD_SETLKW, &lock) == 0);
        counter++;
        lock.l_type = F_UNLCK;
        need(fcntl(fd, F_OFD_SETLK, &lock) == 0);
    }
    close(fd);
    return unused;
}

int main(void)
{
    return run(work);
}
