/*
 * outside: orders through other processes and the kernel. A child reads a pipe and writes another one, a file that changes gives an
 * event of inotify, a connection waits at a socket: who learns of it comes after the thread that caused it. What happened
 * between is not seen, so all causes are one channel, that of sockets that are not told apart (channels.c).
 *
 * A pipe, a pair of sockets or an eventfd that is open when a child begins leads outside from then on. The caller of each function
 * is busy.
 */
#ifndef MR_RUNTIME_OUTSIDE_H
#define MR_RUNTIME_OUTSIDE_H

#include <stdbool.h>
#include <stdint.h>

/* Other processes may learn of this; causes are in no order by that. */
void mr_outside_tell(uintptr_t code);
/* The thread learns what other processes may have done. */
void mr_outside_hear(uintptr_t code);

/* The program looks at files from now on (inotify). */
void mr_outside_watch_files(void);
/* A file is about to change. */
void mr_outside_file_changes(uintptr_t code);

/* A socket begins to listen, a connection is asked for. */
typedef enum mr_outside_call { MR_OUTSIDE_LISTENS, MR_OUTSIDE_CONNECTS } mr_outside_call;
void mr_outside_call_begins(mr_outside_call call, uintptr_t code);
/* The result of another call tells that it has happened; or that it had not, when nobody listens or nobody wants a connection:
 * then that comes before the next one. */
void mr_outside_call_seen(mr_outside_call call, bool has_happened, uintptr_t code);
bool mr_outside_listens(int fd);

#endif
