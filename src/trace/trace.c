#include "trace.h"

#include "base/assert.h"
#include "outlook.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void mr_trace_free(mr_trace *trace)
{
    if (!trace)
        return;
    void *const blocks[] = {
        trace->chain,         trace->path,           trace->values,      trace->variable_info,
        trace->thread_info,   trace->stacks,         trace->object_info, trace->object_variables,
        trace->members.items, trace->members.object, trace->runs};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
    mr_value_types_free(&trace->types);
    mr_ending_free(&trace->ending);
    mr_spill_free(&trace->spill);
    mr_u32s_free(&trace->reach_items);
    mr_names *const names[] = {&trace->threads,   &trace->variables, &trace->locks,
                               &trace->locations, &trace->calls,     &trace->reach_names,
                               &trace->frames,    &trace->objects};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        mr_names_free(names[i]);
    if (trace->outlook)
        mr_outlook_free(trace->outlook);
    free(trace->outlook);
    free(trace);
}

uint64_t mr_trace_line(const mr_trace *trace, uint64_t event)
{
    MR_REQUIRE(event < trace->event_count);
    size_t low = 0, high = trace->line_step_count; /* the step is in [low, high) */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (trace->line_steps[middle].event <= event)
            low = middle;
        else
            high = middle;
    }
    MR_ASSERT(trace->line_step_count && trace->line_steps[low].event <= event);
    return event + trace->line_steps[low].offset;
}

/* Text that may be longer than its buffer; `length` counts all of it. */
typedef struct print_target {
    char *buffer;
    size_t size_bytes, length;
} print_target;

static void print(print_target *target, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void print(print_target *target, const char *format, ...)
{
    size_t used = target->length < target->size_bytes ? target->length : target->size_bytes;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(target->buffer + used, target->size_bytes - used, format, arguments);
    va_end(arguments);
    target->length += length > 0 ? (size_t)length : 0;
}

static const char *name_text(const mr_names *names, uint32_t number, bool for_people)
{
    return for_people ? mr_names_display(names, number) : names->items[number].text;
}

const char *mr_trace_value_text(const mr_trace *trace, uint32_t variable, int64_t value,
                                char text[MR_TYPED_VALUE_BYTES])
{
    const char *type = mr_value_types_text(&trace->types, variable);
    return mr_typed_value_text(type, value, text) ? text : mr_value_text(value, text);
}

static void print_number(print_target *target, char sign, const mr_trace *trace, uint32_t event,
                         int64_t value, bool for_people)
{
    char text[MR_TYPED_VALUE_BYTES];
    if (for_people)
        print(target, "%c%s", sign, mr_trace_value_text(trace, trace->operand[event], value, text));
    else
        print(target, "%c%lld", sign, (long long)value);
}

static void print_value(print_target *target, const mr_trace *trace, uint32_t event,
                        bool for_people)
{
    uint32_t value = trace->value[event];
    if (!value)
        return;
    if (mr_op_updates(trace->op[event])) {
        MR_ASSERT(value < trace->update_count);
        mr_update update = trace->updates[value];
        print_number(target, '=', trace, event, trace->values[update.read_value], for_people);
        print_number(target, '>', trace, event, trace->values[update.written_value], for_people);
    } else {
        MR_ASSERT(value < trace->value_count);
        print_number(target, '=', trace, event, trace->values[value], for_people);
    }
}

/* "=address+bytes" */
static void print_extent(print_target *target, const mr_trace *trace, uint32_t event)
{
    uint32_t value = trace->value[event];
    if (!value)
        return;
    MR_ASSERT(value < trace->update_count);
    mr_update extent = trace->updates[value];
    print(target, "=0x%llx+%llu", (unsigned long long)trace->values[extent.read_value],
          (unsigned long long)trace->values[extent.written_value]);
}

static void print_reach(print_target *target, const mr_trace *trace, uint32_t event)
{
    MR_ASSERT(trace->value[event] < trace->reach_count);
    mr_reach reach = trace->reaches[trace->value[event]];
    for (uint32_t i = 0; i < reach.count; i++) {
        uint32_t name = trace->reach_items.items[reach.first + i];
        print(target, "%c%s", i ? ',' : ':', trace->reach_names.items[name].text);
    }
    if (!reach.count)
        print(target, ":");
}

const mr_names *mr_trace_operand_names(const mr_trace *trace, mr_op op)
{
    switch (mr_op_operand_kind(op)) {
    case MR_OPERAND_VARIABLE:
        return &trace->variables;
    case MR_OPERAND_LOCK:
        return &trace->locks;
    case MR_OPERAND_THREAD:
        return &trace->threads;
    case MR_OPERAND_CALL:
        return &trace->calls;
    case MR_OPERAND_OBJECT:
        return &trace->objects;
    case MR_OPERAND_NONE:
        break;
    }
    return NULL;
}

size_t mr_trace_print_op(const mr_trace *trace, uint32_t event, bool for_people, char *buffer,
                         size_t size_bytes)
{
    MR_REQUIRE(event < trace->event_count && size_bytes);
    print_target target = {.buffer = buffer, .size_bytes = size_bytes};
    mr_op op = (mr_op)trace->op[event];
    uint32_t operand = trace->operand[event];
    bool has_order = mr_op_fences((uint8_t)op) || mr_trace_memory_order(trace, event);
    print(&target, "%s%s(", mr_op_name(op),
          has_order ? mr_memory_order_suffix(mr_trace_memory_order(trace, event)) : "");
    const mr_names *names = mr_trace_operand_names(trace, op);
    MR_ASSERT(!names || operand < names->count);
    if (names)
        print(&target, "%s", name_text(names, operand, for_people));
    if (names == &trace->variables)
        print_value(&target, trace, event, for_people);
    if (mr_op_starts_life((uint8_t)op))
        print_extent(&target, trace, event);
    if (mr_op_calls((uint8_t)op))
        print_reach(&target, trace, event);
    print(&target, ")");
    return target.length;
}
