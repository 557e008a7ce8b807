/* init: the beginning and the end of a recording. */
#ifndef MR_RUNTIME_INIT_H
#define MR_RUNTIME_INIT_H

/* Reads the environment once; with MAXRACE_LOG the recording begins. The environment of a program
 * that runs with more rights than its user (setuid, setgid) is not read. */
void mr_init(void);

/* The process goes on unrecorded (the child of a fork). */
void mr_stop_in_child(void);

#endif
