/*
 * descriptors: the use of a file descriptor in one thread and its close in another, in no order, is
 * an error as a use after a free is. A descriptor is logged as an object is (log.h): USED before a
 * call that uses it, RETIRED where it is closed. dup2 replaces a descriptor in one step, so that a
 * use at the same time is no error, and a close is: it is an initialisation, and an atomic one.
 *
 * A number that is given again is another descriptor. That it was opened is no access: who learns
 * the number from the thread that opened it comes after that, or races on the number. But a number is
 * given to one at a time: that it is given back and given out is logged. Programs find memory by it.
 */
#ifndef MR_RUNTIME_DESCRIPTORS_H
#define MR_RUNTIME_DESCRIPTORS_H

#include "state.h"

#include <dirent.h>

/* The caller is busy. */
void mr_descriptor_use(int fd, uintptr_t code);
/* It ends: `closed`, or its number was given to another one in an unknown way. */
void mr_descriptor_end(int fd, bool closed, uintptr_t code);
/* The kernel gave it; a socket may get another number, which is returned. Negative: nothing. */
int mr_descriptor_given(mr_thread *thread, int fd, bool socket, uintptr_t code);

/* Is it one that the recording needs? For the program such a descriptor is not open: it must survive a program
 * that closes all numbers. */
bool mr_descriptor_is_hidden(int fd);
/* Returns -1 with EBADF, as a call with a descriptor that is not open. The wrapper logs what it logs for any
 * descriptor that is not open: in a replay other numbers are hidden. */
int mr_descriptor_refuse(void);
/* Is `folder` a list of the descriptors of a process (/proc/self/fd), and the name in it that of a hidden one? */
bool mr_descriptor_is_hidden_entry(DIR *folder, const char *name);
/* fcntl with F_DUPFD or F_DUPFD_CLOEXEC. The caller is not busy. */
int mr_descriptor_duplicate(int fd, int command, int lowest, uintptr_t code);

/* pipe and socketpair made them; the caller is busy. */
void mr_descriptors_pair(int status, int to[2]);

#endif
