/* die: small questions to entries of the debug information. */
#ifndef MR_SYMBOLS_DIE_H
#define MR_SYMBOLS_DIE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "bank::Account::deposit": the entry's name after those of the namespaces and classes, and with
 * `functions` the functions ("f.count"), that it is declared in. "" when it has none. */
void mr_die_name(Dwarf_Die *die, bool functions, char *name, size_t name_bytes);

/* The file as the compiler was given it: without the folder of the unit before it. */
const char *mr_die_file(Dwarf_Die *unit, const char *path);

/* The type behind typedefs and qualifiers; false: void. */
bool mr_die_type(Dwarf_Die *die, Dwarf_Die *type);

/* Follows typedefs and qualifiers of a type. */
bool mr_die_plain(const Dwarf_Die *type, Dwarf_Die *plain);

/* A number of the entry, or of what it was made from; false: there is none. */
bool mr_die_number(Dwarf_Die *die, unsigned attribute, uint64_t *number);

#endif
