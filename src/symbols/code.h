/* code: functions and lines of code addresses, from the debug information of one file. */
#ifndef MR_SYMBOLS_CODE_H
#define MR_SYMBOLS_CODE_H

#include "base/arena.h"
#include "elf.h"
#include "symbols.h"

/* The addresses of the compilation units, sorted: not every compiler writes .debug_aranges. */
typedef struct mr_unit_range {
    uint64_t start, end;
    Dwarf_Off unit; /* offset of its entry */
} mr_unit_range;

typedef struct mr_code_table {
    mr_unit_range *ranges; /* owned */
    size_t range_count, capacity;
} mr_code_table;

/* Lists the units. False: no memory; free in either case. */
bool mr_code_table_init(mr_code_table *table, const mr_elf *elf);
void mr_code_table_free(mr_code_table *table);

/* The unit that the address lies in, or false. */
bool mr_code_unit(const mr_code_table *table, const mr_elf *elf, uint64_t address, Dwarf_Die *unit);

/* The function whose code, with what is inlined into it, the address is, or false. */
bool mr_code_function(const mr_code_table *table, const mr_elf *elf, uint64_t address,
                      Dwarf_Die *function);

enum { MR_CODE_FRAMES = 64 };

/* The frames at an address of the file, texts in the arena, at most MR_CODE_FRAMES; 0 when the
 * debug information does not say. -1: no memory. */
int mr_code_frames(const mr_code_table *table, const mr_elf *elf, uint64_t address, mr_arena *texts,
                   mr_code_frame *frames);

#endif
