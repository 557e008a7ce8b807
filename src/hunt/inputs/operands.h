/*
 * operands: what one run of a program compared, as the runtime wrote it (runtime/operands_format.h).
 *
 *   mr_operands_read → use → mr_operands_free
 */
#ifndef MR_HUNT_OPERANDS_H
#define MR_HUNT_OPERANDS_H

#include "base/error.h"
#include "runtime/operands_format.h"

#include <stdbool.h>
#include <stddef.h>

/* A comparison. Numbers are unsigned, of `bytes` bytes; of texts the first MR_OPERANDS_TEXT_BYTES
 * bytes are kept. */
typedef struct mr_compared {
    uint64_t place; /* the same in every run */
    uint32_t thread;
    uint8_t kind;        /* mr_operand_kind_of */
    uint8_t bytes;       /* of a number; of text a */
    uint8_t other;       /* of text b */
    uint64_t numbers[2]; /* a, b */
    uint8_t texts[2][MR_OPERANDS_TEXT_BYTES];
} mr_compared;

typedef struct mr_operands {
    mr_compared *items; /* in the order in which they happened */
    size_t count;
    bool is_cut; /* there were more than are here */
} mr_operands;

/* Reads the first `most` comparisons. A file that is not there has none: the program did not run as far,
 * or was not recorded. MR_ERR_IO: it cannot be read, or is not such a file; MR_ERR_MEMORY. */
mr_status mr_operands_read(const char *path, size_t most, mr_operands *operands, mr_error *error);
void mr_operands_free(mr_operands *operands);

#endif
