/*
 * assembly: does code have atomic accesses of its own that are not recorded? A compiler makes calls of them in instrumented
 * code, and those of inline assembly, and others of the compiler's own, have calls around (assembler/rewrite.h). What is left is assembly that was not
 * understood, and objects that were built otherwise.
 *
 * Looks for a lock prefix before a compare and exchange, exchange and add, or test and set of a bit,
 * and for the locked addition or "or" of zero on the top of the stack that stands for a fence. Other
 * locked instructions, and exchanges, are not told from parts of plain ones without reading each
 * instruction, so they are passed over.
 */
#ifndef MR_RUNTIME_ASSEMBLY_H
#define MR_RUNTIME_ASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool mr_has_assembly(const uint8_t *code, size_t bytes);

#endif
