#include "context.h"

#include "base/assert.h"
#include "escape.h"
#include "findings.h"
#include "trace/stacks.h"

#include <inttypes.h>
#include <stdlib.h>

enum { FRAMES_SHOWN = 16 };

static int compare_events(const void *one, const void *two)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)two;
    return (a > b) - (a < b);
}

static bool add_race(mr_u32s *events, const mr_witness *witness)
{
    return mr_u32s_push(events, witness->first) && mr_u32s_push(events, witness->second);
}

static bool add_waits(mr_u32s *events, const mr_trace *trace, const mr_witness *witness)
{
    for (uint32_t i = 0; i < witness->wait_count; i++)
        if (!mr_u32s_push(events, witness->waits[i]) ||
            !mr_u32s_push(events, mr_finding_held_since(trace, witness->waits[i],
                                                        mr_finding_next_wait(witness, i))))
            return false;
    return true;
}

static bool add_finding(mr_u32s *events, const mr_trace *trace, const mr_witness *witness)
{
    mr_witness_kind kind = witness->kind;
    if (kind == MR_WITNESS_DEADLOCK)
        return add_waits(events, trace, witness);
    if (kind == MR_WITNESS_NULL || kind == MR_WITNESS_DANGLING || kind == MR_WITNESS_DOUBLE_FREE) {
        if (!mr_u32s_push(events, mr_finding_deref(trace, witness)) ||
            (kind != MR_WITNESS_NULL && !mr_u32s_push(events, witness->freed)))
            return false;
    }
    return (witness->first == MR_NONE || mr_u32s_push(events, witness->first)) &&
           mr_u32s_push(events, witness->second);
}

static bool choose_events(mr_context *context, const mr_trace *trace, const mr_result *result)
{
    mr_u32s events = {0};
    bool ok = mr_u32s_push(&events, 0); /* so that there is an array */
    events.count = 0;
    for (size_t i = 0; ok && i < result->race_count; i++)
        ok = add_race(&events, &result->races[i].witness);
    for (size_t i = 0; ok && i < result->finding_count; i++)
        ok = add_finding(&events, trace, &result->findings[i].witness);
    context->events = events.items;
    if (!ok)
        return false;
    qsort(events.items, events.count, sizeof *events.items, compare_events);
    for (size_t i = 0; i < events.count; i++)
        if (!i || events.items[i] != context->events[context->event_count - 1])
            context->events[context->event_count++] = events.items[i];
    return true;
}

/* The open acquires of each thread are a list: `held` has every acquire so far, open[thread] is the
 * position in `held` of the innermost open one (MR_NONE: none), and next[position] is the position
 * of the next outer one. Adds the acquire `event`. */
static bool open_section(uint32_t *open, mr_u32s *held, mr_u32s *next, uint32_t event,
                         uint32_t thread)
{
    if (!mr_u32s_push(held, event) || !mr_u32s_push(next, open[thread]))
        return false;
    open[thread] = (uint32_t)held->count - 1;
    return true;
}

/* Closes the section that the release ends. It need not be the innermost one. */
static void close_section(const mr_trace *trace, uint32_t *open, const mr_u32s *held, mr_u32s *next,
                          uint32_t release)
{
    uint32_t *at = &open[trace->thread[release]];
    MR_ASSERT(held->count == next->count);
    while (*at != MR_NONE) {
        MR_ASSERT(held->items && next->items && *at < held->count);
        if (held->items[*at] == trace->link[release]) {
            *at = next->items[*at];
            return;
        }
        at = &next->items[*at];
    }
}

/* Adds the open acquires of the thread to the list, in the order of the trace. */
static bool list_held(mr_context *context, uint32_t top, const mr_u32s *held, const mr_u32s *next)
{
    size_t first = context->acquires.count;
    MR_ASSERT(top == MR_NONE || (held->items && next->items));
    for (uint32_t at = top; at != MR_NONE; at = next->items[at]) {
        MR_ASSERT(next->items[at] == MR_NONE || next->items[at] < at); /* from the inside out */
        if (!mr_u32s_push(&context->acquires, held->items[at]))
            return false;
    }
    if (context->acquires.count > first)
        qsort(context->acquires.items + first, context->acquires.count - first,
              sizeof *context->acquires.items, compare_events);
    return true;
}

