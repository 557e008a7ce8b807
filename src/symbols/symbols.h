/*
 * symbols: names for the addresses of a recorded program: functions and lines of code, static
 * variables, and variables on stacks. The names come from the debug information (libdw) of the
 * mapped files, or from their symbol tables.
 *
 *   mr_symbols_new → (mr_symbols_map | mr_symbols_unmap | mr_symbols_code | mr_symbols_data |
 *     mr_symbols_uses_value | mr_symbols_frame_end | mr_symbols_local)* → mr_symbols_free
 *
 * A file that is missing, has changed (another build-id) or has no debug information is no error:
 * its addresses are "module+offset". A file is opened when the first address in it is asked for.
 * Answers about code addresses are kept, so asking again takes O(1). The symbols own all texts.
 *
 * Names of files are as the compiler was given them. They are relative to the folder that the
 * compiler ran in when the file is below it.
 */
#ifndef MR_SYMBOLS_SYMBOLS_H
#define MR_SYMBOLS_SYMBOLS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mr_symbols mr_symbols;

/* One function at a code address. Its place is that of the address, or, in a frame after the first,
 * that of the inlined call. */
typedef struct mr_code_frame {
    const char *function; /* qualified; "" when unknown */
    const char *place;    /* "bank.c:21:5", or "bank+0x1189" */
    bool inlined;         /* into the next frame */
    bool is_own; /* the program's own code: it has a line, in a file that is not below /usr */
} mr_code_frame;

/* The functions at a code address: the innermost inlined one first, at least one frame. */
typedef struct mr_code {
    uint32_t frame_count;
    bool has_lines;          /* the module has debug information for it */
    const char *module_name; /* "bank", "libc.so.6"; "" when nothing is mapped there */
    mr_code_frame frames[];
} mr_code;

/* Where the frame of a function lies on a stack. */
typedef struct mr_frame_place {
    uint64_t code;  /* a return address in the function, behind its first call */
    uint64_t stack; /* the stack pointer at `code` */
    uint64_t frame; /* the frame pointer at `code`; 0: not known */
} mr_frame_place;

/* Answers are kept in the folder from one run to the next (answers.h); NULL: they are not. NULL: no
 * memory. */
mr_symbols *mr_symbols_new(const char *folder);
void mr_symbols_free(mr_symbols *symbols); /* NULL is fine */

/* Notes that the file `path` is mapped at [start, end), `bias` bytes above its own addresses. An id
 * of 0 bytes is not compared. False: no memory. */
bool mr_symbols_map(mr_symbols *symbols, const char *path, uint64_t bias, uint64_t start,
                    uint64_t end, const uint8_t *id, size_t id_bytes);
void mr_symbols_unmap(mr_symbols *symbols, uint64_t bias);

/* The functions at a code address. NULL: no memory. */
const mr_code *mr_symbols_code(mr_symbols *symbols, uint64_t address);

/*
 * Writes the name of the `size_bytes` of static memory at an address into `name`, always
 * terminated: "table[3].len", "f.count" for a static variable of function f, or "bank+0x4040". When
 * the bytes are more than the part of the variable that begins there, they have the name of this
 * part. False: the address is in no module.
 *
 * Gives the type of the bytes (type_text.h), too, unless `type` is NULL. It is NULL when the bytes are not
 * exactly a variable or a part of one, lie in a union or a bit field, or the type is not known.
 */
bool mr_symbols_data(mr_symbols *symbols, uint64_t address, uint64_t size_bytes, char *name,
                     size_t name_bytes, const char **type);

/* Does the call that returns to `to` get as its first argument what was read by the call that returned to
 * `from`, as far as the code between them is known (flow.h)? `is_returned`: that call returned the value. */
bool mr_symbols_uses_value(mr_symbols *symbols, uint64_t from, uint64_t to, bool is_returned);

/* Computes the end of the frame, the address behind its last byte. False: not known. */
bool mr_symbols_frame_end(mr_symbols *symbols, const mr_frame_place *frame, uint64_t *end);

/*
 * Writes the name of the `size_bytes` at an address in the frame of an open call: "main.table[3]".
 * The name begins with the function of the variable, which is the function of the call or one
 * inlined into it. `at` is the return address that the function has reached; 0: not known. False:
 * no variable contains all the bytes, or several share the address and it is not certain which one
 * it is. Gives the type as mr_symbols_data does.
 */
bool mr_symbols_local(mr_symbols *symbols, const mr_frame_place *frame, uint64_t at,
                      uint64_t address, uint64_t size_bytes, char *name, size_t name_bytes,
                      const char **type);

#endif
