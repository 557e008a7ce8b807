#include "contexts.h"

#include "base/assert.h"
#include "base/memory.h"
#include "trace/stacks.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAME_BYTES = 2304 };

void mr_contexts_free(mr_contexts *contexts)
{
    for (size_t i = 0; i < contexts->thread_count; i++)
        free(contexts->threads[i].calls);
    free(contexts->threads);
    mr_pairs_free(&contexts->known);
    mr_pairs_free(&contexts->frames);
    free(contexts->stack_of);
    free(contexts->location);
    free(contexts->own);
    *contexts = (mr_contexts){0};
}

void mr_contexts_forget(mr_contexts *contexts)
{
    mr_pairs_free(&contexts->known);
    memset(contexts->recent, 0, sizeof contexts->recent);
}

static mr_call_stack *calls_of(mr_contexts *contexts, uint32_t thread)
{
    void *threads = contexts->threads;
    if (thread < contexts->thread_count)
        return &contexts->threads[thread];
    if (!mr_grow(&threads, &contexts->thread_capacity, (size_t)thread + 1,
                 sizeof *contexts->threads))
        return NULL;
    contexts->threads = threads;
    while (contexts->thread_count <= thread)
        contexts->threads[contexts->thread_count++] = (mr_call_stack){0};
    return &contexts->threads[thread];
}

mr_call_stack *mr_contexts_calls(mr_contexts *contexts, uint32_t thread)
{
    return thread < contexts->thread_count ? &contexts->threads[thread] : NULL;
}

void mr_contexts_reach(mr_contexts *contexts, uint32_t thread, uint64_t address)
{
    if (thread < contexts->thread_count)
        contexts->threads[thread].at = address;
}

bool mr_contexts_enter(mr_contexts *contexts, uint32_t thread, uint64_t address,
                       const mr_frame_place *frame)
{
    mr_call_stack *self = calls_of(contexts, thread);
    void *calls = self ? self->calls : NULL;
    if (!self || !mr_grow(&calls, &self->capacity, self->count + 1, sizeof *self->calls))
        return false;
    self->calls = calls;
    self->calls[self->count++] = (mr_call){.address = address,
                                           .frame = *frame,
                                           .number = ++contexts->call_count,
                                           .stack = MR_PAIRS_NONE};
    self->at = frame->code;
    return true;
}

bool mr_contexts_leave(mr_contexts *contexts, uint32_t thread, uint64_t count)
{
    mr_call_stack *self = calls_of(contexts, thread);
    if (!self)
        return false;
    count = count < self->count ? count : self->count;
    self->count -= (size_t)count;
    if (count)
        self->at = self->calls[self->count].address;
    return true;
}

/* The place of a frame without what `strip` says. */
static const char *stripped(const mr_contexts *contexts, const char *place)
{
    const char *strip = contexts->strip;
    const char *at = strip && *strip ? strstr(place, strip) : NULL;
    return at && at[strlen(strip)] ? at + strlen(strip) : place;
}

/* The name of a frame, see trace/stacks.h. */
static bool add_frame(mr_contexts *contexts, const mr_code_frame *frame, uint32_t *number)
{
    char name[NAME_BYTES];
    mr_names *frames = &contexts->trace->frames;
    snprintf(name, sizeof name, "%s\t%s%s", frame->function, stripped(contexts, frame->place),
             frame->inlined ? "\tinlined" : "");
    for (char *at = name; *at; at++)
        if (*at == '\n' || *at == '\r')
            *at = ' ';
    if (!mr_names_add(frames, name, (uint32_t)strlen(name), number))
        return false;
    void *own = contexts->own;
    if (!mr_grow(&own, &contexts->own_capacity, frames->count, sizeof *contexts->own))
        return false;
    contexts->own = own;
    contexts->own[*number] = frame->is_own;
    return true;
}

