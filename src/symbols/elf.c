#include "elf.h"

#include "base/memory.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static Elf_Scn *find_section(Elf *elf, uint32_t type, GElf_Shdr *header)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));)
        if (gelf_getshdr(section, header) && header->sh_type == type)
            return section;
    return NULL;
}

static int compare_symbols(const void *one, const void *two)
{
    const mr_elf_symbol *a = one, *b = two;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return strcmp(a->name, b->name);
}

static bool read_symbols(mr_elf *self)
{
    GElf_Shdr header;
    Elf *elf = self->elf;
    Elf_Scn *section = find_section(elf, SHT_SYMTAB, &header);
    if (!section && self->debug.elf) {
        elf = self->debug.elf;
        section = find_section(elf, SHT_SYMTAB, &header);
    }
    if (!section) {
        elf = self->elf;
        section = find_section(elf, SHT_DYNSYM, &header);
    }
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    if (!data || !header.sh_entsize)
        return true;
    size_t count = header.sh_size / header.sh_entsize;
    self->symbols = mr_calloc(count + 1, sizeof *self->symbols);
    if (!self->symbols)
        return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF)
            continue;
        int type = GELF_ST_TYPE(symbol.st_info);
        const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (!name || !*name || (type != STT_FUNC && type != STT_OBJECT && type != STT_GNU_IFUNC))
            continue;
        self->symbols[self->symbol_count++] = (mr_elf_symbol){
            .address = symbol.st_value,
            .size_bytes = symbol.st_size,
            .name = name,
            .is_code = type != STT_OBJECT,
        };
    }
    qsort(self->symbols, self->symbol_count, sizeof *self->symbols, compare_symbols);
    return true;
}

bool mr_elf_open(mr_elf *self, const char *path, const uint8_t *id, size_t id_bytes)
{
    *self = (mr_elf){.file = open(path, O_RDONLY | O_CLOEXEC), .debug = {.file = -1}};
    if (self->file < 0 || elf_version(EV_CURRENT) == EV_NONE)
        return true;
    self->elf = elf_begin(self->file, ELF_C_READ_MMAP, NULL);
    if (!self->elf || elf_kind(self->elf) != ELF_K_ELF ||
        !mr_debug_is_same_file(self->elf, id, id_bytes)) {
        mr_elf_close(self);
        return true;
    }
    self->calls = dwarf_getcfi_elf(self->elf);
    return mr_debug_open(&self->debug, self->elf, path, id, id_bytes) && read_symbols(self);
}

void mr_elf_close(mr_elf *self)
{
    if (self->calls)
        dwarf_cfi_end(self->calls);
    mr_debug_close(&self->debug);
    if (self->elf)
        elf_end(self->elf);
    if (self->file >= 0)
        close(self->file);
    free(self->symbols);
    *self = (mr_elf){.file = -1, .debug = {.file = -1}};
}

bool mr_elf_is_aarch64(const mr_elf *self)
{
    GElf_Ehdr header;
    return self->elf && gelf_getehdr(self->elf, &header) && header.e_machine == EM_AARCH64;
}

const mr_elf_symbol *mr_elf_find(const mr_elf *self, uint64_t address, bool is_code)
{
    size_t low = 0, high = self->symbol_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->symbols[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    /* A symbol may lie inside another one: look a few symbols back. */
    for (size_t steps = 0; low > 0 && steps < 16; steps++) {
        const mr_elf_symbol *symbol = &self->symbols[--low];
        uint64_t size_bytes = symbol->size_bytes ? symbol->size_bytes : 1;
        if (symbol->is_code == is_code && address - symbol->address < size_bytes)
            return symbol;
    }
    return NULL;
}

const uint8_t *mr_elf_code(const mr_elf *self, uint64_t address, size_t bytes)
{
    for (Elf_Scn *section = NULL; self->elf && (section = elf_nextscn(self->elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR) ||
            header.sh_type != SHT_PROGBITS || address - header.sh_addr >= header.sh_size)
            continue;
        uint64_t offset = address - header.sh_addr;
        const Elf_Data *data = elf_rawdata(section, NULL);
        return data && offset + bytes <= data->d_size ? (const uint8_t *)data->d_buf + offset
                                                      : NULL;
    }
    return NULL;
}
