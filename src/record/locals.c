#include "locals.h"

#include "base/memory.h"
#include "naming.h"

#include "runtime/log.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAME_BYTES = 2048 };

void mr_locals_forget(mr_locals *locals)
{
    locals->age++;
}

void mr_locals_free(mr_locals *locals)
{
    mr_pairs_free(&locals->frames);
    mr_pairs_free(&locals->places);
    mr_pairs_free(&locals->asked);
    free(locals->frame_bytes);
    free(locals->answer_of);
    free(locals->variables.items);
    free(locals->locks.items);
    mr_names_free(&locals->names);
    free(locals->types);
}

/* Adds the key. `*is_new` says that the key was not there; `*values` then has room for its value.
 */
static bool add_key(mr_pairs *table, mr_pair key, void **values, size_t *capacity,
                    size_t value_bytes, uint32_t *number, bool *is_new)
{
    uint32_t known = table->count;
    *number = mr_pairs_add(table, key);
    *is_new = *number == known;
    return *number != MR_PAIRS_NONE &&
           (!*is_new || mr_grow(values, capacity, (size_t)*number + 1, value_bytes));
}

/* Sets kind and size of the call's frame. False: no memory. */
static bool measure(mr_locals *locals, mr_call *call)
{
    const mr_frame_place *frame = &call->frame;
    mr_pair key = {frame->code | locals->age << 48, frame->frame ? frame->frame - frame->stack : 0};
    void *values = locals->frame_bytes;
    uint32_t number;
    bool is_new;
    if (call->frame_kind)
        return true;
    bool ok = add_key(&locals->frames, key, &values, &locals->frame_capacity,
                      sizeof *locals->frame_bytes, &number, &is_new);
    locals->frame_bytes = values;
    if (!ok)
        return false;
    if (is_new) {
        uint64_t end;
        bool known = frame->stack && mr_symbols_frame_end(locals->symbols, frame, &end);
        locals->frame_bytes[number] = known ? end - frame->stack : 0;
    }
    call->frame_bytes = locals->frame_bytes[number];
    call->frame_kind = number + 1;
    return true;
}

/* The innermost call whose stack pointer is not above the address, or NULL. An inner frame lies
 * below an outer one, except on a signal's own stack; there the result may be NULL. */
static mr_call *call_around(const mr_call_stack *stack, uint64_t address)
{
    size_t low = 0, high = stack->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (stack->calls[middle].frame.stack > address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < stack->count ? &stack->calls[low] : NULL;
}

/* Adds the name of a variable of the source, with its type. False: no memory. */
static bool add_text(mr_locals *locals, const char *name, const char *type, uint32_t *text)
{
    uint32_t known = locals->names.count;
    void *types = locals->types;
    if (!mr_names_add(&locals->names, name, (uint32_t)strlen(name), text) ||
        !mr_grow(&types, &locals->type_capacity, (size_t)*text + 1, sizeof type))
        return false;
    locals->types = types;
    if (*text == known)
        locals->types[*text] = type;
    else if (locals->types[*text] != type)
        locals->types[*text] = NULL;
    return true;
}

/* The name of the variable in the frame: `*answer` is its number plus 1, or 0 when no name is
 * certain. False: no memory. */
static bool ask(mr_locals *locals, const mr_call *call, uint64_t at, const mr_local_use *use,
                uint32_t *answer)
{
    char name[NAME_BYTES];
    void *values = locals->answer_of;
    uint32_t number, text;
    bool is_new;
    uint64_t offset = use->address - call->frame.stack;
    mr_pair key = {(uint64_t)call->frame_kind << 32 | (uint32_t)offset, use->bytes};
    uint32_t place = offset > UINT32_MAX ? MR_PAIRS_NONE : mr_pairs_add(&locals->places, key);
    *answer = 0;
    if (place == MR_PAIRS_NONE)
        return offset > UINT32_MAX;
    bool ok = add_key(&locals->asked, (mr_pair){place, at}, &values, &locals->asked_capacity,
                      sizeof *locals->answer_of, &number, &is_new);
    locals->answer_of = values;
    if (!ok)
        return false;
    if (is_new) {
        const char *type;
        bool known = mr_symbols_local(locals->symbols, &call->frame, at, use->address, use->bytes,
                                      name, sizeof name, &type);
        if (known && !add_text(locals, name, type, &text))
            return false;
        locals->answer_of[number] = known ? text + 1 : 0;
    }
    *answer = locals->answer_of[number];
    return true;
}

static void add_name(mr_local_names *names, uint32_t name)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (names->names[i] == name)
            return;
    names->unknown = names->unknown || names->count == MR_LOCAL_NAMES;
    if (!names->unknown)
        names->names[names->count++] = name;
}