static bool push_frame(mr_contexts *contexts, uint32_t caller, const mr_code_frame *frame,
                       uint32_t *stack)
{
    mr_trace *trace = contexts->trace;
    uint32_t number, known = contexts->frames.count;
    if (!add_frame(contexts, frame, &number))
        return false;
    uint32_t at = mr_pairs_add(&contexts->frames, (mr_pair){caller, number});
    if (at == MR_PAIRS_NONE)
        return false;
    *stack = at + 1;
    if (at < known)
        return true;
    void *stacks = trace->stacks, *location = contexts->location;
    if (!mr_grow(&stacks, &contexts->stack_capacity, (size_t)at + 2, sizeof *trace->stacks))
        return false;
    trace->stacks = stacks;
    if (!mr_grow(&location, &contexts->location_capacity, (size_t)at + 2,
                 sizeof *contexts->location))
        return false;
    contexts->location = location;
    trace->stacks[0] = (mr_stack){0};
    trace->stacks[*stack] = (mr_stack){caller, number};
    trace->stack_count = *stack + 1;
    contexts->location[0] = contexts->location[*stack] = 0;
    return true;
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Is the code left out of stacks: code of the runtime library, or code of the C library that calls
 * the first function of a thread? */
static bool is_hidden(const mr_code *code, uint32_t caller)
{
    return begins_with(code->module_name, "libmaxrace_rt.so") ||
           (!caller && !code->has_lines &&
            (begins_with(code->module_name, "libc.so") ||
             begins_with(code->module_name, "ld-linux")));
}

/* The stack of a code address that was called by `caller`. */
static bool find_stack(mr_contexts *contexts, uint32_t caller, uint64_t address, uint32_t *stack)
{
    uint32_t count = contexts->known.count;
    uint32_t at = mr_pairs_add(&contexts->known, (mr_pair){caller, address});
    if (at == MR_PAIRS_NONE)
        return false;
    if (at < count) {
        *stack = contexts->stack_of[at];
        return true;
    }
    void *stack_of = contexts->stack_of;
    if (!mr_grow(&stack_of, &contexts->known_capacity, (size_t)at + 1, sizeof *contexts->stack_of))
        return false;
    contexts->stack_of = stack_of;
    const mr_code *code = address ? mr_symbols_code(contexts->symbols, address - 1) : NULL;
    if (address && !code)
        return false;
    *stack = caller;
    if (code && !is_hidden(code, caller))
        for (uint32_t i = code->frame_count; i-- > 0;)
            if (!push_frame(contexts, *stack, &code->frames[i], stack))
                return false;
    contexts->stack_of[at] = *stack;
    return true;
}

/* The same as find_stack. A loop asks for the same addresses again, so recent answers are kept. */
bool mr_contexts_above(mr_contexts *contexts, uint32_t caller, uint64_t address, uint32_t *stack)
{
    mr_recent_stack *recent = &contexts->recent[(address ^ address >> 8) % MR_CONTEXTS_RECENT];
    if (address && recent->address == address && recent->caller == caller) {
        *stack = recent->stack;
        return true;
    }
    if (!find_stack(contexts, caller, address, stack))
        return false;
    *recent = (mr_recent_stack){address, caller, *stack};
    return true;
}

bool mr_contexts_caller(mr_contexts *contexts, uint32_t thread, uint32_t *stack)
{
    mr_call_stack *self = calls_of(contexts, thread);
    if (!self)
        return false;
    size_t from = self->count;
    while (from && self->calls[from - 1].stack == MR_PAIRS_NONE)
        from--;
    *stack = from ? self->calls[from - 1].stack : 0;
    for (; from < self->count; from++) {
        if (!mr_contexts_above(contexts, *stack, self->calls[from].address, stack))
            return false;
        self->calls[from].stack = *stack;
    }
    return true;
}

/* Adds the place of a frame to the name. Of a file below /usr only the last part of the path is
 * used. */
static void put_place(const mr_contexts *contexts, uint32_t stack, char *name, size_t name_bytes)
{
    const mr_trace *trace = contexts->trace;
    MR_ASSERT(stack < trace->stack_count && trace->stacks[stack].frame < trace->frames.count);
    mr_frame frame = mr_frame_of(&trace->frames.items[trace->stacks[stack].frame]);
    const char *place = frame.place;
    uint32_t length = frame.place_length;
    for (uint32_t i = 0; i < frame.place_length && begins_with(frame.place, "/usr/"); i++)
        if (frame.place[i] == '/') {
            place = frame.place + i + 1;
            length = frame.place_length - i - 1;
        }
    size_t used = strlen(name);
    snprintf(name + used, name_bytes - used, "%s%.*s", used ? " < " : "", (int)length, place);
}

static bool name_location(mr_contexts *contexts, uint32_t stack, uint32_t *location)
{
    mr_trace *trace = contexts->trace;
    char name[NAME_BYTES] = "";
    if (stack)
        put_place(contexts, stack, name, sizeof name);
    uint32_t own = stack;
    while (own && !contexts->own[trace->stacks[own].frame]) {
        MR_ASSERT(trace->stacks[own].caller < own); /* a caller is older: the walk ends */
        own = trace->stacks[own].caller;
    }
    if (own && own != stack)
        put_place(contexts, own, name, sizeof name);
    if (!stack)
        snprintf(name, sizeof name, "?");
    if (!mr_names_add(&trace->locations, name, (uint32_t)strlen(name), location))
        return false;
    if (stack)
        contexts->location[stack] = *location + 1;
    return true;
}

bool mr_contexts_location(mr_contexts *contexts, uint32_t stack, uint32_t *location)
{
    if (!stack || !contexts->location[stack])
        return name_location(contexts, stack, location);
    *location = contexts->location[stack] - 1;
    return true;
}
