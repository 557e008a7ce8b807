/*
 * channel_units: bytes that only wake a thread, as units of a semaphore. Threads write one byte to a pipe or a pair of sockets
 * (a stream), always the same one, and one thread reads them. Each byte is a unit then: who reads one comes after one of the
 * writes, whichever, and not after the others. A wait that finds the channel ready takes a unit, which the next read of the
 * same thread need not take again. The caller of each function is busy.
 *
 * Each call writes one record, so that a replay counts as many.
 */
#ifndef MR_RUNTIME_CHANNEL_UNITS_H
#define MR_RUNTIME_CHANNEL_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers of channels are 1 to this. */
enum { MR_CHANNELS_MAX = 1024 };

/* A byte is about to be written. `is_like`: it is one that all writes wrote so far. Otherwise there are no units from now on. */
void mr_channel_units_write(uint64_t channel, bool is_like, uintptr_t code);
/* The last write has failed. */
void mr_channel_units_refuse(uint64_t channel, uintptr_t code);
/* So many bytes were read. `is_one`: one was asked for. False: the read comes after all writes. */
bool mr_channel_units_read(uint64_t channel, int fd, size_t bytes, bool is_one, uintptr_t code);
/* A wait has found that the descriptor can be read from. False: it comes after all writes; then there is no record. */
bool mr_channel_units_ready(uint64_t channel, int fd, uintptr_t code);

#endif
