#include "data.h"

#include "base/memory.h"
#include "die.h"
#include "type.h"

#include <dwarf.h>
#include <stdlib.h>

/* The address of the variable. False: it has no fixed one. */
static bool address_of(Dwarf_Die *die, uint64_t *address)
{
    Dwarf_Attribute location, part;
    Dwarf_Op *ops;
    size_t count;
    if (!dwarf_attr(die, DW_AT_location, &location) ||
        dwarf_getlocation(&location, &ops, &count) != 0 || count != 1)
        return false;
    if (ops[0].atom == DW_OP_addr) {
        *address = ops[0].number;
        return true;
    }
    Dwarf_Addr found;
    if ((ops[0].atom != DW_OP_addrx && ops[0].atom != DW_OP_GNU_addr_index) ||
        dwarf_getlocation_attr(&location, &ops[0], &part) != 0 ||
        dwarf_formaddr(&part, &found) != 0)
        return false;
    *address = found;
    return true;
}

static bool add_variable(mr_data_table *table, const mr_debug *debug, Dwarf_Die *die)
{
    uint64_t address;
    Dwarf_Die type;
    Dwarf_Word size;
    if (!address_of(die, &address) || !mr_die_type(die, &type) ||
        dwarf_aggregate_size(&type, &size) != 0)
        return true;
    void *variables = table->variables;
    if (!mr_grow(&variables, &table->capacity, table->count + 1, sizeof *table->variables))
        return false;
    table->variables = variables;
    table->variables[table->count++] =
        (mr_data_variable){address, size, mr_debug_number(debug, die)};
    return true;
}

/* Can the entry contain variables? */
static bool holds_variables(Dwarf_Die *die)
{
    switch (dwarf_tag(die)) {
    case DW_TAG_namespace:
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
        return true;
    default:
        return false;
    }
}

/* All variables below the entry. */
static bool add_below(mr_data_table *table, const mr_debug *debug, Dwarf_Die *parent, int depth)
{
    enum { DEPTH_MAX = 200 };
    Dwarf_Die die;
    if (depth > DEPTH_MAX || dwarf_child(parent, &die) != 0)
        return true;
    do {
        if (dwarf_tag(&die) == DW_TAG_variable && !add_variable(table, debug, &die))
            return false;
        if (holds_variables(&die) && !add_below(table, debug, &die, depth + 1))
            return false;
    } while (dwarf_siblingof(&die, &die) == 0);
    return true;
}

static int compare_variables(const void *one, const void *two)
{
    const mr_data_variable *a = one, *b = two;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return (a->entry > b->entry) - (a->entry < b->entry);
}

bool mr_data_table_init(mr_data_table *table, const mr_elf *elf)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    *table = (mr_data_table){0};
    while (mr_debug_next_unit(&elf->debug, &unit, &die))
        if (!add_below(table, &elf->debug, &die, 0))
            return false;
    if (table->count)
        qsort(table->variables, table->count, sizeof *table->variables, compare_variables);
    return true;
}

void mr_data_table_free(mr_data_table *table)
{
    free(table->variables);
    *table = (mr_data_table){0};
}

bool mr_data_name(const mr_data_table *table, const mr_elf *elf, uint64_t address,
                  uint64_t size_bytes, char *name, size_t name_bytes, uint64_t *type_entry)
{
    size_t low = 0, high = table->count;
    *type_entry = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->variables[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    const mr_data_variable *found = &table->variables[low - 1];
    uint64_t offset = address - found->address;
    Dwarf_Die die, type;
    if (offset >= found->size_bytes || !mr_debug_entry(&elf->debug, found->entry, &die))
        return false;
    mr_die_name(&die, true, name, name_bytes);
    if (!name[0])
        return false;
    if (mr_die_type(&die, &type))
        *type_entry = mr_type_part(&elf->debug, &type, offset, size_bytes, name, name_bytes);
    return true;
}
