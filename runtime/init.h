/* init: the beginning and the end of a recording. */
#ifndef MR_RUNTIME_INIT_H
#define MR_RUNTIME_INIT_H

/* Reads the environment once; with MAXRACE_LOG the recording begins. */
void mr_init(void);

/* The process goes on unrecorded (the child of a fork). */
void mr_stop_in_child(void);

#endif