/* Adds the name of a period: its number plus 1; 0 when the period has none. */
static void add_period(mr_local_names *names, uint32_t name)
{
    if (name)
        add_name(names, name - 1);
    else
        names->unknown = true;
}

static void end_period(mr_local *self)
{
    if (self->is_used)
        add_period(&self->all, self->name);
    if (self->is_shared)
        add_period(&self->shared, self->name);
    self->is_used = self->is_shared = false;
}

static mr_local *local_of(mr_local_list *list, uint32_t number)
{
    void *items = list->items;
    if (!mr_grow(&items, &list->capacity, (size_t)number + 1, sizeof *list->items))
        return NULL;
    list->items = items;
    while (list->count <= number)
        list->items[list->count++] = (mr_local){.call = 0};
    return &list->items[number];
}

/* Finds the call whose frame holds the address, or NULL, and the code address `*at` that it has
 * reached. False: no memory. */
static bool find_call(mr_locals *locals, const mr_local_use *use, const mr_call **call,
                      uint64_t *at)
{
    const mr_call_stack *stack = mr_contexts_calls(locals->contexts, use->life->thread);
    mr_call *found = stack ? call_around(stack, use->address) : NULL;
    *call = NULL;
    if (!found)
        return true;
    if (!measure(locals, found))
        return false;
    if (use->address - found->frame.stack >= found->frame_bytes)
        return true;
    *call = found;
    *at = found + 1 < stack->calls + stack->count ? found[1].address : stack->at;
    return true;
}

static bool note(mr_locals *locals, mr_local_list *list, uint32_t number, const mr_local_use *use)
{
    uint32_t name = 0;
    uint64_t at = 0;
    const mr_call *call;
    if (!use->life->number || use->life->kind != MR_LOG_MEMORY_STACK)
        return true;
    mr_local *self = local_of(list, number);
    if (!self || !find_call(locals, use, &call, &at))
        return false;
    uint64_t call_number = call ? call->number : 0;
    if (!self->is_used || self->call != call_number || self->at != at) {
        if (call && !ask(locals, call, at, use, &name))
            return false;
        if (self->call != call_number || self->name != name)
            end_period(self);
        self->is_used = true;
        self->call = call_number;
        self->name = name;
        self->at = at;
        self->owner = use->life->thread;
        self->name_bytes = mr_naming_stack_bytes(use->life, use->address);
    }
    self->is_shared = self->is_shared || use->thread != self->owner;
    return true;
}

bool mr_locals_note_variable(mr_locals *locals, uint32_t variable, const mr_local_use *use)
{
    return note(locals, &locals->variables, variable, use);
}

bool mr_locals_note_lock(mr_locals *locals, uint32_t lock, const mr_local_use *use)
{
    return note(locals, &locals->locks, lock, use);
}

bool mr_locals_is_own(mr_locals *locals, uint32_t variable, const mr_local_use *use, bool *is_own)
{
    const mr_call *call;
    uint64_t at;
    *is_own = use->life->number && use->life->kind == MR_LOG_MEMORY_STACK &&
              use->life->thread == use->thread;
    if (!*is_own || variable >= locals->variables.count)
        return true;
    const mr_local *self = &locals->variables.items[variable];
    if (!find_call(locals, use, &call, &at))
        return false;
    *is_own = !self->is_shared || self->call != (call ? call->number : 0);
    return true;
}

/* The names that count. */
static const mr_local_names *names_of(const mr_local *self)
{
    return self->shared.count || self->shared.unknown ? &self->shared : &self->all;
}

/* The type that all of the names have; NULL: there is none. */
static const char *type_of(const mr_locals *locals, const mr_local_names *names)
{
    const char *type = locals->types[names->names[0]];
    for (uint32_t i = 1; i < names->count; i++)
        if (locals->types[names->names[i]] != type)
            return NULL;
    return type;
}

