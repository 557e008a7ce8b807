/*
 * ending: how the recording of a program ended, what it could not see, and what the program says of
 * findings, as the recorder tells it.
 * A trace that does not say it has an ending that is all zero.
 *
 * A file holds it as lines "KEY VALUE": in text with "#@end " before each, in .mrt as the payload of
 * one chunk. A reader passes over lines that it does not know.
 *
 *   exit N      the program ended with this status
 *   signal N    a signal ended it; 0: it is not known which one
 *   stopped WHY the recording ended, maybe before the program did: a word of MR_STOP_MAP
 *   children N  child processes that had threads and were not recorded
 *   detail TEXT a sentence for people, in the order of the lines: who waits for whom in a deadlock
 *   unseen WHAT the program used something that synchronises threads and is not recorded: a word of
 *               MR_UNSEEN_MAP. A race of the trace may then be none of the program
 *   misuse …    what the program did to a lock that the rules forbid (misuse.h)
 *   suppression TYPE:PATTERN  a finding that the program itself asks not to report
 *               (listing/suppressions.h)
 */
#ifndef MR_TRACE_ENDING_H
#define MR_TRACE_ENDING_H

#include "misuse.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(enumerator, word in files and JSON, where the recording ended, for people) */
#define MR_STOP_MAP(X)                                                                             \
    X(NONE, "", "the end of the program")                                                          \
    X(MAX_EVENTS, "max-events", "--max-events")                                                    \
    X(MAX_LOG, "max-log", "--max-log")                                                             \
    X(DISK_FULL, "disk-full", "a log that could not grow")                                         \
    X(EXEC, "exec", "the exec of another program")                                                 \
    X(TIMEOUT, "timeout", "--timeout")                                                             \
    X(DEADLOCK, "deadlock", "a deadlock")                                                          \
    X(DAMAGED, "damaged", "the damage of the log")                                                 \
    X(CLONE, "clone", "a clone that shares memory")

typedef enum mr_stop {
#define MR_STOP_ENUM(name, word, text) MR_STOP_##name,
    MR_STOP_MAP(MR_STOP_ENUM)
#undef MR_STOP_ENUM
        MR_STOP_COUNT
} mr_stop;

/* X(enumerator, word in files and JSON, name for people) */
#define MR_UNSEEN_MAP(X)                                                                           \
    X(OPENMP, "openmp", "OpenMP")                                                                  \
    X(IO_URING, "io-uring", "io_uring")                                                            \
    X(ASSEMBLY, "assembly", "inline assembly")                                                     \
    X(TBB, "tbb", "TBB")                                                                           \
    X(GLIB, "glib", "GLib")                                                                        \
    X(QT, "qt", "Qt")

typedef enum mr_unseen {
#define MR_UNSEEN_ENUM(name, word, text) MR_UNSEEN_##name,
    MR_UNSEEN_MAP(MR_UNSEEN_ENUM)
#undef MR_UNSEEN_ENUM
        MR_UNSEEN_COUNT
} mr_unseen;

typedef enum mr_program_end {
    MR_PROGRAM_UNKNOWN,
    MR_PROGRAM_EXITED,
    MR_PROGRAM_SIGNALLED,
} mr_program_end;

typedef struct mr_ending {
    mr_program_end program;
    int number; /* the exit status, or the signal */
    mr_stop stop;
    uint64_t children;
    uint32_t unseen;    /* bit u: what mr_unseen u stands for was used */
    char *details;      /* owned; lines, each ended by a newline; NULL: none */
    char *suppressions; /* the same */
    mr_misuse *misuses; /* owned */
    size_t misuse_count, misuse_capacity;
} mr_ending;

void mr_ending_free(mr_ending *ending);
/* False: no memory. */
bool mr_ending_copy(mr_ending *to, const mr_ending *from);
bool mr_ending_add_detail(mr_ending *ending, const char *text, size_t length);
bool mr_ending_add_suppression(mr_ending *ending, const char *text, size_t length);
bool mr_ending_add_misuse(mr_ending *ending, const mr_misuse *misuse);

/* Does it say anything? */
bool mr_ending_is_known(const mr_ending *ending);

/* Did the program crash, fail an assertion or end in a deadlock? Signals that ask a program to end
 * (SIGHUP, SIGINT, SIGTERM, SIGALRM, SIGPIPE), and SIGKILL after --timeout, are no crash. */
bool mr_ending_is_bad(const mr_ending *ending);

/* Takes one line, without its newline. False: no memory. */
bool mr_ending_take(mr_ending *ending, const char *line, size_t length);

/* The lines, each ended by a newline. Owned by the caller; NULL: no memory. */
char *mr_ending_lines(const mr_ending *ending);

/* "the program was ended by signal 6 (Aborted); the recording ended at --max-events"; "" when all
 * went well or nothing is known. Always terminated. */
void mr_ending_sentence(const mr_ending *ending, char *text, size_t size_bytes);

/* What the events of the trace come up to: "a deadlock", "signal 6 (Aborted)", "--max-log"; NULL: to
 * the end of the program, or nothing is known. */
const char *mr_ending_limit(const mr_ending *ending, char *text, size_t size_bytes);

/* "OpenMP and io_uring": the names of what was not seen, for people; "" when there is nothing. Always
 * terminated. */
void mr_ending_unseen(const mr_ending *ending, char *text, size_t size_bytes);

const char *mr_stop_word(mr_stop stop);
const char *mr_unseen_word(mr_unseen unseen);

#endif
