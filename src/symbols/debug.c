/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _XOPEN_SOURCE 700 /* realpath */

#include "debug.h"

#include "base/memory.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define DEBUG_FOLDER "/usr/lib/debug"

enum { PATH_BYTES = 4096 };

/* A number has the offset in its file in these bits, and above them the number of the .dwo file. */
enum { OFFSET_BITS = 40 };

/* ---- a file of debug information alone ---- */

/* The build-id among the notes of a section. */
static bool has_id(Elf_Data *data, const uint8_t *id, size_t id_bytes, bool *found)
{
    GElf_Nhdr note;
    size_t name, description;
    for (size_t at = 0; data && (at = gelf_getnote(data, at, &note, &name, &description)) > 0;) {
        if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
            memcmp((char *)data->d_buf + name, "GNU", 4) != 0)
            continue;
        *found = true;
        return note.n_descsz == id_bytes &&
               memcmp((char *)data->d_buf + description, id, id_bytes) == 0;
    }
    return false;
}

/* Has the file this build-id? `*found`: it has one. */
static bool has_this_id(Elf *elf, const uint8_t *id, size_t id_bytes, bool *found)
{
    *found = false;
    for (Elf_Scn *section = NULL; id_bytes && (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE &&
            has_id(elf_getdata(section, NULL), id, id_bytes, found))
            return true;
    }
    return false;
}

bool mr_debug_is_same_file(Elf *elf, const uint8_t *id, size_t id_bytes)
{
    bool found;
    return has_this_id(elf, id, id_bytes, &found) || !found;
}

static bool has_checksum(int file, GElf_Word wanted)
{
    unsigned char bytes[1 << 14];
    uLong sum = crc32(0, NULL, 0);
    ssize_t count;
    for (off_t at = 0; (count = pread(file, bytes, sizeof bytes, at)) > 0; at += count)
        sum = crc32(sum, bytes, (uInt)count);
    return count == 0 && sum == wanted;
}

/* What a file of debug information must have. */
typedef struct mark {
    const uint8_t *id;         /* the build-id */
    size_t id_bytes;           /* 0: not known */
    const GElf_Word *checksum; /* of a file without a build-id; NULL: not known */
} mark;

static void close_files(mr_debug *self)
{
    if (self->dwarf)
        dwarf_end(self->dwarf);
    if (self->elf)
        elf_end(self->elf);
    if (self->file >= 0)
        close(self->file);
    self->dwarf = NULL;
    self->elf = NULL;
    self->file = -1;
}

/* Opens the file when it is the right one and has debug information. */
static void open_file(mr_debug *self, const char *path, const mark *right)
{
    if (self->dwarf || (self->file = open(path, O_RDONLY | O_CLOEXEC)) < 0)
        return;
    self->elf = elf_begin(self->file, ELF_C_READ_MMAP, NULL);
    bool found, is_right = self->elf && elf_kind(self->elf) == ELF_K_ELF;
    if (is_right && !has_this_id(self->elf, right->id, right->id_bytes, &found))
        is_right = !found && right->checksum && has_checksum(self->file, *right->checksum);
    self->dwarf = is_right ? dwarf_begin_elf(self->elf, DWARF_C_READ, NULL) : NULL;
    if (!self->dwarf)
        close_files(self);
}

/* Was code of the file built to be recorded? It uses functions of the runtime then. */
static bool has_recorded_code(Elf *elf)
{
    GElf_Shdr header;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM || !header.sh_entsize)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (size_t i = 0; data && i < header.sh_size / header.sh_entsize; i++) {
            GElf_Sym symbol;
            const char *name = gelf_getsym(data, (int)i, &symbol)
                                   ? elf_strptr(elf, header.sh_link, symbol.st_name)
                                   : NULL;
            if (name && strncmp(name, "__tsan_", 7) == 0)
                return true;
        }
    }
    return false;
}

/* Looks where packages of debug symbols install: by the build-id. */
static void open_by_id(mr_debug *self, const mark *right)
{
    char path[PATH_BYTES], text[2 * 32 + 1] = "";
    if (right->id_bytes < 2 || right->id_bytes > 32)
        return;
    for (size_t i = 1; i < right->id_bytes; i++)
        snprintf(text + 2 * (i - 1), 3, "%02x", right->id[i]);
    snprintf(path, sizeof path, DEBUG_FOLDER "/.build-id/%02x/%s.debug", right->id[0], text);
    open_file(self, path, right);
}

/* Looks for the file that the link names: beside the file, below it, and in the system's folder. */
static void open_by_link(mr_debug *self, const char *path, const char *link, const mark *right)
{
    static const char *const places[][2] = {{"", ""}, {"", ".debug/"}, {DEBUG_FOLDER, ""}};
    char found[PATH_BYTES], *real = realpath(path, NULL);
    char *slash = real ? strrchr(real, '/') : NULL;
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        int length = snprintf(found, sizeof found, "%s%.*s%s%s", places[i][0],
                              (int)(slash - real + 1), real, places[i][1], link);
        /* A link to the file itself is none. */
        if (length > 0 && (size_t)length < sizeof found && strcmp(found, real) != 0)
            open_file(self, found, right);
    }
    free(real);
}

