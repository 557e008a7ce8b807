#include "functions.h"

#include "base/memory.h"

#include <dwarf.h>
#include <stdlib.h>

enum { DEPTH_MAX = 64 };

void mr_functions_free(mr_functions *functions)
{
    free(functions->items);
    *functions = (mr_functions){.count = 0};
}

static bool add(mr_functions *functions, const mr_debug *debug, Dwarf_Die *function)
{
    Dwarf_Addr base, start, end;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(function, at, &base, &start, &end)) > 0;) {
        void *items = functions->items;
        if (start >= end)
            continue;
        if (!mr_grow(&items, &functions->capacity, functions->count + 1, sizeof *functions->items))
            return false;
        functions->items = items;
        functions->items[functions->count++] =
            (mr_function_range){start, end, 0, mr_debug_number(debug, function)};
    }
    return true;
}

/* Lists those below the entry. Functions may stand in namespaces and classes, and the classes in functions: a
 * lambda is a class there. */
static bool add_below(mr_functions *functions, const mr_debug *debug, Dwarf_Die *parent, int depth)
{
    Dwarf_Die at;
    bool ok = true;
    if (depth == DEPTH_MAX || dwarf_child(parent, &at) != 0)
        return true;
    do {
        switch (dwarf_tag(&at)) {
        case DW_TAG_subprogram:
            ok = add(functions, debug, &at) && add_below(functions, debug, &at, depth + 1);
            break;
        case DW_TAG_lexical_block:
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
            ok = add_below(functions, debug, &at, depth + 1);
            break;
        default:
            break;
        }
    } while (ok && dwarf_siblingof(&at, &at) == 0);
    return ok;
}

static int compare(const void *one, const void *two)
{
    const mr_function_range *a = one, *b = two;
    return a->start != b->start ? (a->start > b->start) - (a->start < b->start)
                                : (a->function > b->function) - (a->function < b->function);
}

bool mr_functions_read(mr_functions *functions, const mr_debug *debug, Dwarf_Die *unit)
{
    uint64_t reach = 0;
    bool ok = add_below(functions, debug, unit, 0);
    if (functions->count)
        qsort(functions->items, functions->count, sizeof *functions->items, compare);
    for (size_t i = 0; i < functions->count; i++) {
        mr_function_range *item = &functions->items[i];
        reach = item->end > reach ? item->end : reach;
        item->reach = reach;
    }
    return ok;
}

bool mr_functions_find(const mr_functions *functions, uint64_t address, uint64_t *function)
{
    size_t low = 0, high = functions->count;
    bool found = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (functions->items[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low > 0 && functions->items[low - 1].reach > address; low--) {
        const mr_function_range *item = &functions->items[low - 1];
        if (item->end <= address || (found && item->function > *function))
            continue;
        *function = item->function;
        found = true;
    }
    return found;
}

static bool is_scope(Dwarf_Die *die)
{
    switch (dwarf_tag(die)) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
        return true;
    default:
        return false;
    }
}

int mr_functions_scopes(const Dwarf_Die *function, uint64_t address, Dwarf_Die scopes[MR_SCOPES])
{
    int count = 0;
    Dwarf_Die at = *function;
    bool goes_on = true;
    while (goes_on && count < MR_SCOPES) {
        scopes[count++] = at;
        goes_on = dwarf_child(&scopes[count - 1], &at) == 0;
        while (goes_on && !(is_scope(&at) && dwarf_haspc(&at, address) > 0))
            goes_on = dwarf_siblingof(&at, &at) == 0;
    }
    return count;
}
