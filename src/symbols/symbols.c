/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _GNU_SOURCE /* RTLD_DEFAULT */

#include "symbols.h"

#include "base/keys.h"
#include "base/memory.h"
#include "code.h"
#include "data.h"
#include "local.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct module {
    char *path;       /* owned */
    const char *name; /* the last part of it */
    uint64_t bias, start, end;
    uint8_t id[32];
    size_t id_bytes;
    bool mapped, opened, has_data;
    mr_elf elf;
    mr_code_table code;
    mr_data_table data;
} module;

struct mr_symbols {
    module *modules;
    size_t module_count, module_capacity;
    mr_keys addresses; /* of code that was asked for */
    mr_code **code;    /* by the number of the address - 1; in the arena */
    size_t code_capacity;
    mr_arena texts;
};

mr_symbols *mr_symbols_new(void)
{
    mr_symbols *symbols = mr_calloc(1, sizeof *symbols);
    if (symbols)
        mr_arena_init(&symbols->texts);
    return symbols;
}

static void free_module(module *self)
{
    free(self->path);
    mr_code_table_free(&self->code);
    mr_data_table_free(&self->data);
    if (self->opened)
        mr_elf_close(&self->elf);
}

void mr_symbols_free(mr_symbols *symbols)
{
    if (!symbols)
        return;
    for (size_t i = 0; i < symbols->module_count; i++)
        free_module(&symbols->modules[i]);
    free(symbols->modules);
    mr_keys_free(&symbols->addresses);
    free(symbols->code);
    mr_arena_free(&symbols->texts);
    free(symbols);
}

/* Forgets the answers about code addresses, which another module may use from now on. */
static void forget_code(mr_symbols *symbols)
{
    mr_keys_free(&symbols->addresses);
}

bool mr_symbols_map(mr_symbols *symbols, const char *path, uint64_t bias, uint64_t start,
                    uint64_t end, const uint8_t *id, size_t id_bytes)
{
    void *modules = symbols->modules;
    if (!mr_grow(&modules, &symbols->module_capacity, symbols->module_count + 1,
                 sizeof *symbols->modules))
        return false;
    symbols->modules = modules;
    module *self = &symbols->modules[symbols->module_count];
    *self = (module){.path = mr_strndup(path, strlen(path)),
                     .bias = bias,
                     .start = start,
                     .end = end,
                     .id_bytes = id_bytes <= sizeof self->id ? id_bytes : 0,
                     .mapped = true};
    if (!self->path)
        return false;
    const char *slash = strrchr(self->path, '/');
    self->name = slash ? slash + 1 : self->path;
    if (self->id_bytes)
        memcpy(self->id, id, self->id_bytes);
    symbols->module_count++;
    forget_code(symbols);
    return true;
}

void mr_symbols_unmap(mr_symbols *symbols, uint64_t bias)
{
    for (size_t i = 0; i < symbols->module_count; i++)
        if (symbols->modules[i].bias == bias)
            symbols->modules[i].mapped = false;
    forget_code(symbols);
}

static module *find_module(mr_symbols *symbols, uint64_t address)
{
    for (size_t i = symbols->module_count; i-- > 0;) {
        module *self = &symbols->modules[i];
        if (self->mapped && address >= self->start && address < self->end)
            return self;
    }
    return NULL;
}

static bool open_module(module *self)
{
    if (self->opened)
        return true;
    self->opened = true;
    return mr_elf_open(&self->elf, self->path, self->id, self->id_bytes) &&
           mr_code_table_init(&self->code, &self->elf);
}

static const char *keep(mr_symbols *symbols, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = mr_arena_alloc(&symbols->texts, size, 1);
    if (copy)
        memcpy(copy, text, size);
    return copy;
}

/* The name of a function of C++ as in its source, where this process has a library that can tell.
 */
static const char *demangle(mr_symbols *symbols, const char *name)
{
    typedef char *demangler(const char *, char *, size_t *, int *);
    void *found = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    demangler *call;
    int status = -1;
    memcpy(&call, &found, sizeof call);
    char *text = found && strncmp(name, "_Z", 2) == 0 ? call(name, NULL, NULL, &status) : NULL;
    const char *kept = keep(symbols, text && status == 0 ? text : name);
    free(text);
    return kept;
}

