/* code: functions and lines of code addresses, from the debug information of one file. */
#ifndef MR_SYMBOLS_CODE_H
#define MR_SYMBOLS_CODE_H

#include "base/arena.h"
#include "base/keys.h"
#include "elf.h"
#include "functions.h"
#include "symbols.h"

/* The addresses of a compilation unit. They are collected here and sorted, because some compilers
 * do not write .debug_aranges. */
typedef struct mr_unit_range {
    uint64_t start, end;
    uint64_t unit; /* number of its entry */
} mr_unit_range;

typedef struct mr_code_table {
    mr_unit_range *ranges; /* owned */
    size_t range_count, capacity;
    mr_keys units;           /* that were asked about: numbers of their entries */
    mr_functions *functions; /* owned; of these, by number - 1 */
    size_t function_capacity;
    mr_keys named;      /* functions: where their entries are in memory */
    const char **names; /* owned; theirs, by number - 1, in the arena of mr_code_frames */
    size_t name_capacity;
} mr_code_table;

/* Lists the units. False: no memory. The caller calls mr_code_table_free in either case. */
bool mr_code_table_init(mr_code_table *table, const mr_elf *elf);
void mr_code_table_free(mr_code_table *table);

/* Finds the unit that the address lies in. False: there is none. */
bool mr_code_unit(const mr_code_table *table, const mr_elf *elf, uint64_t address, Dwarf_Die *unit);

/* Finds the function whose code, with the functions inlined into it, contains the address. False:
 * there is none. */
bool mr_code_function(mr_code_table *table, const mr_elf *elf, uint64_t address,
                      Dwarf_Die *function);

enum { MR_CODE_FRAMES = 64 };

/* Fills the frames at an address of the file, at most MR_CODE_FRAMES, with texts in the arena, which is the same each time.
 * Returns their number; 0: the debug information has none; -1: no memory. */
int mr_code_frames(mr_code_table *table, const mr_elf *elf, uint64_t address, mr_arena *texts,
                   mr_code_frame *frames);

#endif
