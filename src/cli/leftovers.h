/*
 * leftovers: files that are not complete yet, and what becomes of them when a signal ends maxrace.
 *
 *   mr_leftover_add → (the file is written) → mr_leftover_forget
 *
 * Between the two calls, SIGHUP, SIGINT, SIGQUIT or SIGTERM removes the file, or says where it
 * stays, and then ends maxrace by that signal. Signals that were ignored stay ignored. While other
 * code handles a signal (interrupt.h, launch.h), that code calls mr_leftovers_settle before it ends
 * maxrace. SIGKILL leaves all files where they are.
 */
#ifndef MR_CLI_LEFTOVERS_H
#define MR_CLI_LEFTOVERS_H

enum { MR_LEFTOVERS_MAX = 8, MR_LEFTOVER_BYTES = 4352 };

typedef enum mr_leftover_end {
    MR_LEFTOVER_REMOVE,
    MR_LEFTOVER_REMOVE_FOLDER, /* a folder that maxrace made for itself, with the files in it */
    MR_LEFTOVER_TELL_FOLDER,   /* removed when it is empty; else it stays, and is named */
    MR_LEFTOVER_REMOVE_LOG,    /* a log, its inputs, and those of the children (child_logs.h) */
    MR_LEFTOVER_TELL_LOG,      /* the log of a recording: it stays, and standard error names it; so
                                  do the logs of the children (child_logs.h) */
} mr_leftover_end;

/* Returns the file's number for mr_leftover_forget; -1 when the path is too long or there are too
 * many files: a signal then leaves the file. */
int mr_leftover_add(const char *path, mr_leftover_end end);

/* The file is complete, or gone. */
void mr_leftover_forget(int number);

/* Removes and names the files, the last one first. For signal handlers, too. */
void mr_leftovers_settle(void);

#endif