/* The frame from the symbol table. False: no memory. */
static bool symbol_frame(mr_symbols *symbols, const module *self, uint64_t address,
                         mr_code_frame *frame)
{
    char place[512];
    const mr_elf_symbol *symbol = self ? mr_elf_find(&self->elf, address - self->bias, true) : NULL;
    if (self)
        snprintf(place, sizeof place, "%.400s+0x%" PRIx64, self->name, address - self->bias);
    else
        snprintf(place, sizeof place, "0x%" PRIx64, address);
    *frame = (mr_code_frame){.function = symbol ? demangle(symbols, symbol->name) : "",
                             .place = keep(symbols, place)};
    return frame->function && frame->place;
}

static mr_code *look_up(mr_symbols *symbols, uint64_t address)
{
    mr_code_frame frames[MR_CODE_FRAMES];
    module *self = find_module(symbols, address);
    int count = 0;
    frames[0] = (mr_code_frame){.place = ""};
    if (self && !open_module(self))
        return NULL;
    if (self)
        count =
            mr_code_frames(&self->code, &self->elf, address - self->bias, &symbols->texts, frames);
    bool has_lines = count > 0 && frames[0].place[0];
    if (count < 0 || (!has_lines && !symbol_frame(symbols, self, address, &frames[0])))
        return NULL;
    if (!has_lines)
        count = 1;
    mr_code *code =
        mr_arena_alloc(&symbols->texts, sizeof *code + (size_t)count * sizeof *frames, 1);
    if (!code)
        return NULL;
    code->frame_count = (uint32_t)count;
    code->has_lines = has_lines;
    code->module_name = self ? self->name : "";
    memcpy(code->frames, frames, (size_t)count * sizeof *frames);
    return code;
}

const mr_code *mr_symbols_code(mr_symbols *symbols, uint64_t address)
{
    uint32_t number = mr_keys_find(&symbols->addresses, address);
    if (number)
        return symbols->code[number - 1];
    mr_code *code = look_up(symbols, address);
    void *all = symbols->code;
    if (!code || !mr_grow(&all, &symbols->code_capacity, (size_t)symbols->addresses.count + 1,
                          sizeof *symbols->code))
        return NULL;
    symbols->code = all;
    if (!mr_keys_add(&symbols->addresses, address, &number))
        return NULL;
    symbols->code[number - 1] = code;
    return code;
}

bool mr_symbols_data(mr_symbols *symbols, uint64_t address, uint64_t size_bytes, char *name,
                     size_t name_bytes)
{
    module *self = find_module(symbols, address);
    name[0] = '\0';
    if (!self || !open_module(self))
        return false;
    if (!self->has_data && !mr_data_table_init(&self->data, &self->elf))
        return false;
    self->has_data = true;
    uint64_t inside = address - self->bias;
    if (mr_data_name(&self->data, &self->elf, inside, size_bytes, name, name_bytes))
        return true;
    const mr_elf_symbol *symbol = mr_elf_find(&self->elf, inside, false);
    if (!symbol)
        snprintf(name, name_bytes, "%s+0x%" PRIx64, self->name, inside);
    else if (symbol->address == inside)
        snprintf(name, name_bytes, "%s", symbol->name);
    else
        snprintf(name, name_bytes, "%s+%" PRIu64, symbol->name, inside - symbol->address);
    return true;
}

/* The module of the frame's code, and the frame as its file has it. NULL: not known. */
static module *module_of_frame(mr_symbols *symbols, const mr_frame_place *frame,
                               mr_frame_place *inside)
{
    module *self = find_module(symbols, frame->code);
    if (!self || !open_module(self))
        return NULL;
    *inside = *frame;
    inside->code -= self->bias;
    return self;
}

bool mr_symbols_frame_end(mr_symbols *symbols, const mr_frame_place *frame, uint64_t *end)
{
    mr_frame_place inside;
    const module *self = module_of_frame(symbols, frame, &inside);
    return self && mr_local_frame_end(&self->elf, &inside, end);
}

bool mr_symbols_local(mr_symbols *symbols, const mr_frame_place *frame, uint64_t at,
                      uint64_t address, uint64_t size_bytes, char *name, size_t name_bytes)
{
    mr_frame_place inside;
    const module *self = module_of_frame(symbols, frame, &inside);
    return self && mr_local_name(&self->code, &self->elf, &inside, at ? at - self->bias : 0,
                                 address, size_bytes, name, name_bytes);
}