/* Writes the text for people, without a thread before it: "f.x", "f.x/g.y.wake.2". False: the text
 * is not known. */
static bool put_names(const mr_locals *locals, mr_local *self, const char *name, char *text)
{
    end_period(self);
    const mr_local_names *names = names_of(self);
    size_t used = 0;
    for (uint32_t i = 0; i < names->count && used < NAME_BYTES; i++)
        used += (size_t)snprintf(text + used, NAME_BYTES - used, "%s%s", i ? "/" : "",
                                 locals->names.items[names->names[i]].text);
    if (used < NAME_BYTES)
        used += (size_t)snprintf(text + used, NAME_BYTES - used, "%s", name + self->name_bytes);
    return names->count && !names->unknown && used < NAME_BYTES;
}

/* The stacks that have a variable or lock with a certain name. */
typedef struct holder {
    uint32_t owner, count; /* count: variables that have got the name so far */
    bool several;          /* several threads' stacks have the name, or something else has it */
} holder;

typedef struct texts {
    mr_names names;
    holder *holders; /* by name */
    size_t capacity;
} texts;

static holder *holder_of(texts *self, const char *text, uint32_t owner)
{
    uint32_t number, known = self->names.count;
    void *holders = self->holders;
    if (!mr_names_add(&self->names, text, (uint32_t)strlen(text), &number) ||
        !mr_grow(&holders, &self->capacity, (size_t)number + 1, sizeof *self->holders))
        return NULL;
    self->holders = holders;
    if (number == known)
        self->holders[number] = (holder){.owner = owner};
    return &self->holders[number];
}

/* The first pass: fills `seen` with the stacks that have each name. False: no memory. */
static bool collect(const mr_locals *locals, mr_local_list *list, const mr_names *names,
                    texts *seen)
{
    char text[NAME_BYTES];
    uint32_t other;
    for (uint32_t i = 0; i < list->count; i++) {
        mr_local *self = &list->items[i];
        if (!self->name_bytes || !put_names(locals, self, names->items[i].text, text))
            continue;
        holder *found = holder_of(seen, text, self->owner);
        if (!found)
            return false;
        found->several = found->several || found->owner != self->owner ||
                         mr_names_find(names, text, (uint32_t)strlen(text), &other);
    }
    return true;
}

static bool set_type(const mr_locals *locals, uint32_t variable, const mr_local_names *names)
{
    const char *type = type_of(locals, names);
    return !type ||
           mr_value_types_set_text(&locals->trace->types, variable, type, (uint32_t)strlen(type));
}

/* The second pass: sets the texts and the types. False: no memory. */
static bool set(const mr_locals *locals, mr_local_list *list, mr_names *names, texts *seen)
{
    char text[NAME_BYTES], full[NAME_BYTES + 64];
    for (uint32_t i = 0; i < list->count; i++) {
        mr_local *self = &list->items[i];
        if (!self->name_bytes || !put_names(locals, self, names->items[i].text, text))
            continue;
        holder *found = holder_of(seen, text, self->owner);
        if (!found)
            return false;
        snprintf(full, sizeof full, "%s", text);
        if (found->several)
            snprintf(full, sizeof full, "T%u.%s", self->owner, text);
        if (found->several && !(found = holder_of(seen, full, self->owner)))
            return false;
        size_t used = strlen(full);
        if (found->count++)
            snprintf(full + used, sizeof full - used, "#%u", found->count);
        if (!mr_names_set_display(names, i, full, (uint32_t)strlen(full)) ||
            (names == &locals->trace->variables && !set_type(locals, i, names_of(self))))
            return false;
    }
    return true;
}

static bool finish(const mr_locals *locals, mr_local_list *list, mr_names *names)
{
    texts seen = {.holders = NULL};
    mr_names_init(&seen.names);
    bool ok = collect(locals, list, names, &seen) && set(locals, list, names, &seen);
    mr_names_free(&seen.names);
    free(seen.holders);
    return ok;
}

bool mr_locals_finish(mr_locals *locals)
{
    return finish(locals, &locals->variables, &locals->trace->variables) &&
           finish(locals, &locals->locks, &locals->trace->locks);
}
