/* type: finds the part of a variable that lies at an offset in it. */
#ifndef MR_SYMBOLS_TYPE_H
#define MR_SYMBOLS_TYPE_H

#include "debug.h"

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Adds to `name` the path to the part of the `type` at `offset_bytes`: "[3].len", or "[3].len+2"
 * when the offset is inside of len. The part is the largest one that begins there and has at most
 * `size_bytes` bytes, or one that has no parts itself. Of a union the first member is taken, unless
 * it is too short.
 *
 * Returns the number of the entry of the type of the part when the bytes are exactly the part, else 0. It is 0, too,
 * in a union, where another member may be meant, and in a bit field.
 */
uint64_t mr_type_part(const mr_debug *debug, Dwarf_Die *type, uint64_t offset_bytes,
                      uint64_t size_bytes, char *name, size_t name_bytes);

#endif
