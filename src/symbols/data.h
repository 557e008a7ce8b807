/* data: the static variables of one file, from its debug information. */
#ifndef MR_SYMBOLS_DATA_H
#define MR_SYMBOLS_DATA_H

#include "elf.h"

typedef struct mr_data_variable {
    uint64_t address, size_bytes;
    uint64_t entry; /* number of its entry, the definition */
} mr_data_variable;

typedef struct mr_data_table {
    mr_data_variable *variables; /* owned; by address */
    size_t count, capacity;
} mr_data_table;

/* Lists the variables in one pass over the debug information of the file. False: no memory. The
 * caller calls mr_data_table_free in either case. */
bool mr_data_table_init(mr_data_table *table, const mr_elf *elf);
void mr_data_table_free(mr_data_table *table);

/* Writes the name of the `size_bytes` at an address of the file (mr_symbols_data), and gives the entry
 * of their type (mr_type_part), or 0. False: no variable is there. */
bool mr_data_name(const mr_data_table *table, const mr_elf *elf, uint64_t address,
                  uint64_t size_bytes, char *name, size_t name_bytes, uint64_t *type_entry);

#endif
