/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _GNU_SOURCE /* RTLD_DEFAULT */

#include "symbols.h"

#include "answers.h"
#include "base/keys.h"
#include "base/memory.h"
#include "code.h"
#include "data.h"
#include "flow.h"
#include "local.h"
#include "type_text.h"

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
    bool mapped, opened, has_data, has_answers;
    mr_answers answers;
    mr_elf elf;
    mr_code_table code;
    mr_data_table data;
    mr_keys types;     /* entries of types that were asked for */
    const char **type; /* by their number - 1: texts; in the arena */
    size_t type_capacity;
} module;

struct mr_symbols {
    char *folder; /* owned; of answers; NULL: none */
    module *modules;
    size_t module_count, module_capacity;
    mr_keys addresses; /* of code that was asked for */
    mr_code **code;    /* by the number of the address - 1; in the arena */
    size_t code_capacity;
    mr_arena texts;
};

mr_symbols *mr_symbols_new(const char *folder)
{
    mr_symbols *symbols = mr_calloc(1, sizeof *symbols);
    if (!symbols)
        return NULL;
    mr_arena_init(&symbols->texts);
    symbols->folder = folder ? mr_strndup(folder, strlen(folder)) : NULL;
    return symbols;
}

static void free_module(module *self)
{
    if (self->has_answers)
        mr_answers_close(&self->answers);
    free(self->path);
    mr_code_table_free(&self->code);
    mr_data_table_free(&self->data);
    mr_keys_free(&self->types);
    free(self->type);
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
    free(symbols->folder);
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
    if (!mr_elf_open(&self->elf, self->path, self->id, self->id_bytes) ||
        !mr_code_table_init(&self->code, &self->elf))
        return false;
    /* Debug information that is missing may come later, as a package of debug symbols does. */
    if (self->has_answers && !self->elf.debug.is_whole)
        mr_answers_stop(&self->answers);
    return true;
}

/* The kept answers about the module. */
static mr_answers *answers_of(const mr_symbols *symbols, module *self)
{
    if (!self->has_answers)
        mr_answers_open(&self->answers, symbols->folder, self->path, self->id, self->id_bytes);
    self->has_answers = true;
    return &self->answers;
}

/* The first word of a key: what is asked. */
enum { ASKS_CODE, ASKS_DATA, ASKS_FRAME_END, ASKS_LOCAL, ASKS_USES_VALUE, ASKS_TYPE };

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

/* Gives the frame a place without lines: "bank+0x1189". False: no memory. */
static bool name_place(mr_symbols *symbols, const module *self, uint64_t address,
                       mr_code_frame *frame)
{
    char place[512];
    if (self)
        snprintf(place, sizeof place, "%.400s+0x%" PRIx64, self->name, address - self->bias);
    else
        snprintf(place, sizeof place, "0x%" PRIx64, address);
    frame->place = keep(symbols, place);
    return frame->place != NULL;
}

/* The frame from the symbol table. False: no memory. */
static bool symbol_frame(mr_symbols *symbols, const module *self, uint64_t address,
                         mr_code_frame *frame)
{
    const mr_elf_symbol *symbol = self ? mr_elf_find(&self->elf, address - self->bias, true) : NULL;
    *frame = (mr_code_frame){.function = symbol ? demangle(symbols, symbol->name) : ""};
    return frame->function && name_place(symbols, self, address, frame);
}

/* The frames at an address of the module, from its file. Returns their number; -1: no memory. */
static int read_frames(mr_symbols *symbols, module *self, uint64_t address, mr_code_frame *frames,
                       bool *has_lines)
{
    int count = 0;
    frames[0] = (mr_code_frame){.place = ""};
    if (self && !open_module(self))
        return -1;
    if (self)
        count =
            mr_code_frames(&self->code, &self->elf, address - self->bias, &symbols->texts, frames);
    *has_lines = count > 0 && frames[0].place[0];
    if (count < 0 || (!*has_lines && !symbol_frame(symbols, self, address, &frames[0])))
        return -1;
    return *has_lines ? count : 1;
}

/* Adds the frames to the answers: for each two flags, function and place, terminated. Without lines
 * the place is not among them, because it has the name of the module. */
static void keep_frames(mr_answers *answers, const mr_answer_key *key, const mr_code_frame *frames,
                        int count, bool has_lines)
{
    char packed[4096];
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        const char *place = has_lines ? frames[i].place : "";
        size_t function_bytes = strlen(frames[i].function) + 1, place_bytes = strlen(place) + 1;
        if (function_bytes + place_bytes + 2 > sizeof packed - used)
            return;
        packed[used++] = (char)('0' + frames[i].inlined);
        packed[used++] = (char)('0' + frames[i].is_own);
        memcpy(packed + used, frames[i].function, function_bytes);
        memcpy(packed + used + function_bytes, place, place_bytes);
        used += function_bytes + place_bytes;
    }
    mr_answers_add(answers, key, packed, used);
}

