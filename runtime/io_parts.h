/*
 * io_parts: what calls that read, write, send and receive have in common. Between files of this
 * folder only.
 *
 *   thread = mr_io_begin → what the call reads → the call, or mr_io_feed… → mr_io_log_input →
 *   mr_io_end…
 */
#ifndef MR_RUNTIME_IO_PARTS_H
#define MR_RUNTIME_IO_PARTS_H

#include "input_descriptors.h"

#include <sys/types.h>
#include <sys/uio.h>

enum { MR_IO_PARTS_MAX = 1024 }; /* the kernel's IOV_MAX */

/* The address of a peer as an input: its length, then as much of it as there was room for. */
#define MR_IO_LENGTH_PART(address, length)                                                         \
    {                                                                                              \
        (length), (address) != NULL && (length) != NULL ? sizeof *(length) : 0                     \
    }
#define MR_IO_ADDRESS_PART(address, length, room)                                                  \
    {                                                                                              \
        (address), (address) == NULL || (length) == NULL ? 0                                       \
                   : *(length) < (room)                  ? *(length)                               \
                                                         : (room)                                  \
    }

/* Before and after the real call; NULL: not recorded. */
mr_thread *mr_io_begin(int fd, uintptr_t code);

void mr_io_end(int fd, void *written, ssize_t bytes, uintptr_t code);
/* The same, of a read that asked for `asked` bytes. */
void mr_io_end_read(int fd, void *written, ssize_t bytes, size_t asked, uintptr_t code);

/* What was read: an input, unless it was fed. */
void mr_io_log_input(const mr_input *fed, int fd, ssize_t result, const mr_input_part *parts,
                     size_t count);

/* What the recorded thread got. */
ssize_t mr_io_feed(mr_thread *thread, mr_input *input, void *buffer, size_t room);

/* A call that writes to a peer has the result that it had. */
bool mr_io_feed_sent(mr_thread *thread, int fd, ssize_t *result);

/* After a write of `asked` bytes: it had to wait for room, or found none, or too little. */
void mr_io_end_room(int fd, ssize_t result, size_t asked, uintptr_t code);

void mr_io_end_sent(bool fed, int fd, ssize_t result, size_t asked, uintptr_t code);

/* The bytes of a vector. */
size_t mr_io_bytes(const struct iovec *parts, size_t count);

/* Memory that a call has written beside the data. */
void mr_io_written(const void *to, size_t bytes, uintptr_t code);

/* Memory that a call reads or writes beside the data. The caller is busy. */
void mr_io_log_range(mr_log_kind kind, const void *address, size_t bytes, uintptr_t code);

/* The address of a peer: what the kernel gives of it, and how long it is. `room` was there. */
void mr_io_end_address(bool given, const struct sockaddr *address, const socklen_t *length,
                       socklen_t room, uintptr_t code);

/* Room for an address. The caller is busy. */
socklen_t mr_io_begin_address(const struct sockaddr *address, const socklen_t *length,
                              uintptr_t code);

void mr_io_feed_address(mr_input *input, struct sockaddr *address, socklen_t *length);

/* The parts of a vector that `bytes` bytes fill. */
void mr_io_log_vector(mr_log_kind kind, const struct iovec *parts, size_t count, ssize_t bytes,
                      uintptr_t code);

void mr_io_end_vector(int fd, const struct iovec *parts, size_t count, ssize_t bytes,
                      uintptr_t code);

ssize_t mr_io_feed_vector(mr_thread *thread, mr_input *input, const struct iovec *parts,
                          size_t count);

/* The parts of a vector that were filled; returns their number. */
size_t mr_io_filled(mr_input_part *to, const struct iovec *parts, size_t count, ssize_t result);

#endif
