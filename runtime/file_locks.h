/*
 * file_locks: locks of files that exclude threads of one process, since they belong to what was opened: flock, and fcntl with
 * F_OFD_SETLK and F_OFD_SETLKW. Those of lockf and of other commands of fcntl belong to the process, and order no threads.
 */
#ifndef MR_RUNTIME_FILE_LOCKS_H
#define MR_RUNTIME_FILE_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

/* Does this command of fcntl ask for such a lock? */
bool mr_file_locks_by(int command);
int mr_file_lock(int fd, int command, void *argument, uintptr_t code);

#endif
