#include "die.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool mr_die_number(Dwarf_Die *die, unsigned attribute, uint64_t *number)
{
    Dwarf_Attribute found;
    Dwarf_Word word;
    if (!dwarf_attr_integrate(die, attribute, &found) || dwarf_formudata(&found, &word) != 0)
        return false;
    *number = word;
    return true;
}

Dwarf_Die mr_die_origin(const Dwarf_Die *die)
{
    static const unsigned links[] = {DW_AT_abstract_origin, DW_AT_specification};
    enum { LINKS_MAX = 8 };
    Dwarf_Die at = *die;
    for (int i = 0; i < LINKS_MAX; i++) {
        Dwarf_Attribute attribute;
        Dwarf_Die next;
        if ((!dwarf_attr(&at, links[0], &attribute) && !dwarf_attr(&at, links[1], &attribute)) ||
            !dwarf_formref_die(&attribute, &next))
            break;
        at = next;
    }
    return at;
}

/* Adds "scope::" or "function." to the end of `name`. */
static void add_scope(Dwarf_Die *scope, bool functions, char *name, size_t name_bytes)
{
    const char *separator = "::";
    switch (dwarf_tag(scope)) {
    case DW_TAG_namespace:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
        break;
    case DW_TAG_subprogram:
        if (!functions)
            return;
        separator = ".";
        break;
    default:
        return;
    }
    Dwarf_Die origin = mr_die_origin(scope);
    const char *text = dwarf_diename(&origin);
    size_t used = strlen(name);
    snprintf(name + used, name_bytes - used, "%s%s", text ? text : "(anonymous)", separator);
}

enum { SCOPES_MAX = 64 };

/* The entries around this one, the unit first. Entries stand in the order of their offsets, so the way down to
 * this one is known at each level. Returns their number; 0: they are not found. */
static int scopes_of(Dwarf_Die *die, Dwarf_Die scopes[SCOPES_MAX])
{
    Dwarf_Off wanted = dwarf_dieoffset(die);
    Dwarf_Die at, next;
    int count = 0;
    if (!dwarf_diecu(die, &at, NULL, NULL))
        return 0;
    while (dwarf_dieoffset(&at) != wanted) {
        if (count == SCOPES_MAX || dwarf_child(&at, &next) != 0)
            return 0;
        scopes[count++] = at;
        do
            at = next;
        while (dwarf_siblingof(&at, &next) == 0 && dwarf_dieoffset(&next) <= wanted);
    }
    return count;
}

/* The function around a lambda whose code is `text` in the innermost one of the scopes, which is a class without a
 * name. NULL: it is no lambda. */
static Dwarf_Die *function_of_lambda(Dwarf_Die *scopes, int count, const char *text)
{
    static const char call[] = "operator()";
    if (count == 0 || strncmp(text, call, sizeof call - 1) != 0)
        return NULL;
    Dwarf_Die class = mr_die_origin(&scopes[count - 1]);
    if (dwarf_tag(&class) == DW_TAG_subprogram || dwarf_diename(&class))
        return NULL;
    for (int i = count - 2; i > 0; i--)
        if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
            return &scopes[i];
    return NULL;
}

void mr_die_name(Dwarf_Die *die, bool functions, char *name, size_t name_bytes)
{
    Dwarf_Die origin = mr_die_origin(die), scopes[SCOPES_MAX];
    const char *text = dwarf_diename(&origin);
    name[0] = '\0';
    if (!text)
        return;
    int count = scopes_of(&origin, scopes);
    Dwarf_Die *around = functions ? NULL : function_of_lambda(scopes, count, text);
    if (around) {
        mr_die_name(around, functions, name, name_bytes);
        size_t length = strlen(name);
        snprintf(name + length, name_bytes - length, length ? "::<lambda>" : "<lambda>");
        return;
    }
    for (int i = 1; i < count; i++)
        add_scope(&scopes[i], functions, name, name_bytes);
    size_t used = strlen(name);
    snprintf(name + used, name_bytes - used, "%s", text);
}

const char *mr_die_file(const char *folder, const char *path)
{
    size_t length = folder ? strlen(folder) : 0;
    if (length && strncmp(path, folder, length) == 0 && path[length] == '/')
        path += length + 1;
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    return path;
}

bool mr_die_plain(const Dwarf_Die *type, Dwarf_Die *plain)
{
    Dwarf_Die at = *type;
    for (int i = 0; i < 64; i++) {
        Dwarf_Attribute attribute;
        switch (dwarf_tag(&at)) {
        case DW_TAG_typedef:
        case DW_TAG_const_type:
        case DW_TAG_volatile_type:
        case DW_TAG_restrict_type:
        case DW_TAG_atomic_type:
            if (!dwarf_attr_integrate(&at, DW_AT_type, &attribute) ||
                !dwarf_formref_die(&attribute, &at))
                return false;
            break;
        default:
            *plain = at;
            return true;
        }
    }
    return false;
}

bool mr_die_type(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Die found;
    return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
           dwarf_formref_die(&attribute, &found) && mr_die_plain(&found, type);
}
