/* No race: the counter is under a lock of the file, given up by unlocking or by closing. Who does not get it leaves the counter
 * alone. */
#define _GNU_SOURCE
#include "file-lock.h"

static void *work(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        int fd = open_again();
        need(flock(fd, LOCK_SH) == 0 && flock(fd, LOCK_EX) == 0);
        counter++;
        need(flock(fd, LOCK_UN) == 0);
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
            counter++;
        }
        close(fd);
    }
    return unused;
}

int main(void)
{
    return run(work);
}
