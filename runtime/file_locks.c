#include "file_locks.h"

#include "channels.h"
#include "real.h"
#include "scheduler.h"
#include "signals.h"
#include "thread.h"
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

typedef struct request {
    int fd;
    int operation; /* of flock, when there is no command */
    int command;   /* of fcntl, or 0 */
    void *argument;
} request;

static const char waiting; /* the key of all who wait for a file's lock */

static int ask(const request *it, bool waits)
{
    int operation = waits ? it->operation : it->operation | LOCK_NB;
    int command = waits ? it->command : F_OFD_SETLK;
    return it->command == 0 ? MR_REAL(flock)(it->fd, operation)
                            : MR_REAL(fcntl)(it->fd, command, it->argument);
}

/* Tries until it has what it asked for; another process may have the lock. Who asks for the other kind of a lock loses
 * the one that it has. 0, or the errno. */
static int wait_for(mr_thread *thread, const request *it, uintptr_t code)
{
    while (ask(it, false) != 0) {
        if (errno != EAGAIN && errno != EACCES) {
            return errno;
        }
        thread->polls = true;
        mr_write_object(MR_LOG_BLOCKED, MR_LOG_ROLE_NONE, NULL, code, 0, 0);
        if (mr_block(thread, &waiting, MR_NEVER, false) == MR_INTERRUPTED) {
            mr_attend(thread);
            if (!mr_signals_restart()) {
                return EINTR;
            }
        }
    }
    return 0;
}

/* All calls for a file keep their order: what a thread does while it holds the lock, and what it does because it did not
 * get it, is in order with the other threads. */
static int lock(const request *it, bool waits, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    int saved_errno = errno, status;
    if (thread == NULL) {
        return ask(it, waits);
    }
    mr_yield(thread);
    mr_channel_log_lock(it->fd, code); /* it may give up a lock */
    if (waits) {
        status = wait_for(thread, it, code);
    } else {
        status = ask(it, false) == 0 ? 0 : errno;
    }
    mr_channel_log_lock(it->fd, code);
    mr_wake_key(&waiting);
    mr_leave(thread);
    errno = status == 0 ? saved_errno : status;
    return status == 0 ? 0 : -1;
}

MR_EXPORT int flock(int fd, int operation)
{
    request it = {.fd = fd, .operation = operation};
    return lock(&it, (operation & LOCK_NB) == 0, MR_CALLER);
}

bool mr_file_locks_by(int command)
{
    return command == F_OFD_SETLK || command == F_OFD_SETLKW;
}

int mr_file_lock(int fd, int command, void *argument, uintptr_t code)
{
    request it = {.fd = fd, .command = command, .argument = argument};
    return lock(&it, command == F_OFD_SETLKW, code);
}
