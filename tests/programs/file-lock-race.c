/* Each thread has the lock of the process (lockf), which does not keep its threads apart. Predicted from every order */
#define _GNU_SOURCE
#include "file-lock.h"

static void *work(void *unused)
{
    int fd = open_again();
    need(lockf(fd, F_LOCK, 0) == 0);
    counter++;
    return unused;
}

int main(void)
{
    return run(work);
}
