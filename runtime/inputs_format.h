/*
 * inputs_format: the file of what a recorded program got from outside. The runtime writes it beside
 * the log, and reads it when the program runs again (inputs.h).
 *
 * A header of MR_INPUTS_HEADER_BYTES, then records up to `end`, each a mr_input_head and its data,
 * padded to 8 bytes. They are in the order in which things happened; those of one thread are in the
 * thread's order, which is all that counts when they are given to it again.
 */
#ifndef MR_RUNTIME_INPUTS_FORMAT_H
#define MR_RUNTIME_INPUTS_FORMAT_H

#include <stdint.h>

#define MR_INPUTS_MAGIC        "maxrinp\n" /* 8 bytes, no NUL */
#define MR_INPUTS_VERSION      5u          /* 1 has no SIGNAL */
#define MR_INPUTS_CHANGES      3u          /* the first that has calls that change files */
#define MR_INPUTS_FLAGS        4u          /* the first that has FLAGS */
#define MR_INPUTS_SOCKETS      5u /* the first with WRITE of inherited sockets, shutdown, sendfile */
#define MR_INPUTS_HEADER_BYTES 4096u
#define MR_INPUTS_SUFFIX       ".inputs" /* of the log's path */

/*
 * Environment variables, read as those of log.h are.
 *
 * - MAXRACE_RECORD_INPUTS: 1: the file is written
 * - MAXRACE_MAX_INPUTS: it ends when it has so many bytes; 0 (default): no limit
 * - MAXRACE_INPUTS: path of such a file; the program gets what is in it
 */
/* What standard error says, behind "maxrace: ", of a file that a replay cannot change as the recording did; the file or the
 * call follows. */
#define MR_INPUTS_REFUSED "cannot change files as in the recording: "

#define MR_INPUTS_ENV_RECORD "MAXRACE_RECORD_INPUTS"
#define MR_INPUTS_ENV_MAX    "MAXRACE_MAX_INPUTS"
#define MR_INPUTS_ENV_FEED   "MAXRACE_INPUTS"

typedef enum mr_inputs_state {
    MR_INPUTS_COMPLETE,
    MR_INPUTS_LONG, /* MAXRACE_MAX_INPUTS reached: nothing is logged from there on */
    MR_INPUTS_FULL, /* the file could not grow */
} mr_inputs_state;

enum { MR_INPUTS_CLOCKS = 16, MR_INPUTS_INHERITED = 64 };

typedef struct mr_inputs_header {
    char magic[8];
    uint32_t version, header_bytes;
    uint64_t end; /* offset after the last record */
    uint32_t state;
    uint32_t unfed;                   /* bits: kinds that cannot be given again, see below */
    int64_t clocks[MR_INPUTS_CLOCKS]; /* what each showed at the start; 0: nobody looked at it */
    uint32_t
        modes[MR_INPUTS_INHERITED]; /* of descriptors open at the start, as of fstat; 0: none */
    uint32_t process;               /* 0: nobody asked for it */
} mr_inputs_header;

/* X(enumerator, text): what the program used that cannot be given to it again. */
#define MR_INPUTS_UNFED_MAP(X)                                                                     \
    X(IOCTL, "ioctl")                                                                              \
    X(SHARED_MEMORY, "memory shared with other processes")                                         \
    X(MAPPED_FILE, "files mapped into memory")                                                     \
    X(CHILDREN, "child processes")                                                                 \
    X(SYSTEM_CALL, "system calls made directly")

enum {
#define MR_INPUTS_UNFED_NUMBER(name, text) MR_INPUTS_UNFED_##name,
    MR_INPUTS_UNFED_MAP(MR_INPUTS_UNFED_NUMBER)
#undef MR_INPUTS_UNFED_NUMBER
        MR_INPUTS_UNFED_COUNT
};

/* X(enumerator, text, what `argument` is). */
#define MR_INPUT_KIND_MAP(X)                                                                       \
    X(NONE, "nothing")                                                                             \
    X(READ, "a read from descriptor") /* data: the bytes, and what comes with them */              \
    X(WRITE, "a write to descriptor") /* to a socket */                                            \
    X(SEEK, "a seek in descriptor")                                                                \
    X(OPEN, "an open of a new descriptor") /* data: a mr_input_descriptor */                       \
    X(ACCEPT, "an accept from descriptor") /* data: a mr_input_descriptor, the address */          \
    X(BIND, "a bind of descriptor")        /* data: the address that it got */                     \
    X(CONNECT, "a connect of descriptor")                                                          \
    X(WAIT, "a wait for descriptors")                                                              \
    X(CLOCK, "a look at clock")                                                                    \
    X(NUMBER, "a question for number")                                                             \
    X(CALL, "a call of function")                                                                  \
    X(SIGNAL, "a signal") /* from outside, and handled; result: virtual time; data: a siginfo_t */ \
    X(FLAGS, "a question for the flags of descriptor")

typedef enum mr_input_kind {
#define MR_INPUT_KIND_NAME(name, text) MR_INPUT_##name,
    MR_INPUT_KIND_MAP(MR_INPUT_KIND_NAME)
#undef MR_INPUT_KIND_NAME
        MR_INPUT_KIND_COUNT
} mr_input_kind;

enum { MR_INPUT_INSIDE = 1 }; /* flag: it comes from the program itself, and is done again */

typedef struct mr_input_head {
    uint32_t role; /* the thread's number */
    uint8_t kind, flags;
    uint16_t padding;
    int32_t error;  /* errno */
    uint32_t bytes; /* of data */
    int64_t result;
    uint64_t argument; /* a descriptor, a clock, …: the same in the run that gets it again */
} mr_input_head;

typedef struct mr_input_descriptor {
    uint32_t mode; /* as of fstat */
    uint32_t unused;
} mr_input_descriptor;

static inline uint64_t mr_input_size(const mr_input_head *head)
{
    return sizeof *head + ((uint64_t)head->bytes + 7) / 8 * 8;
}

#endif
