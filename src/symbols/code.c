#include "code.h"

#include "base/memory.h"
#include "die.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct place {
    const char *file; /* as in the debug information; NULL: not known */
    int line, column;
} place;

static int compare_ranges(const void *one, const void *two)
{
    const mr_unit_range *a = one, *b = two;
    return (a->start > b->start) - (a->start < b->start);
}

static bool add_unit(mr_code_table *table, const mr_elf *elf, Dwarf_Die *unit)
{
    Dwarf_Addr base, start, end;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(unit, at, &base, &start, &end)) > 0;) {
        void *ranges = table->ranges;
        if (start >= end)
            continue;
        if (!mr_grow(&ranges, &table->capacity, table->range_count + 1, sizeof *table->ranges))
            return false;
        table->ranges = ranges;
        table->ranges[table->range_count++] =
            (mr_unit_range){start, end, mr_debug_number(&elf->debug, unit)};
    }
    return true;
}

bool mr_code_table_init(mr_code_table *table, const mr_elf *elf)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    *table = (mr_code_table){0};
    while (mr_debug_next_unit(&elf->debug, &unit, &die))
        if (!add_unit(table, elf, &die))
            return false;
    if (table->range_count)
        qsort(table->ranges, table->range_count, sizeof *table->ranges, compare_ranges);
    return true;
}

void mr_code_table_free(mr_code_table *table)
{
    for (uint32_t i = 0; i < table->units.count; i++)
        mr_functions_free(&table->functions[i]);
    mr_keys_free(&table->units);
    mr_keys_free(&table->named);
    free(table->functions);
    free(table->names);
    free(table->ranges);
    *table = (mr_code_table){0};
}

