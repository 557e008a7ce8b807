/* elf: one mapped file: its ELF symbols, and its debug information when there is some. */
#ifndef MR_SYMBOLS_ELF_H
#define MR_SYMBOLS_ELF_H

#include "debug.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mr_elf_symbol {
    uint64_t address, size_bytes; /* as in the file */
    const char *name;             /* in the mapped file */
    bool is_code;
} mr_elf_symbol;

typedef struct mr_elf {
    int file; /* -1: not open */
    Elf *elf;
    mr_debug debug;
    Dwarf_CFI *calls;       /* where frames lie; NULL: not known */
    mr_elf_symbol *symbols; /* by address */
    size_t symbol_count;
} mr_elf;

/* Opens the file. A part that is missing stays empty; a file with another build-id than `id` counts
 * as missing. False: no memory. The caller calls mr_elf_close in either case. */
bool mr_elf_open(mr_elf *elf, const char *path, const uint8_t *id, size_t id_bytes);
void mr_elf_close(mr_elf *elf);

/* Is the file for AArch64? Otherwise it is for x86-64. */
bool mr_elf_is_aarch64(const mr_elf *elf);

/* The symbol of this kind that the address lies in, or NULL. */
const mr_elf_symbol *mr_elf_find(const mr_elf *elf, uint64_t address, bool is_code);

/* The bytes of code at the address of the file, which stay there; NULL: they are not all there. */
const uint8_t *mr_elf_code(const mr_elf *elf, uint64_t address, size_t bytes);

#endif
