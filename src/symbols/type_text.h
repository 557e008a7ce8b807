/* type_text: the type of a value, as traces write it (docs/trace-format.md, Types of variables). */
#ifndef MR_SYMBOLS_TYPE_TEXT_H
#define MR_SYMBOLS_TYPE_TEXT_H

#include <elfutils/libdw.h>
#include <stddef.h>

enum { MR_TYPE_TEXT_BYTES = 4096 };

/*
 * Writes the type behind typedefs and qualifiers: "int32", "bool", "enum32 RED=0 GREEN=1". "": the
 * type is none of those that traces know. Of a structure whose first member fills it, such as
 * std::atomic<int>, the type is that of the member. Enumerators for which the text has no room are
 * left out.
 */
void mr_type_text(const Dwarf_Die *type, char text[MR_TYPE_TEXT_BYTES]);

#endif
