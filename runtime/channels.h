/*
 * channels: what descriptors lead to, as far as it orders threads: pipes, files, sockets, eventfds, and
 * whatever else has no file of its own. The caller of each function is busy.
 */
#ifndef MR_RUNTIME_CHANNELS_H
#define MR_RUNTIME_CHANNELS_H

#include "log.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Who reads (AFTER) from a pipe, a file or a socket comes after those who wrote (BEFORE) to it. A write
 * comes before those who close a pipe, or a socket between threads, after it. */
void mr_channel_log(mr_log_kind kind, int fd, uintptr_t code);
/* These bytes are about to be written. Threads that write to an eventfd are in no order by that, and neither are those that
 * write the same byte to a pipe, one at a time. */
void mr_channel_log_written(int fd, const void *from, size_t bytes, uintptr_t code);
/* A read has taken so many bytes from the descriptor; it comes after those who wrote them. The reads of a pipe, an eventfd or
 * a socket by several threads keep their order. `token`: the byte that the read got, when it asked for one byte; else NULL. */
void mr_channel_log_taken(int fd, size_t bytes, const uint8_t *token, uintptr_t code);
/* What is read at a descriptor, by number, and the same as mr_channel_log_end when the descriptor may be closed by then.
 * MR_CHANNEL_NONE: nothing is logged. */
#define MR_CHANNEL_NONE UINT64_MAX
typedef struct mr_channel {
    uint64_t data, closed;
} mr_channel;
mr_channel mr_channel_at(int fd); /* -1: none */
void mr_channel_log_end_of(mr_channel channel, uintptr_t code);
/* A message was taken from a queue, whose channel is that of its file; logged after the read. */
void mr_channel_log_turn(int fd, uintptr_t code);
/* The call tells that the other end is closed, or may tell it: who closed it comes before. */
void mr_channel_log_end(int fd, uintptr_t code);
/* A wait has found that the descriptor can be read from, or that its other end is closed: it comes after
 * those who wrote to it or closed it, when it is a pipe, has no file of its own, or is a socket
 * between threads of the program. Who finds another socket ready reads from it.
 *
 * An eventfd is ready by any write since the last read that took all, and so is a channel that has units (channel_units.h). So
 * the wait comes after one of these writes, whichever; it may come before or after the others. Not so when the wait tells
 * changes instead of the state (`is_edge`).
 *
 * The caller logs mr_channel_log_unready for each other descriptor that the wait was asked for and
 * that was not ready: the wait comes before the next write to it. */
void mr_channel_log_ready(int fd, bool is_edge, uintptr_t code);
void mr_channel_log_unready(int fd, uintptr_t code);
/* A read found nothing and waits no longer: it comes after what was written and read so far, and before the next write. */
void mr_channel_log_empty(int fd, uintptr_t code);
/* A write found no room and waits no longer, or a wait that nothing can be written: it comes after what was written and read so
 * far, and before the next read. */
void mr_channel_log_full(int fd, uintptr_t code);
/* A write had to wait for room: it comes after the reads that made some. */
void mr_channel_log_room(int fd, uintptr_t code);
/* The descriptor leads to a new eventfd, with this count. */
void mr_channel_new_counter(int fd, unsigned count, bool is_semaphore, uintptr_t code);
/* The descriptor leads to a new timer. Who sets it writes to it. */
void mr_channel_new_timer(int fd);
/* These signals are read at the descriptor, a new one or one that is changed. */
void mr_channel_set_signals(int fd, bool is_new, const sigset_t *set);
/* The write that was about to begin has failed. */
void mr_channel_log_refused(int fd, uintptr_t code);
/* The descriptor is about to be closed: who finds out comes after that, when it is a pipe or
 * a socket between threads of the program. Those who close it after each other are in that order, but it
 * does not follow who wrote before. Closing a file may end a lock of it: mr_channel_log_lock. */
void mr_channel_log_closed(int fd, uintptr_t code);
/* The socket is about to be shut down. One between threads is closed by that; what another one tells, as one that
 * listens, counts as a write. */
void mr_channel_log_shut(int fd, uintptr_t code);
/* A lock of the file is about to be asked for or given up, or was: it comes after all such calls so far. */
void mr_channel_log_lock(int fd, uintptr_t code);
/* epoll_ctl asks (BEFORE) for events of what the data stands for; a wait has found some (AFTER). */
void mr_channel_log_watch(mr_log_kind kind, int set, uint64_t data, uintptr_t code);
/* A child is about to begin: it has all descriptors that are open. */
void mr_channels_inherited(uintptr_t code);
bool mr_channels_are_inherited(void);
/* The same of one descriptor, whose other end a child has. */
void mr_channel_inherited(int fd);
/* So many bytes were written, as the call that was about to write them says. */
void mr_channel_wrote(int fd, size_t bytes);
/* The two ends of a socketpair: what is written to one is read from the other. */
void mr_channel_pair(const int ends[2]);

#endif