static bool sweep_events(mr_context *context, uint32_t *open, mr_u32s *held, mr_u32s *next)
{
    const mr_trace *trace = context->trace;
    uint32_t event = 0;
    for (size_t i = 0; i < context->event_count; i++) {
        for (; event < context->events[i]; event++) {
            uint8_t op = trace->op[event];
            if (trace->link[event] == MR_NESTED)
                continue;
            if (mr_op_acquires(op) && !open_section(open, held, next, event, trace->thread[event]))
                return false;
            if (mr_op_releases(op))
                close_section(trace, open, held, next, event);
        }
        context->first[i] = context->acquires.count;
        if (!list_held(context, open[trace->thread[event]], held, next))
            return false;
    }
    context->first[context->event_count] = context->acquires.count;
    return true;
}

bool mr_context_init(mr_context *context, const mr_trace *trace, const mr_result *result)
{
    mr_u32s held = {0}, next = {0};
    *context = (mr_context){0};
    if (!trace->stack)
        return true;
    context->trace = trace;
    if (!choose_events(context, trace, result))
        return false;
    context->first = mr_calloc(context->event_count + 1, sizeof *context->first);
    uint32_t *open = mr_calloc(trace->threads.count + 1ull, sizeof *open);
    for (uint32_t i = 0; open && i < trace->threads.count; i++)
        open[i] = MR_NONE;
    bool ok = context->first && open && sweep_events(context, open, &held, &next);
    free(open);
    mr_u32s_free(&held);
    mr_u32s_free(&next);
    return ok;
}

void mr_context_free(mr_context *context)
{
    free(context->events);
    free(context->first);
    mr_u32s_free(&context->acquires);
    *context = (mr_context){0};
}

/* The acquires of an event of interest. */
static const uint32_t *held_at(const mr_context *context, uint32_t event, size_t *count)
{
    const uint32_t *found = bsearch(&event, context->events, context->event_count,
                                    sizeof *context->events, compare_events);
    *count = 0;
    if (!found)
        return NULL;
    size_t index = (size_t)(found - context->events);
    *count = context->first[index + 1] - context->first[index];
    return context->acquires.items ? context->acquires.items + context->first[index] : NULL;
}

static void print_frame(FILE *stream, mr_frame frame)
{
    char *function = mr_function_short(frame.function, frame.function_length);
    char *place = mr_strndup(frame.place, frame.place_length);
    if (function)
        mr_escape_print(stream, function);
    if (frame.function_length && frame.place_length)
        fputs(" at ", stream);
    if (place)
        mr_escape_print(stream, place);
    if (frame.inlined)
        fputs(" (inlined)", stream);
    free(function);
    free(place);
}

/* How many frames of libraries come one after the other from this one on. */
static uint32_t library_frames(const mr_trace *trace, uint32_t stack)
{
    uint32_t count = 0;
    for (; stack; stack = trace->stacks[stack].caller, count++) {
        mr_frame frame = mr_frame_of(&trace->frames.items[trace->stacks[stack].frame]);
        if (mr_frame_is_own(&frame))
            break;
    }
    return count;
}

static uint32_t outer(const mr_trace *trace, uint32_t stack, uint32_t count)
{
    while (count-- > 0)
        stack = trace->stacks[stack].caller;
    return stack;
}

static uint32_t stack_depth(const mr_trace *trace, uint32_t stack)
{
    uint32_t count = 0;
    for (; stack; stack = trace->stacks[stack].caller)
        count++;
    return count;
}

/* The innermost frame and those of the program itself: two or more frames of libraries are one line, unless
 * there are no others. */
static void print_stack(const mr_trace *trace, FILE *stream, int indent, uint32_t event)
{
    uint32_t stack = mr_trace_stack(trace, event), depth = stack_depth(trace, stack);
    bool fold = library_frames(trace, stack) < depth;
    for (int i = 0; stack && i < FRAMES_SHOWN; i++) {
        uint32_t libraries = i > 0 && fold ? library_frames(trace, stack) : 0;
        if (libraries > 1) {
            fprintf(stream, "%*s... %" PRIu32 " frames of libraries\n", indent, "", libraries);
            stack = outer(trace, stack, libraries);
            continue;
        }
        fprintf(stream, "%*s%s ", indent, "", i ? "by" : "in");
        print_frame(stream, mr_frame_of(&trace->frames.items[trace->stacks[stack].frame]));
        fputs("\n", stream);
        stack = trace->stacks[stack].caller;
    }
    uint32_t left = stack_depth(trace, stack);
    if (left)
        fprintf(stream, "%*s... %" PRIu32 " more frame%s\n", indent, "", left, mr_phrase_s(left));
}

