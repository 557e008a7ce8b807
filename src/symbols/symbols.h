/*
 * symbols: what an address of a recorded program was called: functions and lines of code, names of
 * data, static and on stacks. From the debug information (libdw) of the files that were mapped,
 * else from their symbol tables.
 *
 *   mr_symbols_new → (mr_symbols_map | mr_symbols_unmap | mr_symbols_code | mr_symbols_data |
 *     mr_symbols_frame_end | mr_symbols_local)* → mr_symbols_free
 *
 * A file that is missing, changed since (another build-id) or without debug information is no
 * error: its addresses are "module+offset". Files are opened when the first address in them is
 * asked for. Code addresses are kept and asked for again in O(1). Texts are owned by the symbols.
 *
 * Names of files are as the compiler was given them: relative to the folder that it ran in when
 * they are below it.
 */
#ifndef MR_SYMBOLS_SYMBOLS_H
#define MR_SYMBOLS_SYMBOLS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mr_symbols mr_symbols;

/* One function at a code address; the place in it is that of the address, or of the call of the
 * frame before it. */
typedef struct mr_code_frame {
    const char *function; /* qualified; "" when unknown */
    const char *place;    /* "bank.c:21:5", or "bank+0x1189" */
    bool inlined;         /* into the next frame */
    bool is_own;          /* has lines, and not of a file below /usr */
} mr_code_frame;

/* What stands at a code address: the innermost inlined function first; at least one frame. */
typedef struct mr_code {
    uint32_t frame_count;
    bool has_lines;          /* the module has debug information for it */
    const char *module_name; /* "bank", "libc.so.6"; "" when nothing is mapped there */
    mr_code_frame frames[];
} mr_code;

/* Where the frame of a function lies on a stack. */
typedef struct mr_frame_place {
    uint64_t code;  /* an address in the function, behind a call that it makes first */
    uint64_t stack; /* the stack pointer there, */
    uint64_t frame; /* and the frame pointer; 0: it is not known to have one */
} mr_frame_place;

/* NULL: no memory. */
mr_symbols *mr_symbols_new(void);
void mr_symbols_free(mr_symbols *symbols); /* NULL is fine */

/* The file `path` is mapped at [start, end), `bias` bytes above the addresses in it. An id of 0
 * bytes is not compared. False: no memory. */
bool mr_symbols_map(mr_symbols *symbols, const char *path, uint64_t bias, uint64_t start,
                    uint64_t end, const uint8_t *id, size_t id_bytes);
void mr_symbols_unmap(mr_symbols *symbols, uint64_t bias);

/* NULL: no memory. */
const mr_code *mr_symbols_code(mr_symbols *symbols, uint64_t address);

/*
 * The name of the `size_bytes` of static memory at an address, "table[3].len", "f.count" for a
 * static variable of function f, or "bank+0x4040": into `name`, always terminated. What is larger
 * than the part of the variable that begins there is named like that part. False: the address is in
 * no module.
 */
bool mr_symbols_data(mr_symbols *symbols, uint64_t address, uint64_t size_bytes, char *name,
                     size_t name_bytes);

/* The end of the frame, the address behind its last byte. False: not known. */
bool mr_symbols_frame_end(mr_symbols *symbols, const mr_frame_place *frame, uint64_t *end);

/*
 * The name of the `size_bytes` at an address in the frame of a function that runs: "main.table[3]",
 * its variable of the function's own, or of one inlined into it, which it is then called by. `at`
 * is a return address in the function, where it is just then; 0: not known. False: there is no
 * variable around all of it, or it is not certain which: several share the place.
 */
bool mr_symbols_local(mr_symbols *symbols, const mr_frame_place *frame, uint64_t at,
                      uint64_t address, uint64_t size_bytes, char *name, size_t name_bytes);

#endif
