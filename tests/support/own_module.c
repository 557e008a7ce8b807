/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _GNU_SOURCE /* dl_iterate_phdr */

#include "own_module.h"

#include <elf.h>
#include <link.h>

/* The first object is the program. */
static int note(struct dl_phdr_info *info, size_t size, void *context)
{
    mr_own_module *self = context;
    (void)size;
    *self = (mr_own_module){.bias = info->dlpi_addr, .start = UINT64_MAX};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD)
            continue;
        uint64_t start = info->dlpi_addr + part->p_vaddr, end = start + part->p_memsz;
        self->start = start < self->start ? start : self->start;
        self->end = end > self->end ? end : self->end;
    }
    return 1;
}

mr_own_module mr_own_module_find(void)
{
    mr_own_module self = {0};
    dl_iterate_phdr(note, &self);
    return self;
}