/* "lock m (M1), taken at bank.c:20:3, event 17" */
static void print_acquire(const mr_trace *trace, FILE *stream, uint32_t event)
{
    bool shared = mr_op_is_shared(trace->op[event]);
    fputs(shared ? "          holds, shared, " : "          holds ", stream);
    mr_phrase_name(stream, &trace->locks, trace->operand[event]);
    fputs(", taken at ", stream);
    mr_phrase_name(stream, &trace->locations, trace->location[event]);
    fprintf(stream, ", event %" PRIu32 "\n", event);
    print_stack(trace, stream, 12, event);
}

void mr_context_print(const mr_context *context, FILE *stream, uint32_t event)
{
    size_t count;
    if (!context->trace)
        return;
    print_stack(context->trace, stream, 10, event);
    const uint32_t *acquires = held_at(context, event, &count);
    for (size_t i = 0; i < count; i++)
        print_acquire(context->trace, stream, acquires[i]);
}

void mr_context_print_start(const mr_context *context, FILE *stream, uint32_t thread)
{
    const mr_trace *trace = context->trace;
    uint32_t fork = trace ? trace->thread_info[thread].fork : MR_NONE;
    if (fork == MR_NONE)
        return;
    fputs("  thread  ", stream);
    mr_phrase_name(stream, &trace->threads, thread);
    fputs(" was started by ", stream);
    mr_phrase_name(stream, &trace->threads, trace->thread[fork]);
    fputs(" at ", stream);
    mr_phrase_name(stream, &trace->locations, trace->location[fork]);
    fprintf(stream, ", event %" PRIu32 "\n", fork);
    print_stack(trace, stream, 10, fork);
}

static void put_part(mr_json *self, const char *key, const char *text, uint32_t length)
{
    char *copy = mr_strndup(text, length);
    if (copy)
        mr_json_put_text(self, key, copy);
    else
        self->ok = false;
    free(copy);
}

/* "stack": from the innermost frame on; left out when it is not known. */
static void put_stack(mr_json *self, const mr_trace *trace, uint32_t event)
{
    uint32_t stack = mr_trace_stack(trace, event);
    json_t *frames = json_array();
    if (!stack) {
        json_decref(frames);
        return;
    }
    for (; stack; stack = trace->stacks[stack].caller) {
        mr_frame frame = mr_frame_of(&trace->frames.items[trace->stacks[stack].frame]);
        mr_json object = mr_json_new();
        put_part(&object, "function", frame.function, frame.function_length);
        put_part(&object, "place", frame.place, frame.place_length);
        mr_json_put(&object, "inlined", json_boolean(frame.inlined));
        self->ok = self->ok && object.ok;
        if (json_array_append_new(frames, object.json) != 0)
            self->ok = false;
    }
    mr_json_put(self, "stack", frames);
}

static void put_place(mr_json *self, const mr_trace *trace, uint32_t event)
{
    mr_json_put_number(self, "event", event);
    mr_json_put_name(self, "location", "location_text", &trace->locations, trace->location[event]);
    put_stack(self, trace, event);
}

void mr_context_put(const mr_context *context, mr_json *access, uint32_t event)
{
    const mr_trace *trace = context->trace;
    size_t count;
    if (!trace)
        return;
    put_stack(access, trace, event);
    json_t *locks = json_array();
    const uint32_t *acquires = held_at(context, event, &count);
    for (size_t i = 0; i < count; i++) {
        mr_json lock = mr_json_new();
        mr_json_put_name(&lock, "lock", "lock_text", &trace->locks, trace->operand[acquires[i]]);
        mr_json_put(&lock, "shared", json_boolean(mr_op_is_shared(trace->op[acquires[i]])));
        put_place(&lock, trace, acquires[i]);
        access->ok = access->ok && lock.ok;
        if (json_array_append_new(locks, lock.json) != 0)
            access->ok = false;
    }
    mr_json_put(access, "locks", locks);
    uint32_t fork = trace->thread_info[trace->thread[event]].fork;
    if (fork == MR_NONE)
        return;
    mr_json start = mr_json_new();
    mr_json_put_name(&start, "thread", "thread_text", &trace->threads, trace->thread[fork]);
    put_place(&start, trace, fork);
    mr_json_put_object(access, "start", start);
}
