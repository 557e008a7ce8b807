#include "type.h"

#include "die.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PARTS_MAX = 32 };

typedef struct part {
    Dwarf_Die type;
    uint64_t offset_bytes;
    bool uncertain; /* in a union or a bit field */
} part;

static void add(char *name, size_t name_bytes, const char *separator, const char *text)
{
    size_t used = strlen(name);
    snprintf(name + used, name_bytes - used, "%s%s", separator, text);
}

static uint64_t size_of(Dwarf_Die *type)
{
    Dwarf_Word size;
    return dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

/* The offset of the member; of a bit field, the offset of its byte. */
static uint64_t offset_of(Dwarf_Die *member)
{
    uint64_t offset;
    if (mr_die_number(member, DW_AT_data_member_location, &offset))
        return offset;
    return mr_die_number(member, DW_AT_data_bit_offset, &offset) ? offset / 8 : 0;
}

/* Goes to the member or base class around the offset. */
static bool to_member(part *at, char *name, size_t name_bytes)
{
    Dwarf_Die member;
    if (dwarf_child(&at->type, &member) != 0)
        return false;
    do {
        int tag = dwarf_tag(&member);
        Dwarf_Die type;
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !mr_die_type(&member, &type) ||
            dwarf_hasattr(&member, DW_AT_external))
            continue;
        uint64_t first = offset_of(&member), size = size_of(&type);
        if (at->offset_bytes < first || at->offset_bytes - first >= size)
            continue;
        const char *text = tag == DW_TAG_member ? dwarf_diename(&member) : NULL;
        if (text)
            add(name, name_bytes, ".", text);
        bool is_bits = dwarf_hasattr(&member, DW_AT_bit_size);
        *at = (part){type, at->offset_bytes - first, at->uncertain || is_bits};
        return true;
    } while (dwarf_siblingof(&member, &member) == 0);
    return false;
}

/* The number of elements of a dimension; 0: not known. */
static uint64_t length_of(Dwarf_Die *dimension)
{
    uint64_t count;
    if (mr_die_number(dimension, DW_AT_count, &count))
        return count;
    return mr_die_number(dimension, DW_AT_upper_bound, &count) ? count + 1 : 0;
}

/* Goes to the element around the offset, through all dimensions at once. */
static bool to_element(part *at, char *name, size_t name_bytes)
{
    uint64_t lengths[8];
    unsigned count = 0;
    Dwarf_Die element, dimension;
    char index[32];
    if (!mr_die_type(&at->type, &element) || dwarf_child(&at->type, &dimension) != 0)
        return false;
    uint64_t size = size_of(&element);
    do {
        if (dwarf_tag(&dimension) == DW_TAG_subrange_type && count < 8)
            lengths[count++] = length_of(&dimension);
    } while (dwarf_siblingof(&dimension, &dimension) == 0);
    if (!size || !count)
        return false;
    uint64_t number = at->offset_bytes / size;
    for (unsigned i = 0; i < count; i++) {
        uint64_t below = 1;
        for (unsigned j = i + 1; j < count; j++)
            below *= lengths[j] ? lengths[j] : 1;
        snprintf(index, sizeof index, "%" PRIu64 "]", number / below);
        add(name, name_bytes, "[", index);
        number %= below;
    }
    *at = (part){element, at->offset_bytes % size, at->uncertain};
    return true;
}

uint64_t mr_type_part(const mr_debug *debug, Dwarf_Die *type, uint64_t offset_bytes,
                      uint64_t size_bytes, char *name, size_t name_bytes)
{
    part at = {*type, offset_bytes, false};
    bool more = mr_die_plain(type, &at.type);
    for (int i = 0; more && i < PARTS_MAX; i++) {
        if (!at.offset_bytes && size_of(&at.type) <= size_bytes)
            break;
        switch (dwarf_tag(&at.type)) {
        case DW_TAG_union_type:
            at.uncertain = true;
            more = to_member(&at, name, name_bytes);
            break;
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
            more = to_member(&at, name, name_bytes);
            break;
        case DW_TAG_array_type:
            more = to_element(&at, name, name_bytes);
            break;
        default:
            more = false;
        }
    }
    if (at.offset_bytes) {
        char text[32];
        snprintf(text, sizeof text, "%" PRIu64, at.offset_bytes);
        add(name, name_bytes, "+", text);
    }
    bool is_exact = !at.offset_bytes && size_of(&at.type) == size_bytes;
    return is_exact && !at.uncertain ? mr_debug_number(debug, &at.type) : 0;
}
