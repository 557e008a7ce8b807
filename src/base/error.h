/*
 * error: one error as an object: what kind, where, and one clear line.
 *
 * A function that can fail returns mr_status and takes an mr_error to fill. The text follows one
 * grammar: what is wrong, then what to do about it; mr_error_line() puts "file:line: " before it.
 */
#ifndef MR_BASE_ERROR_H
#define MR_BASE_ERROR_H

#include <stddef.h>
#include <stdint.h>

/* X(name, exit status of the command line). The only list of statuses. */
#define MR_STATUS_MAP(X)                                                                           \
    X(OK, 0)                                                                                       \
    X(ERR_USAGE, 2)                                                                                \
    X(ERR_CONFIG, 2)                                                                               \
    X(ERR_TRACE, 3)                                                                                \
    X(ERR_UNSUPPORTED, 3)                                                                          \
    X(ERR_IO, 4)                                                                                   \
    X(ERR_MEMORY, 4)                                                                               \
    X(ERR_INTERNAL, 4)                                                                             \
    X(ERR_HALTED, 5)

typedef enum mr_status {
#define MR_STATUS_ENUM(name, exit_status) MR_##name,
    MR_STATUS_MAP(MR_STATUS_ENUM)
#undef MR_STATUS_ENUM
} mr_status;

typedef struct mr_error {
    mr_status status;
    uint64_t line;  /* 1-based line of `file`; 0: the error has no line */
    char file[256]; /* empty: the error has no place */
    char text[768];
} mr_error;

/*
 * Fills `error` (ignored when NULL) and returns `status`, so that a caller can write
 * `return mr_error_set(...)`. `file` may be NULL, `line` may be 0. Over-long texts are cut.
 */
mr_status mr_error_set(mr_error *error, mr_status status, const char *file, uint64_t line,
                       const char *format, ...) __attribute__((format(printf, 5, 6)));

/* MR_ERR_MEMORY with the text "out of memory while <what>". */
mr_status mr_error_memory(mr_error *error, const char *what);

/* Writes "file:line: text" (or less, where a part is missing) to `buffer`; always terminated. */
void mr_error_line(const mr_error *error, char *buffer, size_t size_bytes);

/* Exit status of the command line for a status. */
int mr_status_exit(mr_status status);

#endif