bool mr_code_unit(const mr_code_table *table, const mr_elf *elf, uint64_t address, Dwarf_Die *unit)
{
    size_t low = 0, high = table->range_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->ranges[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && address < table->ranges[low - 1].end &&
           mr_debug_entry(&elf->debug, table->ranges[low - 1].unit, unit);
}

static place place_of_address(Dwarf_Die *unit, uint64_t address)
{
    place found = {NULL, 0, 0};
    Dwarf_Line *line = dwarf_getsrc_die(unit, address);
    if (!line)
        return found;
    found.file = dwarf_linesrc(line, NULL, NULL);
    dwarf_lineno(line, &found.line);
    dwarf_linecol(line, &found.column);
    return found;
}

/* Where the inlined function was called. */
static place place_of_call(Dwarf_Die *unit, Dwarf_Die *inlined)
{
    place found = {NULL, 0, 0};
    Dwarf_Files *files;
    size_t count;
    uint64_t file = 0, line = 0, column = 0;
    if (!mr_die_number(inlined, DW_AT_call_file, &file) ||
        dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count)
        return found;
    mr_die_number(inlined, DW_AT_call_line, &line);
    mr_die_number(inlined, DW_AT_call_column, &column);
    found.file = dwarf_filesrc(files, (size_t)file, NULL, NULL);
    found.line = (int)line;
    found.column = (int)column;
    return found;
}

static const char *keep(mr_arena *texts, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = mr_arena_alloc(texts, size, 1);
    if (copy)
        memcpy(copy, text, size);
    return copy;
}

/* The name of a function. NULL: no memory. */
static const char *name_of(mr_code_table *table, Dwarf_Die *die, mr_arena *texts)
{
    char name[1024];
    Dwarf_Die origin = mr_die_origin(die);
    uint64_t key = (uintptr_t)origin.addr;
    uint32_t number = mr_keys_find(&table->named, key);
    void *names = table->names;
    if (number)
        return table->names[number - 1];
    mr_die_name(die, false, name, sizeof name);
    const char *kept = keep(texts, name);
    if (!kept || !mr_grow(&names, &table->name_capacity, (size_t)table->named.count + 1,
                          sizeof *table->names))
        return NULL;
    table->names = names;
    if (!mr_keys_add(&table->named, key, &number))
        return NULL;
    table->names[number - 1] = kept;
    return kept;
}

/* Makes the frame of the function `die` (NULL: unknown) at the place. False: no memory. */
static bool make_frame(mr_code_table *table, const mr_debug *debug, Dwarf_Die *unit, Dwarf_Die *die,
                       place at, mr_arena *texts, mr_code_frame *frame)
{
    char text[1024] = "";
    if (at.file) {
        const char *file = mr_die_file(mr_debug_folder(debug, unit), at.file);
        if (at.column > 0)
            snprintf(text, sizeof text, "%s:%d:%d", file, at.line, at.column);
        else
            snprintf(text, sizeof text, "%s:%d", file, at.line);
    }
    *frame = (mr_code_frame){
        .function = die ? name_of(table, die, texts) : "",
        .place = keep(texts, text),
        .inlined = die && dwarf_tag(die) == DW_TAG_inlined_subroutine,
        .is_own = at.file && strncmp(at.file, "/usr/", 5) != 0,
    };
    return frame->function && frame->place;
}

/* The functions of the unit. NULL: no memory. */
static const mr_functions *functions_of(mr_code_table *table, const mr_elf *elf, Dwarf_Die *unit)
{
    uint64_t entry = mr_debug_number(&elf->debug, unit);
    uint32_t number = mr_keys_find(&table->units, entry);
    void *all = table->functions;
    if (number)
        return &table->functions[number - 1];
    if (!mr_grow(&all, &table->function_capacity, (size_t)table->units.count + 1,
                 sizeof *table->functions))
        return NULL;
    table->functions = all;
    if (!mr_keys_add(&table->units, entry, &number))
        return NULL;
    mr_functions *functions = &table->functions[number - 1];
    *functions = (mr_functions){.count = 0};
    return mr_functions_read(functions, &elf->debug, unit) ? functions : NULL;
}

/* Finds the function of the unit around the address. `*found`: there is one. False: no memory. */
static bool find_function(mr_code_table *table, const mr_elf *elf, Dwarf_Die *unit,
                          uint64_t address, Dwarf_Die *function, bool *found)
{
    uint64_t entry;
    const mr_functions *functions = functions_of(table, elf, unit);
    *found = functions && mr_functions_find(functions, address, &entry) &&
             mr_debug_entry(&elf->debug, entry, function);
    return functions != NULL;
}

/* The entries around the address, from the innermost function on outwards. Returns their number; -1: no memory. */
static int scopes_at(mr_code_table *table, const mr_elf *elf, Dwarf_Die *unit, uint64_t address,
                     Dwarf_Die scopes[MR_SCOPES])
{
    Dwarf_Die function;
    bool found;
    if (!find_function(table, elf, unit, address, &function, &found))
        return -1;
    return found ? mr_functions_scopes(&function, address, scopes) : 0;
}

bool mr_code_function(mr_code_table *table, const mr_elf *elf, uint64_t address,
                      Dwarf_Die *function)
{
    Dwarf_Die unit, scopes[MR_SCOPES];
    if (!mr_code_unit(table, elf, address, &unit))
        return false;
    for (int i = scopes_at(table, elf, &unit, address, scopes); i > 0; i--)
        if (dwarf_tag(&scopes[i - 1]) == DW_TAG_subprogram) {
            *function = scopes[i - 1];
            return true;
        }
    return false;
}

int mr_code_frames(mr_code_table *table, const mr_elf *elf, uint64_t address, mr_arena *texts,
                   mr_code_frame *frames)
{
    Dwarf_Die unit, scopes[MR_SCOPES];
    int made = 0;
    if (!mr_code_unit(table, elf, address, &unit))
        return 0;
    place at = place_of_address(&unit, address);
    int count = scopes_at(table, elf, &unit, address, scopes);
    bool ok = count >= 0;
    for (int i = count - 1; i >= 0 && ok && made < MR_CODE_FRAMES; i--) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
            continue;
        ok = make_frame(table, &elf->debug, &unit, &scopes[i], at, texts, &frames[made++]);
        if (tag == DW_TAG_subprogram)
            break;
        at = place_of_call(&unit, &scopes[i]);
    }
    if (ok && !made && at.file)
        ok = make_frame(table, &elf->debug, &unit, NULL, at, texts, &frames[made++]);
    return ok ? made : -1;
}
