/* format: which arguments a format of printf or scanf has, of which type, and which of them are
 * pointers to memory that is read or written. */
#ifndef MR_RUNTIME_LIBC_FORMAT_H
#define MR_RUNTIME_LIBC_FORMAT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MR_FORMAT_MAX = 64 }; /* arguments and uses; what comes after is not looked at */

typedef enum mr_format_type {
    MR_FORMAT_UNUSED, /* a number between two that are used: taken as an int */
    MR_FORMAT_INT,
    MR_FORMAT_LONG, /* 8 bytes */
    MR_FORMAT_DOUBLE,
    MR_FORMAT_LONG_DOUBLE,
    MR_FORMAT_POINTER,
} mr_format_type;

typedef enum mr_format_memory {
    MR_FORMAT_TEXT,       /* of char, up to a NUL or `limit` */
    MR_FORMAT_WIDE,       /* of wchar_t */
    MR_FORMAT_COUNT,      /* %n */
    MR_FORMAT_BYTES,      /* scanf: exactly `bytes` */
    MR_FORMAT_BLOCK,      /* scanf: a pointer to a new text */
    MR_FORMAT_WIDE_BLOCK, /* … of wchar_t */
} mr_format_memory;

/* A pointer, and what is read or written there. */
typedef struct mr_format_use {
    uint8_t argument, memory;
    bool has_limit;
    bool assured;    /* scanf, %n: reached when all conversions before it succeed */
    int limit_from;  /* argument with the limit, -1: `limit` */
    size_t limit;    /* characters */
    size_t bytes;    /* of one element */
    unsigned before; /* scanf: assigned conversions before it */
} mr_format_use;

typedef struct mr_format {
    unsigned arguments, uses;
    uint8_t types[MR_FORMAT_MAX];
    mr_format_use use[MR_FORMAT_MAX];
    union {
        int64_t number;
        void *pointer;
    } value[MR_FORMAT_MAX];
} mr_format;

/* A format of char, or of wchar_t. */
typedef struct mr_format_text {
    const void *text;
    bool wide;
} mr_format_text;

/* What a format of printf says of its arguments. Stops at a conversion that it does not know. */
void mr_format_of_print(mr_format *format, mr_format_text text);
/* … of scanf. `c99`: %a is a floating-point number, not a flag. */
void mr_format_of_scan(mr_format *format, mr_format_text text, bool c99);

/* Takes the values of all arguments. */
void mr_format_take(mr_format *format, va_list arguments);

#endif
