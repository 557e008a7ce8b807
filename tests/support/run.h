/* run: a program as a user runs it: arguments in, standard output, standard error and exit status
 * out. */
#ifndef MR_TESTS_SUPPORT_RUN_H
#define MR_TESTS_SUPPORT_RUN_H

#include "scratch.h"

#include <sys/types.h>

typedef struct mr_run {
    int status;        /* exit status, or 1000 + signal */
    char *out, *error; /* owned */
    pid_t process;     /* while it runs */
    uint64_t peak_kib; /* the memory that it had at most */
    char out_path[512], error_path[512];
} mr_run;

/* Where standard output goes. */
typedef enum mr_run_output {
    MR_RUN_CAPTURE,
    MR_RUN_FULL,        /* /dev/full */
    MR_RUN_CLOSED,      /* no standard output at all */
    MR_RUN_CLOSED_PIPE, /* a pipe that nobody reads */
} mr_run_output;

/* Runs the program that MAXRACE names (build/release/maxrace when it names none) with `arguments`,
 * separated by blanks; '@' in them stands for the scratch folder. `input` is standard input, NULL:
 * empty. */
void mr_run_maxrace(mr_run *run, const mr_scratch *scratch, const char *arguments,
                    const char *input, mr_run_output output);
void mr_run_free(mr_run *run);

/* The same in two halves, one at a time: between them the program can be sent signals. */
void mr_run_start(mr_run *run, const mr_scratch *scratch, const char *arguments, const char *input,
                  mr_run_output output);
void mr_run_wait(mr_run *run);

typedef struct mr_run_row {
    const char *arguments;
    int status;
    const char *out;   /* a part of standard output; NULL: it is empty */
    const char *error; /* all of standard error, '@' for the folder; NULL: it is empty */
} mr_run_row;

/* Runs each row and fails the test at the first that does something else. */
void mr_run_rows(const mr_scratch *scratch, const mr_run_row *rows, size_t count);
/* The same for an array of rows. */
#define MR_RUN_ROWS(scratch, rows) mr_run_rows(scratch, rows, sizeof(rows) / sizeof(rows)[0])

/* `text` with '@' replaced by the scratch folder. */
void mr_run_expand(const mr_scratch *scratch, const char *text, char buffer[1024]);

#endif
