/* init: the beginning and the end of a recording. */
#ifndef MR_RUNTIME_INIT_H
#define MR_RUNTIME_INIT_H

#include <stdint.h>

/* Reads the environment once; with MAXRACE_LOG the recording begins. The environment of a program
 * that runs with more rights than its user (setuid, setgid) is not read. */
void mr_init(void);

/* The process goes on unrecorded (the child of a fork). */
void mr_stop_in_child(void);

/* After mr_stop_in_child: the child is recorded, in a log of its own, with the calling thread as its
 * main thread. `number` is that of the fork. Calls that it is in are not in its stacks. */
void mr_follow_in_child(uint32_t number);

/* An unrecorded process creates a thread: the log of its parent says so. */
void mr_child_has_thread(void);

#endif
