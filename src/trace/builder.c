#include "builder.h"

#include "index.h"

#include <stdlib.h>
#include <string.h>

bool mr_builder_init(mr_builder *builder, const char *path)
{
    *builder = (mr_builder){.trace = mr_calloc(1, sizeof *builder->trace)};
    for (int i = 0; i < MR_DIRECTIVE_COUNT; i++)
        mr_names_init(&builder->directives[i]);
    mr_trace *trace = builder->trace;
    if (!trace)
        return false;
    mr_names *names[] = {&trace->threads, &trace->variables,   &trace->locks, &trace->locations,
                         &trace->calls,   &trace->reach_names, &trace->frames};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        mr_names_init(names[i]);
    trace->path = mr_strndup(path, strlen(path));
    return trace->path != NULL;
}

void mr_builder_free(mr_builder *builder)
{
    mr_trace_free(builder->trace);
    mr_keys_free(&builder->values);
    for (int i = 0; i < MR_DIRECTIVE_COUNT; i++)
        mr_names_free(&builder->directives[i]);
    *builder = (mr_builder){0};
}

static bool resize_column(uint32_t **column, size_t count)
{
    uint32_t *resized = mr_realloc(*column, count, sizeof **column);
    if (resized)
        *column = resized;
    return resized != NULL;
}

/* `link` has its memory only from mr_index_build on: less to move while growing. */
static bool resize_columns(mr_trace *trace, size_t count)
{
    uint8_t *op = mr_realloc(trace->op, count, sizeof *op);
    if (!op)
        return false;
    trace->op = op;
    return resize_column(&trace->thread, count) && resize_column(&trace->operand, count) &&
           resize_column(&trace->location, count) && resize_column(&trace->value, count);
}

static bool grow_columns(mr_builder *builder)
{
    size_t capacity = builder->event_capacity ? builder->event_capacity * 2 : 1024;
    if (capacity > MR_NESTED)
        capacity = MR_NESTED;
    if (!resize_columns(builder->trace, capacity))
        return false;
    builder->event_capacity = capacity;
    return true;
}

bool mr_builder_rows(mr_builder *builder, uint32_t most, mr_rows *rows)
{
    mr_trace *trace = builder->trace;
    uint32_t event = trace->event_count;
    if (event == builder->event_capacity && event < MR_NESTED && !grow_columns(builder))
        return false;
    /* Past the last number there is one more row, which mr_builder_append refuses to fill. */
    size_t room = event < MR_NESTED ? builder->event_capacity - event : 1;
    *rows = (mr_rows){
        .op = trace->op + event,
        .thread = trace->thread + event,
        .operand = trace->operand + event,
        .location = trace->location + event,
        .value = trace->value + event,
        .room = room < most ? (uint32_t)room : most,
    };
    return true;
}

/* updates[0] and reaches[0] are unused, so the first push makes room for two. */
static bool push_update(mr_builder *builder, mr_update update)
{
    mr_trace *trace = builder->trace;
    uint32_t count = trace->update_count ? trace->update_count : 1;
    void *updates = trace->updates;
    if (!mr_grow(&updates, &builder->update_capacity, (size_t)count + 1, sizeof update))
        return false;
    trace->updates = updates;
    trace->updates[0] = (mr_update){0};
    trace->updates[count] = update;
    trace->update_count = count + 1;
    return true;
}

static bool push_reach(mr_builder *builder, mr_slice list)
{
    mr_trace *trace = builder->trace;
    size_t first = trace->reach_items.count;
    mr_slice name;
    while (mr_parse_next_name(&list, &name)) {
        uint32_t number;
        if (trace->reach_items.count >= UINT32_MAX ||
            !mr_names_add(&trace->reach_names, name.text, name.length, &number) ||
            !mr_u32s_push(&trace->reach_items, number))
            return false;
    }
    uint32_t count = trace->reach_count ? trace->reach_count : 1;
    void *reaches = trace->reaches;
    if (!mr_grow(&reaches, &builder->reach_capacity, (size_t)count + 1, sizeof *trace->reaches))
        return false;
    trace->reaches = reaches;
    trace->reaches[0] = (mr_reach){0};
    trace->reaches[count] =
        (mr_reach){(uint32_t)first, (uint32_t)(trace->reach_items.count - first)};
    trace->reach_count = count + 1;
    return true;
}

bool mr_builder_value(mr_builder *builder, int64_t value, uint32_t *number)
{
    uint64_t key = (uint64_t)value;
    if (key >= MR_BUILDER_SMALL_VALUES)
        return mr_keys_add(&builder->values, key, number);
    *number = builder->small_values[key];
    if (*number)
        return true;
    if (!mr_keys_add(&builder->values, key, number))
        return false;
    builder->small_values[key] = *number;
    return true;
}