/* ---- units ---- */

/* The unit's entry, and that in its .dwo file: `split->addr` NULL where there is none. */
static bool next_unit(const mr_debug *self, Dwarf_CU **unit, Dwarf_Die *die, Dwarf_Die *split,
                      bool *is_split)
{
    uint8_t kind = 0;
    memset(split, 0, sizeof *split);
    if (!self->dwarf || dwarf_get_units(self->dwarf, *unit, unit, NULL, &kind, die, split) != 0)
        return false;
    *is_split = kind == DW_UT_skeleton;
    return true;
}

bool mr_debug_next_unit(const mr_debug *debug, Dwarf_CU **unit, Dwarf_Die *die)
{
    Dwarf_Die split;
    bool is_split;
    if (!next_unit(debug, unit, die, &split, &is_split))
        return false;
    if (is_split && split.addr)
        *die = split;
    return true;
}

static int compare_splits(const void *one, const void *two)
{
    uintptr_t a = (uintptr_t)((const mr_split *)one)->dwarf;
    uintptr_t b = (uintptr_t)((const mr_split *)two)->dwarf;
    return (a > b) - (a < b);
}

/* Numbers the .dwo files. False: no memory. */
static bool read_splits(mr_debug *self)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;
    bool is_split;
    size_t capacity = 0;
    while (next_unit(self, &unit, &die, &split, &is_split)) {
        void *splits = self->splits;
        self->is_whole = self->is_whole && (!is_split || split.addr);
        if (!is_split || !split.addr)
            continue;
        if (!mr_grow(&splits, &capacity, self->split_count + 1, sizeof *self->splits))
            return false;
        self->splits = splits;
        self->splits[self->split_count] = (mr_split){.dwarf = dwarf_cu_getdwarf(split.cu),
                                                     .number = (uint32_t)self->split_count + 1,
                                                     .skeleton = dwarf_dieoffset(&die)};
        self->split_count++;
    }
    if (!self->split_count)
        return true;
    self->by_number = mr_calloc(self->split_count, sizeof *self->by_number);
    for (size_t i = 0; self->by_number && i < self->split_count; i++)
        self->by_number[i] = self->splits[i].dwarf;
    qsort(self->splits, self->split_count, sizeof *self->splits, compare_splits);
    return self->by_number != NULL;
}

bool mr_debug_open(mr_debug *debug, Elf *elf, const char *path, const uint8_t *id, size_t id_bytes)
{
    *debug = (mr_debug){.file = -1, .dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL)};
    if (!debug->dwarf && has_recorded_code(elf)) {
        mark right = {.id = id, .id_bytes = id_bytes};
        GElf_Word checksum;
        const char *link = dwelf_elf_gnu_debuglink(elf, &checksum);
        right.checksum = link ? &checksum : NULL;
        open_by_id(debug, &right);
        if (link && !debug->dwarf)
            open_by_link(debug, path, link, &right);
    }
    debug->is_whole = debug->dwarf != NULL;
    return read_splits(debug);
}

void mr_debug_close(mr_debug *debug)
{
    close_files(debug);
    free(debug->splits);
    free(debug->by_number);
    *debug = (mr_debug){.file = -1};
}

/* The .dwo file of the entry. NULL: it is in another file. */
static const mr_split *split_of(const mr_debug *debug, const Dwarf_Die *die)
{
    mr_split key = {.dwarf = dwarf_cu_getdwarf(die->cu)};
    return debug->split_count
               ? bsearch(&key, debug->splits, debug->split_count, sizeof key, compare_splits)
               : NULL;
}

const char *mr_debug_folder(const mr_debug *debug, Dwarf_Die *unit)
{
    const mr_split *split = split_of(debug, unit);
    Dwarf_Attribute attribute;
    Dwarf_Die skeleton;
    if (split && dwarf_offdie(debug->dwarf, split->skeleton, &skeleton))
        unit = &skeleton;
    return dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
}

uint64_t mr_debug_number(const mr_debug *debug, Dwarf_Die *die)
{
    uint64_t offset = dwarf_dieoffset(die);
    if (dwarf_cu_getdwarf(die->cu) == debug->dwarf)
        return offset;
    const mr_split *split = split_of(debug, die);
    return split ? ((uint64_t)split->number << OFFSET_BITS) + offset : 0;
}

bool mr_debug_entry(const mr_debug *debug, uint64_t number, Dwarf_Die *die)
{
    uint64_t split = number >> OFFSET_BITS;
    Dwarf *dwarf = !split                        ? debug->dwarf
                   : split <= debug->split_count ? debug->by_number[split - 1]
                                                 : NULL;
    return dwarf && dwarf_offdie(dwarf, number & (((uint64_t)1 << OFFSET_BITS) - 1), die) != NULL;
}
