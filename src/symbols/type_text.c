#include "type_text.h"

#include "die.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_BYTES = 8, DEPTH_MAX = 8 };

/* The size when it is one of those that a type of a trace can have, else 0. */
static unsigned size_of(Dwarf_Die *type)
{
    Dwarf_Word size;
    bool known = dwarf_aggregate_size(type, &size) == 0 && size <= MOST_BYTES;
    return known && size && !(size & (size - 1)) ? (unsigned)size : 0;
}

/* Goes to the member or base class that fills the structure. */
static bool to_only_member(Dwarf_Die *type)
{
    Dwarf_Die member, part;
    if (dwarf_child(type, &member) != 0)
        return false;
    do {
        int tag = dwarf_tag(&member);
        uint64_t offset;
        if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) && mr_die_type(&member, &part) &&
            !dwarf_hasattr(&member, DW_AT_external) && !dwarf_hasattr(&member, DW_AT_bit_size) &&
            (!mr_die_number(&member, DW_AT_data_member_location, &offset) || offset == 0) &&
            size_of(&part) == size_of(type)) {
            *type = part;
            return true;
        }
    } while (dwarf_siblingof(&member, &member) == 0);
    return false;
}

static void put_base(Dwarf_Die *type, unsigned bytes, char *text)
{
    uint64_t encoding;
    const char *name = dwarf_diename(type);
    if (!mr_die_number(type, DW_AT_encoding, &encoding))
        return;
    switch (encoding) {
    case DW_ATE_boolean:
        if (bytes == 1)
            snprintf(text, MR_TYPE_TEXT_BYTES, "bool");
        break;
    case DW_ATE_float:
        if (bytes == sizeof(float) || bytes == sizeof(double))
            snprintf(text, MR_TYPE_TEXT_BYTES, bytes == sizeof(float) ? "float" : "double");
        break;
    case DW_ATE_signed_char:
    case DW_ATE_unsigned_char:
    case DW_ATE_signed:
    case DW_ATE_unsigned:
    case DW_ATE_UTF:
        if (bytes == 1 && name && strcmp(name, "char") == 0)
            snprintf(text, MR_TYPE_TEXT_BYTES, "char");
        else
            snprintf(text, MR_TYPE_TEXT_BYTES, "%sint%u",
                     encoding == DW_ATE_signed || encoding == DW_ATE_signed_char ? "" : "u",
                     8 * bytes);
        break;
    default:
        break;
    }
}

static void put_enum(Dwarf_Die *type, unsigned bytes, char *text)
{
    Dwarf_Die item;
    int used = snprintf(text, MR_TYPE_TEXT_BYTES, "enum%u", 8 * bytes);
    if (dwarf_child(type, &item) != 0)
        return;
    do {
        const char *name = dwarf_diename(&item);
        uint64_t number;
        if (dwarf_tag(&item) != DW_TAG_enumerator || !name ||
            !mr_die_number(&item, DW_AT_const_value, &number))
            continue;
        int length = snprintf(text + used, MR_TYPE_TEXT_BYTES - (size_t)used, " %s=%" PRId64, name,
                              (int64_t)number);
        if (used + length >= MR_TYPE_TEXT_BYTES) {
            text[used] = '\0';
            return;
        }
        used += length;
    } while (dwarf_siblingof(&item, &item) == 0);
}

void mr_type_text(const Dwarf_Die *type, char text[MR_TYPE_TEXT_BYTES])
{
    Dwarf_Die at;
    text[0] = '\0';
    if (!mr_die_plain(type, &at))
        return;
    for (int i = 0; i < DEPTH_MAX; i++) {
        unsigned bytes = size_of(&at);
        int tag = dwarf_tag(&at);
        if (!bytes)
            return;
        if ((tag == DW_TAG_structure_type || tag == DW_TAG_class_type) && to_only_member(&at))
            continue;
        if (tag == DW_TAG_base_type)
            put_base(&at, bytes, text);
        else if (tag == DW_TAG_enumeration_type)
            put_enum(&at, bytes, text);
        else if (bytes == MOST_BYTES &&
                 (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
                  tag == DW_TAG_rvalue_reference_type))
            snprintf(text, MR_TYPE_TEXT_BYTES, "pointer");
        return;
    }
}
