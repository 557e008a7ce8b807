/*
 * misuse: what a recorded program did to a lock, semaphore, barrier, condition variable or heap
 * block that its rules forbid. It happened in the recorded execution; no reordering is needed to show it.
 *
 * The events say where, by whom and to what: `event` is the access to the variable that stands for
 * the object (docs/recording.md), `other` what it conflicts with: the destruction, or the
 * acquire of who holds the lock.
 *
 * A use after a free can be seen in the trace, and is never in a file (observed.h).
 *
 * A file holds one as a line of the ending (ending.h): "misuse KIND EVENT", or "misuse KIND EVENT
 * OTHER", with a word of MR_MISUSE_MAP, and events counted from 0.
 */
#ifndef MR_TRACE_MISUSE_H
#define MR_TRACE_MISUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(enumerator, word in files and JSON, what the thread did, what `other` is) */
#define MR_MISUSE_MAP(X)                                                                           \
    X(NONE, "", "", "")                                                                            \
    X(USE_AFTER_FREE, "use-after-free", "uses memory that was freed", "freed")                     \
    X(USE_AFTER_DESTROY, "use-after-destroy", "uses what was destroyed", "destroyed")              \
    X(NOT_INITIALISED, "not-initialised", "locks or unlocks what was never initialised", "")       \
    X(DESTROY_HELD, "destroy-held", "destroys a lock that is held", "taken")                       \
    X(UNLOCK_BY_OTHER, "unlock-by-other", "releases a lock that another thread holds", "taken")    \
    X(DOUBLE_FREE, "double-free", "frees memory that was freed", "freed")                          \
    X(UNLOCK_FREE, "unlock-free", "releases a lock that nobody holds", "")                         \
    X(LOCK_HELD, "lock-held", "takes a lock that is held", "taken")                                \
    X(UNLOCK_MODE, "unlock-mode", "releases a lock in another mode than it was taken in", "taken") \
    X(STALE_POINTER, "stale-pointer", "uses a pointer recorded before its block was freed", "")

typedef enum mr_misuse_kind {
#define MR_MISUSE_ENUM(name, word, text, other) MR_MISUSE_##name,
    MR_MISUSE_MAP(MR_MISUSE_ENUM)
#undef MR_MISUSE_ENUM
        MR_MISUSE_COUNT
} mr_misuse_kind;

#define MR_MISUSE_NO_EVENT UINT64_MAX

typedef struct mr_misuse {
    mr_misuse_kind kind;
    uint64_t event;
    uint64_t other; /* MR_MISUSE_NO_EVENT: none */
} mr_misuse;

const char *mr_misuse_word(mr_misuse_kind kind);
/* "releases a lock that nobody holds" */
const char *mr_misuse_text(mr_misuse_kind kind);
/* "taken"; "" when there is no other event. */
const char *mr_misuse_other(mr_misuse_kind kind);

enum { MR_MISUSE_LINE_BYTES = 96 };

/* The line without its newline; returns its length. */
size_t mr_misuse_line(const mr_misuse *misuse, char line[MR_MISUSE_LINE_BYTES]);
/* Reads what follows "misuse ". False: it is none. */
bool mr_misuse_parse(mr_misuse *misuse, const char *text, size_t length);

#endif