/* What stands in the value column. */
static bool add_value(mr_builder *builder, const mr_parsed *parsed, uint32_t *value)
{
    *value = 0;
    if (parsed->op == MR_OP_CALL_BEGIN) {
        if (!push_reach(builder, parsed->reach))
            return false;
        *value = builder->trace->reach_count - 1;
        return true;
    }
    if (!parsed->has_value)
        return true;
    if (parsed->op != MR_OP_ATOMIC_UPDATE)
        return mr_builder_value(builder, parsed->value, value);
    mr_update update;
    if (!mr_builder_value(builder, parsed->value, &update.read_value) ||
        !mr_builder_value(builder, parsed->written_value, &update.written_value) ||
        !push_update(builder, update))
        return false;
    *value = builder->trace->update_count - 1;
    return true;
}

/* Notes a step when lines and events went apart since the event before. */
bool mr_builder_line(mr_builder *builder, uint64_t line)
{
    mr_trace *trace = builder->trace;
    uint64_t offset = line - trace->event_count;
    mr_line_step *last =
        trace->line_step_count ? &trace->line_steps[trace->line_step_count - 1] : NULL;
    if (last && last->offset == offset)
        return true;
    if (last && last->event == trace->event_count) { /* the line noted last gave no event */
        last->offset = offset;
        return true;
    }
    void *steps = trace->line_steps;
    if (!mr_grow(&steps, &builder->step_capacity, trace->line_step_count + 1,
                 sizeof *trace->line_steps))
        return false;
    trace->line_steps = steps;
    trace->line_steps[trace->line_step_count++] =
        (mr_line_step){.event = trace->event_count, .offset = offset};
    return true;
}

mr_status mr_builder_append_at(mr_builder *builder, mr_rows *rows, const mr_parsed *parsed,
                               uint32_t thread, uint32_t operand, uint32_t location, uint64_t line,
                               mr_error *error)
{
    mr_trace *trace = builder->trace;
    uint32_t row = rows->count, value = 0;
    if (trace->event_count >= MR_NESTED)
        return mr_error_set(error, MR_ERR_TRACE, trace->path, line,
                            "the trace has more than %u events; split it", MR_NESTED);
    if ((rows->value && !add_value(builder, parsed, &value)) || !mr_builder_line(builder, line))
        return mr_error_memory(error, "reading the trace");
    rows->op[row] = (uint8_t)parsed->op;
    rows->thread[row] = thread;
    rows->operand[row] = operand;
    rows->location[row] = location;
    if (rows->value)
        rows->value[row] = value;
    rows->count++;
    trace->event_count++;
    return MR_OK;
}

mr_status mr_builder_append(mr_builder *builder, mr_rows *rows, const mr_parsed *parsed,
                            uint32_t thread, uint32_t operand, uint64_t line, mr_error *error)
{
    uint32_t location;
    if (!mr_names_add(&builder->trace->locations, parsed->location.text, parsed->location.length,
                      &location))
        return mr_error_memory(error, "reading the trace");
    return mr_builder_append_at(builder, rows, parsed, thread, operand, location, line, error);
}

bool mr_builder_directive(mr_builder *builder, mr_directive directive, mr_slice name, mr_slice text)
{
    mr_names *names = &builder->directives[directive];
    uint32_t number;
    return mr_names_add(names, name.text, name.length, &number) &&
           mr_names_set_display(names, number, text.text, text.length);
}

bool mr_builder_name(mr_builder *builder)
{
    mr_trace *trace = builder->trace;
    mr_names *const used[MR_DIRECTIVE_COUNT] = {&trace->locations, &trace->variables,
                                                &trace->threads, &trace->locks};
    for (int i = 0; i < MR_DIRECTIVE_COUNT; i++) {
        const mr_names *texts = &builder->directives[i];
        for (uint32_t j = 0; j < texts->count; j++) {
            const mr_name *name = &texts->items[j];
            uint32_t number;
            if (mr_names_find(used[i], name->text, name->length, &number) &&
                !mr_names_set_display(used[i], number, name->display,
                                      (uint32_t)strlen(name->display)))
                return false;
        }
    }
    return true;
}

mr_status mr_builder_finish(mr_builder *builder, mr_trace **result, mr_error *error)
{
    mr_trace *trace = builder->trace;
    if (trace->event_count < builder->event_capacity)
        resize_columns(trace, trace->event_count); /* a failure only leaves them larger */
    trace->values = (int64_t *)builder->values.items;
    trace->value_count = builder->values.count ? builder->values.count + 1 : 0;
    builder->values.items = NULL;
    if (!mr_builder_name(builder) || !mr_index_build(trace))
        return mr_error_memory(error, "indexing the trace");
    *result = trace;
    builder->trace = NULL;
    mr_builder_free(builder);
    return MR_OK;
}
