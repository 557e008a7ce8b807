/*
 * local: the variables of one function on its stack, from the debug information of one file.
 *
 * Where the frame is, is known at one address of the function, `code`, by the stack pointer and
 * maybe the frame pointer there. The call frame information tells from them the frame's end (the
 * "canonical frame address", CFA, of DWARF 5, 6.4), and the entries of the variables where they lie
 * to it. What is said by anything else (other registers, what memory holds) is not known here.
 */
#ifndef MR_SYMBOLS_LOCAL_H
#define MR_SYMBOLS_LOCAL_H

#include "code.h"

/* The end of the frame: the address behind its last byte. Code addresses are those of the file.
 * False: not known. */
bool mr_local_frame_end(const mr_elf *elf, const mr_frame_place *frame, uint64_t *end);

/* Names `size_bytes` at an address in the frame, while the function is before `at` (0: somewhere),
 * see mr_symbols_local. False: no variable, or it is not certain which. */
bool mr_local_name(const mr_code_table *table, const mr_elf *elf, const mr_frame_place *frame,
                   uint64_t at, uint64_t address, uint64_t size_bytes, char *name,
                   size_t name_bytes);

#endif
