/*
 * descriptors: which file descriptors a program begins with.
 *
 * The kernel gives out the lowest free number, so one descriptor more or less at the start moves all
 * numbers that the program gets. A recording keeps what the program inherited, as lines of its run
 * ("fd NUMBER ACCESS OFFSET KIND NAME"), and whoever runs it again gives it the same numbers:
 *
 *   a file, a folder, /dev/null    is opened by its name, at the same offset
 *   anything else                  is what maxrace has under this number, when that is of its kind
 *   otherwise                      /dev/null or a socket without a peer stands for it
 *
 * The standard streams are not touched: every program has them, and spawn.h says what they are.
 * They are in the list for that one which is empty says that nothing is known.
 */
#ifndef MR_REPLAY_DESCRIPTORS_H
#define MR_REPLAY_DESCRIPTORS_H

#include "base/bytes.h"
#include "base/error.h"

/* X(enumerator, word) */
#define MR_DESCRIPTOR_KIND_MAP(X)                                                                  \
    X(FILE, "file")                                                                                \
    X(FOLDER, "folder")                                                                            \
    X(PIPE, "pipe")                                                                                \
    X(SOCKET, "socket")                                                                            \
    X(STREAM, "stream") /* standard input, output, error */                                        \
    X(DEVICE, "device")                                                                            \
    X(OTHER, "other")

typedef enum mr_descriptor_kind {
#define MR_DESCRIPTOR_KIND_ENUM(name, word) MR_DESCRIPTOR_##name,
    MR_DESCRIPTOR_KIND_MAP(MR_DESCRIPTOR_KIND_ENUM)
#undef MR_DESCRIPTOR_KIND_ENUM
} mr_descriptor_kind;

typedef struct mr_descriptor {
    int number;
    int flags; /* O_RDONLY, O_WRONLY or O_RDWR, and O_APPEND */
    int64_t offset;
    mr_descriptor_kind kind;
    char *
        name; /* owned; its path, or "-": the recordings of a program are equal, whatever pipes it inherits */
} mr_descriptor;

/* By number. Zero-initialise; free with mr_descriptors_free. None: it is not known which they were, for every program
 * has the standard streams. */
typedef struct mr_descriptors {
    mr_descriptor *items;
    size_t count, capacity;
} mr_descriptors;

/* Those of this process that a program inherits from it; none where there is no /proc. MR_ERR_MEMORY. */
mr_status mr_descriptors_of_process(mr_descriptors *to, mr_error *error);
void mr_descriptors_free(mr_descriptors *descriptors);

enum { MR_DESCRIPTOR_LINE_BYTES = 4096 + 100 };

/* The value of the line "fd …" of one, without escapes. */
void mr_descriptor_value(const mr_descriptor *descriptor, char value[MR_DESCRIPTOR_LINE_BYTES]);
/* Writes a line for each. */
void mr_descriptors_write(mr_bytes *lines, const mr_descriptors *descriptors);
/* Takes the value of such a line; one that makes no sense is passed over. False: no memory. */
bool mr_descriptors_take(mr_descriptors *to, const char *value);

/* The word of a kind. */
const char *mr_descriptor_kind_word(mr_descriptor_kind kind);
/* Is it opened by its name when the program runs again? */
bool mr_descriptor_has_path(const mr_descriptor *descriptor);

/* Which ones something else will stand for, as a text: "5 (pipe), 7 (file /tmp/a)". False: none. */
bool mr_descriptors_missing(const mr_descriptors *wanted, char *text, size_t room);

/* In the child of a fork, before exec: exactly these numbers are inherited. `again`: they are those of an earlier run, else those
 * that this process began with. `*kept` is a descriptor of the caller that is closed by exec; it may get another number. */
void mr_descriptors_provide(const mr_descriptors *wanted, bool again, int *kept);

#endif
