/* die: reads single properties of an entry of the debug information (a DIE of DWARF). */
#ifndef MR_SYMBOLS_DIE_H
#define MR_SYMBOLS_DIE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The entry that this one is an instance or a definition of. It has the name and the place. */
Dwarf_Die mr_die_origin(const Dwarf_Die *die);

/* Writes the name of the entry with the namespaces and classes around it, "bank::Account::deposit";
 * with `functions` also with the functions around it, "f.count". "": the entry has no name. */
void mr_die_name(Dwarf_Die *die, bool functions, char *name, size_t name_bytes);

/* The path as the compiler was given it: without the folder of the unit (NULL: not known). */
const char *mr_die_file(const char *folder, const char *path);

/* The type behind typedefs and qualifiers; false: void. */
bool mr_die_type(Dwarf_Die *die, Dwarf_Die *type);

/* Follows typedefs and qualifiers of a type. */
bool mr_die_plain(const Dwarf_Die *type, Dwarf_Die *plain);

/* Reads a number of the entry, or of the entry that it is an instance of. False: there is none. */
bool mr_die_number(Dwarf_Die *die, unsigned attribute, uint64_t *number);

#endif
