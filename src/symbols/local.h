/*
 * local: the variables of one function on its stack, from the debug information of one file.
 *
 * The caller knows the stack pointer, and maybe the frame pointer, at one address of the function,
 * `code`. From them the call frame information gives the end of the frame (the "canonical frame
 * address", CFA, of DWARF 5, 6.4), and the entries of the variables give their offsets to this end.
 * A location that depends on something else (other registers, contents of memory) is not known
 * here.
 */
#ifndef MR_SYMBOLS_LOCAL_H
#define MR_SYMBOLS_LOCAL_H

#include "code.h"

/* Computes the end of the frame, the address behind its last byte. Code addresses are those of the
 * file. False: not known. */
bool mr_local_frame_end(const mr_elf *elf, const mr_frame_place *frame, uint64_t *end);

/* Writes the name of the `size_bytes` at an address in the frame, while the function is at the
 * return address `at` (0: not known), as mr_symbols_local does, and gives the entry of their type
 * (mr_type_part), or 0. False: there is no variable, or it is not certain which one it is. */
bool mr_local_name(mr_code_table *table, const mr_elf *elf, const mr_frame_place *frame,
                   uint64_t at, uint64_t address, uint64_t size_bytes, char *name,
                   size_t name_bytes, uint64_t *type);

#endif