/* One terminated text of an answer. NULL: it is damaged. */
static const char *next_text(const char **at, const char *end)
{
    const char *text = *at, *stop = text < end ? memchr(text, '\0', (size_t)(end - text)) : NULL;
    *at = stop ? stop + 1 : end;
    return stop ? text : NULL;
}

/* The frames of an answer; 0: it is not known; -1: no memory. */
static int kept_frames(mr_symbols *symbols, module *self, const mr_answer_key *key,
                       uint64_t address, mr_code_frame *frames, bool *has_lines)
{
    const void *bytes;
    size_t size_bytes;
    int count = 0;
    if (!mr_answers_find(answers_of(symbols, self), key, &bytes, &size_bytes))
        return 0;
    const char *at = bytes, *end = at + size_bytes;
    for (; end - at > 2 && count < MR_CODE_FRAMES; count++) {
        mr_code_frame *frame = &frames[count];
        *frame = (mr_code_frame){.inlined = at[0] == '1', .is_own = at[1] == '1'};
        at += 2;
        const char *function = next_text(&at, end), *place = next_text(&at, end);
        if (!function || !place)
            return 0;
        frame->function = keep(symbols, function);
        frame->place = keep(symbols, place);
        if (!frame->function || !frame->place)
            return -1;
    }
    *has_lines = count && frames[0].place[0];
    if (count && !*has_lines && !name_place(symbols, self, address, &frames[0]))
        return -1;
    return count;
}

