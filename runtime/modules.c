#include "modules.h"

#include "sys.h"
#include "writer.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/syscall.h>

enum { MODULES_MAX = 512 };

static struct {
    uint64_t bias[MODULES_MAX];
    bool seen[MODULES_MAX];
    uint32_t count;
    char self[4096]; /* the program's path */
} modules;

/* Is the module known? It is from now on. */
static bool known(uint64_t bias)
{
    for (uint32_t i = 0; i < modules.count; i++) {
        if (modules.bias[i] == bias) {
            modules.seen[i] = true;
            return true;
        }
    }
    if (modules.count == MODULES_MAX) {
        return true;
    }
    modules.bias[modules.count] = bias;
    modules.seen[modules.count++] = true;
    return false;
}

/* The build-id is a note of name "GNU" and type 3. */
static void find_build_id(const uint8_t *at, size_t bytes, mr_log_module *module)
{
    while (bytes >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
        size_t name = (note->n_namesz + 3) & ~(size_t)3;
        size_t length = sizeof *note + name + ((note->n_descsz + 3) & ~(size_t)3);
        if (length > bytes) {
            return;
        }
        const uint8_t *text = at + sizeof *note;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && text[0] == 'G' &&
            note->n_descsz <= sizeof module->build_id) {
            module->build_id_bytes = note->n_descsz;
            for (size_t i = 0; i < note->n_descsz; i++) {
                module->build_id[i] = text[name + i];
            }
            return;
        }
        at += length;
        bytes -= length;
    }
}

static int log_module(struct dl_phdr_info *info, size_t size, void *context)
{
    mr_log_module module = {.bias = info->dlpi_addr, .start = UINT64_MAX};
    (void)size;
    (void)context;
    if (known(info->dlpi_addr)) {
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD) {
            module.start = start < module.start ? start : module.start;
            module.end =
                start + header->p_memsz > module.end ? start + header->p_memsz : module.end;
        } else if (header->p_type == PT_NOTE) {
            find_build_id((const uint8_t *)start, header->p_memsz, &module);
        }
    }
    const char *path = info->dlpi_name != NULL ? info->dlpi_name : "";
    if (path[0] == '\0') {
        path = modules.self;
    }
    mr_write_module(&module, path);
    return 0;
}

void mr_modules_log(void)
{
    if (modules.self[0] == '\0') {
        mr_sys(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)modules.self,
               sizeof modules.self - 1, 0, 0);
    }
    for (uint32_t i = 0; i < modules.count; i++) {
        modules.seen[i] = false;
    }
    dl_iterate_phdr(log_module, NULL);
    for (uint32_t i = 0; i < modules.count;) {
        if (modules.seen[i]) {
            i++;
            continue;
        }
        mr_write_object(MR_LOG_UNLOAD, 0, (void *)modules.bias[i], 0, 0, 0);
        modules.count--;
        modules.bias[i] = modules.bias[modules.count];
        modules.seen[i] = modules.seen[modules.count];
    }
}

void mr_modules_forget(void)
{
    modules.count = 0;
}

/* Address ranges of instrumented modules; only added to, the count last. */
static struct {
    struct {
        uintptr_t start, end;
    } of[MODULES_MAX];
    uint32_t count;
} instrumented;

bool mr_is_instrumented(uintptr_t code)
{
    uint32_t count = __atomic_load_n(&instrumented.count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        if (code - instrumented.of[i].start < instrumented.of[i].end - instrumented.of[i].start) {
            return true;
        }
    }
    return false;
}

static int find_range(struct dl_phdr_info *info, size_t size, void *context)
{
    uintptr_t code = *(uintptr_t *)context;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && code - start < header->p_memsz) {
            instrumented.of[instrumented.count].start = start;
            instrumented.of[instrumented.count].end = start + header->p_memsz;
            __atomic_store_n(&instrumented.count, instrumented.count + 1, __ATOMIC_RELEASE);
            return 1;
        }
    }
    return 0;
}

void mr_module_instrumented(uintptr_t code)
{
    if (!mr_is_instrumented(code) && instrumented.count < MODULES_MAX) {
        dl_iterate_phdr(find_range, &code);
    }
}
