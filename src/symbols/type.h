/* type: which part of a variable lies at an offset of it. */
#ifndef MR_SYMBOLS_TYPE_H
#define MR_SYMBOLS_TYPE_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Puts the way to the part of the `type` that begins at or around `offset_bytes` behind what stands
 * in `name`: "[3].len", "[3].len+2" for what begins inside of len. Goes down to the largest part
 * that begins there and is not larger than `size_bytes`, or to a part without parts. Of the members
 * of a union the first is taken, unless it is too short.
 */
void mr_type_part(Dwarf_Die *type, uint64_t offset_bytes, uint64_t size_bytes, char *name,
                  size_t name_bytes);

#endif
