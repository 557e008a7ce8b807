/*
 * operands_format: the file of what a recorded program compared. A search for inputs asks for it
 * (docs/hunt-inputs.md): operands that are bytes of the input say which input would go another way.
 *
 * A header, then records of MR_OPERANDS_RECORD_BYTES in the order in which they happened. A record of
 * kind TEXT is followed by two records' room of plain bytes, its two operands. The file has room for
 * MR_OPERANDS_MAX records, of one place for MR_OPERANDS_PER_PLACE: what comes later is counted only.
 */
#ifndef MR_RUNTIME_OPERANDS_FORMAT_H
#define MR_RUNTIME_OPERANDS_FORMAT_H

#include <stdint.h>

#define MR_OPERANDS_MAGIC   "maxropd\n" /* 8 bytes, no NUL */
#define MR_OPERANDS_VERSION 1u

/* Environment variable: path of the file, which must not be there yet. */
#define MR_OPERANDS_ENV "MAXRACE_OPERANDS"

enum {
    MR_OPERANDS_RECORD_BYTES = 32,
    MR_OPERANDS_TEXT_BYTES = 32, /* kept of an operand */
    MR_OPERANDS_MAX = 1 << 16,
    MR_OPERANDS_PER_PLACE = 512,
};

typedef struct mr_operands_header {
    char magic[8];
    uint32_t version;
    uint32_t count;   /* rooms of records in use; more than MR_OPERANDS_MAX: the rest was dropped */
    uint32_t dropped; /* records beyond those of their place */
    uint32_t unused[3];
} mr_operands_header;

typedef enum mr_operand_kind_of {
    MR_OPERAND_COMPARED, /* two numbers */
    MR_OPERAND_CONSTANT, /* a number with the constant b */
    MR_OPERAND_CASE,     /* a number with b, one of the cases of a switch */
    MR_OPERAND_TEXT,     /* bytes: memcmp, strcmp and their like */
} mr_operand_kind_of;

typedef struct mr_operand {
    uint64_t place;  /* module << 48 | offset of the code in it: the same in every run */
    uint32_t thread; /* as in the log */
    uint8_t kind;
    uint8_t bytes; /* of a: 1, 2, 4 or 8; TEXT: those kept */
    uint8_t other; /* of b, likewise */
    uint8_t padding;
    uint64_t a,
        b; /* the numbers, as unsigned ones of that many bytes; TEXT: all the bytes of each */
} mr_operand;

_Static_assert(sizeof(mr_operand) == MR_OPERANDS_RECORD_BYTES, "a record has its size");
_Static_assert(sizeof(mr_operands_header) == MR_OPERANDS_RECORD_BYTES, "and so has the header");

enum { MR_OPERANDS_FILE_BYTES = (1 + MR_OPERANDS_MAX) * MR_OPERANDS_RECORD_BYTES };

#endif