static mr_code *look_up(mr_symbols *symbols, uint64_t address)
{
    mr_code_frame frames[MR_CODE_FRAMES];
    module *self = find_module(symbols, address);
    mr_answer_key key = {{ASKS_CODE, self ? address - self->bias : 0}};
    bool has_lines = false;
    int count = self ? kept_frames(symbols, self, &key, address, frames, &has_lines) : 0;
    if (!count) {
        count = read_frames(symbols, self, address, frames, &has_lines);
        if (count > 0 && self)
            keep_frames(&self->answers, &key, frames, count, has_lines);
    }
    if (count < 0)
        return NULL;
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

/* The name of static memory in the file, and the entry of its type. "", 0: it has none. False: no
 * memory. */
static bool read_data(module *self, uint64_t inside, uint64_t size_bytes, char *name,
                      size_t name_bytes, uint64_t *type)
{
    name[0] = '\0';
    *type = 0;
    if (!open_module(self) || (!self->has_data && !mr_data_table_init(&self->data, &self->elf)))
        return false;
    self->has_data = true;
    if (mr_data_name(&self->data, &self->elf, inside, size_bytes, name, name_bytes, type))
        return true;
    const mr_elf_symbol *symbol = mr_elf_find(&self->elf, inside, false);
    if (symbol && symbol->address == inside)
        snprintf(name, name_bytes, "%s", symbol->name);
    else if (symbol)
        snprintf(name, name_bytes, "%s+%" PRIu64, symbol->name, inside - symbol->address);
    else
        name[0] = '\0';
    return true;
}

/* The text of an answer. False: it is not known. */
static bool kept_text(const mr_answers *answers, const mr_answer_key *key, char *text,
                      size_t text_bytes)
{
    const void *bytes;
    size_t count;
    if (!mr_answers_find(answers, key, &bytes, &count) || count >= text_bytes)
        return false;
    memcpy(text, bytes, count);
    text[count] = '\0';
    return true;
}

/* The same for an answer about data or a local variable: the entry of the type, then the name. */
static bool kept_data(const mr_answers *answers, const mr_answer_key *key, char *name,
                      size_t name_bytes, uint64_t *type)
{
    const void *bytes;
    size_t count;
    if (!mr_answers_find(answers, key, &bytes, &count) || count < sizeof *type ||
        count - sizeof *type >= name_bytes)
        return false;
    memcpy(type, bytes, sizeof *type);
    memcpy(name, (const char *)bytes + sizeof *type, count - sizeof *type);
    name[count - sizeof *type] = '\0';
    return true;
}

static void keep_data(mr_answers *answers, const mr_answer_key *key, const char *name,
                      uint64_t type)
{
    char packed[4096];
    size_t length = strlen(name);
    if (length >= sizeof packed - sizeof type)
        return;
    memcpy(packed, &type, sizeof type);
    memcpy(packed + sizeof type, name, length + 1);
    mr_answers_add(answers, key, packed, sizeof type + length);
}

/* The text of a type of the module, "": it has none. NULL: no memory. */
static const char *read_type(mr_symbols *symbols, module *self, uint64_t entry)
{
    char text[MR_TYPE_TEXT_BYTES];
    Dwarf_Die die;
    mr_answer_key key = {{ASKS_TYPE, entry}};
    if (!kept_text(answers_of(symbols, self), &key, text, sizeof text)) {
        text[0] = '\0';
        if (!open_module(self))
            return NULL;
        if (mr_debug_entry(&self->elf.debug, entry, &die))
            mr_type_text(&die, text);
        mr_answers_add(&self->answers, &key, text, strlen(text));
    }
    return keep(symbols, text);
}

/* The text of the type with this entry. NULL: 0, it has none, or there is no memory. */
static const char *find_type(mr_symbols *symbols, module *self, uint64_t entry)
{
    uint32_t number = entry ? mr_keys_find(&self->types, entry) : 0;
    void *all = self->type;
    if (!entry)
        return NULL;
    if (!number) {
        const char *found = read_type(symbols, self, entry);
        if (!found ||
            !mr_grow(&all, &self->type_capacity, (size_t)self->types.count + 1, sizeof found))
            return NULL;
        self->type = all;
        if (!mr_keys_add(&self->types, entry, &number))
            return NULL;
        self->type[number - 1] = found;
    }
    return *self->type[number - 1] ? self->type[number - 1] : NULL;
}

bool mr_symbols_data(mr_symbols *symbols, uint64_t address, uint64_t size_bytes, char *name,
                     size_t name_bytes, const char **type)
{
    module *self = find_module(symbols, address);
    uint64_t entry;
    name[0] = '\0';
    if (type)
        *type = NULL;
    if (!self)
        return false;
    uint64_t inside = address - self->bias;
    mr_answer_key key = {{ASKS_DATA, inside, size_bytes}};
    if (!kept_data(answers_of(symbols, self), &key, name, name_bytes, &entry)) {
        if (!read_data(self, inside, size_bytes, name, name_bytes, &entry))
            return false;
        keep_data(&self->answers, &key, name, entry);
    }
    if (!name[0])
        snprintf(name, name_bytes, "%s+0x%" PRIx64, self->name, inside);
    if (type)
        *type = find_type(symbols, self, entry);
    return true;
}

/* The module of the frame's code, or NULL, and the frame as its file has it. What is asked about a
 * frame depends on how its addresses lie to the stack pointer, and not on where that is. */
static module *module_of_frame(mr_symbols *symbols, const mr_frame_place *frame,
                               mr_frame_place *inside)
{
    module *self = find_module(symbols, frame->code);
    if (!self)
        return NULL;
    *inside = *frame;
    inside->code -= self->bias;
    return self;
}

static uint64_t pointer_of(const mr_frame_place *frame)
{
    return frame->frame ? frame->frame - frame->stack : UINT64_MAX;
}

bool mr_symbols_uses_value(mr_symbols *symbols, uint64_t from, uint64_t to, bool is_returned)
{
    module *self = to > from && to - from <= MR_FLOW_BYTES ? find_module(symbols, from) : NULL;
    const void *bytes;
    size_t count;
    if (!self)
        return false;
    mr_answer_key key = {{ASKS_USES_VALUE, from - self->bias, to - from, is_returned}};
    uint64_t uses = 0;
    if (mr_answers_find(answers_of(symbols, self), &key, &bytes, &count) && count == sizeof uses) {
        memcpy(&uses, bytes, sizeof uses);
        return uses != 0;
    }
    const uint8_t *code =
        open_module(self) ? mr_elf_code(&self->elf, from - self->bias, to - from) : NULL;
    uses =
        code && !mr_elf_is_aarch64(&self->elf) && mr_code_uses_value(code, to - from, is_returned);
    mr_answers_add(&self->answers, &key, &uses, sizeof uses);
    return uses != 0;
}

bool mr_symbols_frame_end(mr_symbols *symbols, const mr_frame_place *frame, uint64_t *end)
{
    mr_frame_place inside;
    module *self = module_of_frame(symbols, frame, &inside);
    const void *bytes;
    size_t count;
    if (!self)
        return false;
    mr_answer_key key = {{ASKS_FRAME_END, inside.code, pointer_of(frame)}};
    uint64_t size_bytes = 0;
    if (mr_answers_find(answers_of(symbols, self), &key, &bytes, &count) &&
        count == sizeof size_bytes) {
        memcpy(&size_bytes, bytes, sizeof size_bytes);
    } else {
        if (open_module(self) && mr_local_frame_end(&self->elf, &inside, end))
            size_bytes = *end - frame->stack;
        mr_answers_add(&self->answers, &key, &size_bytes, sizeof size_bytes);
    }
    *end = frame->stack + size_bytes;
    return size_bytes != 0;
}

bool mr_symbols_local(mr_symbols *symbols, const mr_frame_place *frame, uint64_t at,
                      uint64_t address, uint64_t size_bytes, char *name, size_t name_bytes,
                      const char **type)
{
    mr_frame_place inside;
    uint64_t entry = 0;
    module *self = module_of_frame(symbols, frame, &inside);
    *type = NULL;
    if (!self)
        return false;
    uint64_t at_inside = at ? at - self->bias : 0;
    mr_answer_key key = {{ASKS_LOCAL, inside.code, pointer_of(frame), at_inside,
                          address - frame->stack, size_bytes}};
    if (!kept_data(answers_of(symbols, self), &key, name, name_bytes, &entry)) {
        if (!open_module(self))
            return false;
        if (!mr_local_name(&self->code, &self->elf, &inside, at_inside, address, size_bytes, name,
                           name_bytes, &entry))
            name[0] = '\0';
        keep_data(&self->answers, &key, name, entry);
    }
    *type = name[0] ? find_type(symbols, self, entry) : NULL;
    return name[0] != '\0';
}
