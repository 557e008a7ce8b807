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

static bool add_unit(mr_code_table *table, Dwarf_Die *unit)
{
    Dwarf_Addr base, start, end;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(unit, at, &base, &start, &end)) > 0;) {
        void *ranges = table->ranges;
        if (start >= end)
            continue;
        if (!mr_grow(&ranges, &table->capacity, table->range_count + 1, sizeof *table->ranges))
            return false;
        table->ranges = ranges;
        table->ranges[table->range_count++] = (mr_unit_range){start, end, dwarf_dieoffset(unit)};
    }
    return true;
}

bool mr_code_table_init(mr_code_table *table, const mr_elf *elf)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    *table = (mr_code_table){0};
    if (!elf->dwarf)
        return true;
    while (dwarf_get_units(elf->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
        if (!add_unit(table, &die))
            return false;
    if (table->range_count)
        qsort(table->ranges, table->range_count, sizeof *table->ranges, compare_ranges);
    return true;
}

void mr_code_table_free(mr_code_table *table)
{
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
           dwarf_offdie(elf->dwarf, table->ranges[low - 1].unit, unit);
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

/* Makes the frame of the function `die` (NULL: unknown) at the place. False: no memory. */
static bool make_frame(Dwarf_Die *unit, Dwarf_Die *die, place at, mr_arena *texts,
                       mr_code_frame *frame)
{
    char function[1024] = "", text[1024] = "";
    if (die)
        mr_die_name(die, false, function, sizeof function);
    if (at.file) {
        const char *file = mr_die_file(unit, at.file);
        if (at.column > 0)
            snprintf(text, sizeof text, "%s:%d:%d", file, at.line, at.column);
        else
            snprintf(text, sizeof text, "%s:%d", file, at.line);
    }
    *frame = (mr_code_frame){
        .function = keep(texts, function),
        .place = keep(texts, text),
        .inlined = die && dwarf_tag(die) == DW_TAG_inlined_subroutine,
        .is_own = at.file && strncmp(at.file, "/usr/", 5) != 0,
    };
    return frame->function && frame->place;
}

/* The entries around the address, the innermost first. dwarf_getscopes does not serve: after an
 * inlined function it goes on to the place where the function was written, not where it was
 * inlined. */
static int scopes_at(Dwarf_Die *unit, uint64_t address, Dwarf_Die **scopes)
{
    Dwarf_Die *found = NULL;
    *scopes = NULL;
    int count = dwarf_getscopes(unit, address, &found);
    if (count > 0)
        count = dwarf_getscopes_die(&found[0], scopes);
    free(found);
    return count;
}

bool mr_code_function(const mr_code_table *table, const mr_elf *elf, uint64_t address,
                      Dwarf_Die *function)
{
    Dwarf_Die unit, *scopes;
    bool found = false;
    if (!mr_code_unit(table, elf, address, &unit))
        return false;
    int count = scopes_at(&unit, address, &scopes);
    for (int i = 0; i < count && !found; i++) {
        found = dwarf_tag(&scopes[i]) == DW_TAG_subprogram;
        *function = scopes[i];
    }
    free(scopes);
    return found;
}

int mr_code_frames(const mr_code_table *table, const mr_elf *elf, uint64_t address, mr_arena *texts,
                   mr_code_frame *frames)
{
    Dwarf_Die unit, *scopes;
    int made = 0;
    bool ok = true;
    if (!mr_code_unit(table, elf, address, &unit))
        return 0;
    place at = place_of_address(&unit, address);
    int count = scopes_at(&unit, address, &scopes);
    for (int i = 0; i < count && ok && made < MR_CODE_FRAMES; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
            continue;
        ok = make_frame(&unit, &scopes[i], at, texts, &frames[made++]);
        if (tag == DW_TAG_subprogram)
            break;
        at = place_of_call(&unit, &scopes[i]);
    }
    free(scopes);
    if (ok && !made && at.file)
        ok = make_frame(&unit, NULL, at, texts, &frames[made++]);
    return ok ? made : -1;
}
