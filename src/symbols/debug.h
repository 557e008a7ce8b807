/*
 * debug: the debug information of one file, wherever it lies: in the file itself, in a file of its
 * own that `.gnu_debuglink` or the build-id names (what packages of debug symbols install), or in
 * the .dwo files that gcc and clang write with -gsplit-dwarf. Files without recorded code have no
 * other file here: what is installed of the system's libraries does not change a report.
 *
 * An entry has a number, which names it for as long as these files are the same.
 */
#ifndef MR_SYMBOLS_DEBUG_H
#define MR_SYMBOLS_DEBUG_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mr_split {
    Dwarf *dwarf;       /* of a .dwo file; owned by the Dwarf of the file that names it */
    uint32_t number;    /* from 1, in the order of the units */
    Dwarf_Off skeleton; /* what stands of the unit in the file that names it */
} mr_split;

typedef struct mr_debug {
    Dwarf *dwarf;      /* NULL: no debug information */
    int file;          /* of debug information alone; -1: none */
    Elf *elf;          /* of `file`; NULL: none */
    bool is_whole;     /* there is debug information, and every .dwo file that it names was found */
    mr_split *splits;  /* owned; by `dwarf` */
    Dwarf **by_number; /* owned; the same, by number - 1 */
    size_t split_count;
} mr_debug;

/* Opens the debug information of the file `elf` at `path`. A file of debug information must have the
 * build-id, or, without one, the checksum of the link. What is missing stays empty. False: no
 * memory. The caller calls mr_debug_close in either case, before it ends `elf`. */
bool mr_debug_open(mr_debug *debug, Elf *elf, const char *path, const uint8_t *id, size_t id_bytes);
void mr_debug_close(mr_debug *debug);

/* The entry of the unit after `*unit` (NULL: of the first one): of a split unit that in its .dwo
 * file, where that was found. False: there is none. */
bool mr_debug_next_unit(const mr_debug *debug, Dwarf_CU **unit, Dwarf_Die *die);

/* The folder in which the unit was compiled. NULL: not known. */
const char *mr_debug_folder(const mr_debug *debug, Dwarf_Die *unit);

/* The number of an entry; 0: it is in another file, as `dwz` makes them. */
uint64_t mr_debug_number(const mr_debug *debug, Dwarf_Die *die);

/* The entry with this number. False: there is none. */
bool mr_debug_entry(const mr_debug *debug, uint64_t number, Dwarf_Die *die);

/* Does the file have this build-id? A file without a build-id counts as right. */
bool mr_debug_is_same_file(Elf *elf, const uint8_t *id, size_t id_bytes);

#endif
