/*
 * suppressions: a file in the syntax of ThreadSanitizer that says which findings not to report, and
 * the lines that a recorded program has of its own (__tsan_default_suppressions).
 *
 * A line is `type:pattern` (match.h); lines that are empty or begin with `#` say nothing.
 *
 *   race            any frame of a stack: of both accesses, of where their threads were started; or
 *                   the name of the variable. A frame matches by its function, file or module.
 *   race_top        the innermost frame of a stack
 *   called_from_lib the module of one of the two innermost frames of an access, where only the module
 *                   of a frame is known
 *   mutex           as race, for misuse of locks
 *   deadlock        as race, for deadlocks
 *   thread, signal  accepted; maxrace has no such findings
 */
#ifndef MR_LISTING_SUPPRESSIONS_H
#define MR_LISTING_SUPPRESSIONS_H

#include "trace/trace.h"

#define MR_RULE_MAP(X)                                                                             \
    X(RACE, "race")                                                                                \
    X(RACE_TOP, "race_top")                                                                        \
    X(CALLED_FROM_LIB, "called_from_lib")                                                          \
    X(MUTEX, "mutex")                                                                              \
    X(DEADLOCK, "deadlock")                                                                        \
    X(THREAD, "thread")                                                                            \
    X(SIGNAL, "signal")

#define MR_RULE_ID(id, word) MR_RULE_##id,
typedef enum mr_rule_type { MR_RULE_MAP(MR_RULE_ID) MR_RULE_COUNT } mr_rule_type;
#undef MR_RULE_ID

const char *mr_rule_word(mr_rule_type type);

typedef struct mr_suppression {
    mr_rule_type type;
    char *pattern;  /* owned */
    uint64_t line;  /* in the file; 0: the program's own */
    uint64_t count; /* findings that it has suppressed */
} mr_suppression;

typedef struct mr_suppressions {
    mr_suppression *items;
    size_t count, capacity;
    const char *file; /* on loan */
} mr_suppressions;

/* Reads the file; "" has none. MR_ERR_CONFIG, with its place; MR_ERR_MEMORY. Free in every case. */
mr_status mr_suppressions_read(mr_suppressions *self, const char *file, mr_error *error);
/* Adds the program's own, after those of the file. A line that is no suppression is left out without a
 * message, because the reader of the report did not write it. False: no memory. */
bool mr_suppressions_add_own(mr_suppressions *self, const mr_ending *ending);
void mr_suppressions_free(mr_suppressions *self);

/* What a finding shows to suppressions. */
typedef struct mr_suppressed_thing {
    mr_rule_type type;      /* RACE, MUTEX or DEADLOCK */
    const uint32_t *events; /* MR_NONE: there is none */
    size_t count;
    const char *subject;
} mr_suppressed_thing;

/* The first suppression that matches, or NULL. */
mr_suppression *mr_suppressions_find(mr_suppressions *self, const mr_trace *trace,
                                     const mr_suppressed_thing *thing);

#endif
