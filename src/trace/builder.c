#include "builder.h"

#include "base/assert.h"
#include "base/thread.h"
#include "columns.h"
#include "index.h"
#include "outlook.h"

#include <stdlib.h>
#include <string.h>

/* Rows that the columns of a trace have room for at first. */
enum { FIRST_EVENTS = 1024, MR_BUILDER_NAMES = 8 };

static mr_status no_memory(mr_error *error)
{
    return mr_error_memory(error, "reading the trace");
}

static void all_names(mr_trace *trace, mr_names *names[MR_BUILDER_NAMES])
{
    mr_names *const all[MR_BUILDER_NAMES] = {
        &trace->threads, &trace->variables,   &trace->locks,  &trace->locations,
        &trace->calls,   &trace->reach_names, &trace->frames, &trace->objects};
    memcpy(names, all, sizeof all);
}

bool mr_builder_init(mr_builder *builder, const char *path)
{
    *builder = (mr_builder){.trace = mr_calloc(1, sizeof *builder->trace)};
    for (int i = 0; i < MR_DIRECTIVE_COUNT; i++)
        mr_names_init(&builder->directives[i]);
    mr_trace *trace = builder->trace;
    mr_names *names[MR_BUILDER_NAMES];
    if (!trace)
        return false;
    all_names(trace, names);
    for (size_t i = 0; i < MR_BUILDER_NAMES; i++)
        mr_names_init(names[i]);
    trace->path = mr_strndup(path, strlen(path));
    return trace->path != NULL;
}

void mr_builder_free(mr_builder *builder)
{
    mr_trace_free(builder->trace);
    mr_keys_free(&builder->values);
    mr_u32s_free(&builder->kept);
    for (int i = 0; i < MR_DIRECTIVE_COUNT; i++)
        mr_names_free(&builder->directives[i]);
    *builder = (mr_builder){0};
}

mr_status mr_builder_rows(mr_builder *builder, uint32_t most, mr_rows *rows, mr_error *error)
{
    mr_trace *trace = builder->trace;
    uint32_t event = (uint32_t)trace->event_count;
    /* Past the last number there is one more row, which mr_builder_append refuses to fill. */
    size_t need = event < FIRST_EVENTS ? FIRST_EVENTS : (size_t)event + 1;
    mr_status status = mr_columns_reserve_events(trace, need, error);
    if (status)
        return status;
    MR_REQUIRE(most > 0);
    MR_ASSERT(mr_columns_room(trace) > event);
    size_t room = mr_columns_room(trace) - event;
    *rows = (mr_rows){
        .op = trace->op + event,
        .thread = trace->thread + event,
        .operand = trace->operand + event,
        .location = trace->location + event,
        .value = trace->lacks_values ? NULL : trace->value + event,
        .memory_order = trace->memory_order ? trace->memory_order + event : NULL,
        .in_trace = true,
        .room = room < most ? (uint32_t)room : most,
    };
    return MR_OK;
}

/* updates[0] and reaches[0] are unused, so the first push makes room for two. */
static mr_status push_update(mr_trace *trace, mr_update update, mr_error *error)
{
    uint32_t count = trace->update_count ? trace->update_count : 1;
    mr_status status = mr_columns_reserve_updates(trace, (size_t)count + 1, error);
    if (status)
        return status;
    trace->updates[0] = (mr_update){0};
    trace->updates[count] = update;
    trace->update_count = count + 1;
    return MR_OK;
}

static mr_status push_reach(mr_trace *trace, mr_slice list, mr_error *error)
{
    size_t first = trace->reach_items.count;
    mr_slice name;
    while (mr_slice_next(&list, &name)) {
        uint32_t number;
        if (trace->reach_items.count >= UINT32_MAX ||
            !mr_names_add(&trace->reach_names, name.text, name.length, &number) ||
            !mr_u32s_push(&trace->reach_items, number))
            return no_memory(error);
    }
    uint32_t count = trace->reach_count ? trace->reach_count : 1;
    mr_status status = mr_columns_reserve_reaches(trace, (size_t)count + 1, error);
    if (status)
        return status;
    trace->reaches[0] = (mr_reach){0};
    trace->reaches[count] =
        (mr_reach){(uint32_t)first, (uint32_t)(trace->reach_items.count - first)};
    trace->reach_count = count + 1;
    return MR_OK;
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

/* The number for the value column. */
static mr_status add_value(mr_builder *builder, const mr_parsed *parsed, uint32_t *value,
                           mr_error *error)
{
    *value = 0;
    if (mr_op_calls((uint8_t)parsed->op)) {
        mr_status status = push_reach(builder->trace, parsed->reach, error);
        *value = status ? 0 : builder->trace->reach_count - 1;
        return status;
    }
    if (!parsed->has_value)
        return MR_OK;
    if (!mr_op_has_pair((uint8_t)parsed->op))
        return mr_builder_value(builder, parsed->value, value) ? MR_OK : no_memory(error);
    mr_update update;
    if (!mr_builder_value(builder, parsed->value, &update.read_value) ||
        !mr_builder_value(builder, parsed->written_value, &update.written_value))
        return no_memory(error);
    mr_status status = push_update(builder->trace, update, error);
    *value = status ? 0 : builder->trace->update_count - 1;
    return status;
}

/* The lines of events mostly follow each other. Where one does not follow the line of the event
 * before, a step notes it. */
mr_status mr_builder_line(mr_builder *builder, uint64_t line, mr_error *error)
{
    mr_trace *trace = builder->trace;
    uint64_t offset = line - trace->event_count;
    mr_line_step *last =
        trace->line_step_count ? &trace->line_steps[trace->line_step_count - 1] : NULL;
    MR_REQUIRE(line > trace->event_count); /* each event has a line, and lines count from 1 */
    MR_ASSERT(!last || last->event <= trace->event_count);
    if (last && last->offset == offset)
        return MR_OK;
    if (last && last->event == trace->event_count) { /* the line noted last gave no event */
        last->offset = offset;
        return MR_OK;
    }
    mr_status status = mr_columns_reserve_lines(trace, trace->line_step_count + 1, error);
    if (status)
        return status;
    trace->line_steps[trace->line_step_count++] =
        (mr_line_step){.event = trace->event_count, .offset = offset};
    return MR_OK;
}

/* The column of the trace, with sc for the events before. */
static mr_status make_orders(mr_builder *builder, mr_rows *rows, mr_error *error)
{
    mr_trace *trace = builder->trace;
    size_t room = mr_columns_room(trace);
    mr_status status = mr_columns_reserve_orders(trace, room, error);
    if (status)
        return status;
    memset(trace->memory_order, MR_ORDER_SC, room);
    rows->memory_order = trace->memory_order + (rows->op - trace->op);
    return MR_OK;
}

mr_status mr_builder_put_order(mr_builder *builder, mr_rows *rows, mr_memory_order order,
                               mr_error *error)
{
    MR_REQUIRE(rows->count > 0);
    if (!rows->memory_order && rows->in_trace && order != MR_ORDER_SC) {
        mr_status status = make_orders(builder, rows, error);
        if (status)
            return status;
    }
    if (rows->memory_order)
        rows->memory_order[rows->count - 1] = (uint8_t)order;
    return MR_OK;
}

static bool keep_value(mr_builder *builder, uint32_t event, uint32_t value)
{
    return mr_u32s_push(&builder->kept, event) && mr_u32s_push(&builder->kept, value);
}

static bool place_kept(const mr_builder *builder)
{
    mr_trace *trace = builder->trace;
    if (!mr_columns_zero_values(trace))
        return false;
    for (size_t i = 0; i < builder->kept.count; i += 2)
        trace->value[builder->kept.items[i]] = builder->kept.items[i + 1];
    return true;
}

mr_status mr_builder_append_at(mr_builder *builder, mr_rows *rows, const mr_parsed *parsed,
                               uint32_t thread, uint32_t operand, uint32_t location, uint64_t line,
                               mr_error *error)
{
    mr_trace *trace = builder->trace;
    const mr_names *operands = mr_trace_operand_names(trace, parsed->op);
    uint32_t row = rows->count, value = 0;
    MR_REQUIRE(row < rows->room);
    MR_REQUIRE(thread < trace->threads.count && location < trace->locations.count);
    MR_REQUIRE(operands ? operand < operands->count : !operand);
    if (rows->in_trace && trace->event_count >= MR_NESTED)
        return mr_error_set(error, MR_ERR_TRACE, trace->path, line,
                            "the trace has more than %u events; split it", MR_NESTED);
    bool keeps = rows->in_trace && trace->lacks_values && !mr_op_is_access((uint8_t)parsed->op);
    mr_status status = rows->value || keeps ? add_value(builder, parsed, &value, error) : MR_OK;
    if (!status && keeps && value && !keep_value(builder, (uint32_t)trace->event_count, value))
        status = no_memory(error);
    if (!status)
        status = mr_builder_line(builder, line, error);
    if (status)
        return status;
    rows->op[row] = (uint8_t)parsed->op;
    rows->thread[row] = thread;
    rows->operand[row] = operand;
    rows->location[row] = location;
    if (rows->value)
        rows->value[row] = value;
    rows->count++;
    trace->event_count++;
    return mr_builder_put_order(builder, rows, parsed->memory_order, error);
}

mr_status mr_builder_append(mr_builder *builder, mr_rows *rows, const mr_parsed *parsed,
                            uint32_t thread, uint32_t operand, uint64_t line, mr_error *error)
{
    uint32_t location;
    if (!mr_names_add(&builder->trace->locations, parsed->location.text, parsed->location.length,
                      &location))
        return no_memory(error);
    return mr_builder_append_at(builder, rows, parsed, thread, operand, location, line, error);
}

bool mr_builder_directive(mr_builder *builder, mr_directive directive, mr_slice name, mr_slice text)
{
    mr_names *names = &builder->directives[directive];
    uint32_t number;
    return mr_names_add(names, name.text, name.length, &number) &&
           mr_names_set_display(names, number, text.text, text.length);
}

/* What the directive says of a name that is used. */
static bool set_text(mr_trace *trace, mr_directive directive, mr_names *names, uint32_t number,
                     const char *text)
{
    uint32_t length = (uint32_t)strlen(text);
    return directive == MR_DIRECTIVE_TYPE
               ? mr_value_types_set_text(&trace->types, number, text, length)
               : mr_names_set_display(names, number, text, length);
}

bool mr_builder_name(mr_builder *builder)
{
    mr_trace *trace = builder->trace;
    mr_names *const used[MR_DIRECTIVE_COUNT] = {&trace->locations, &trace->variables,
                                                &trace->threads,   &trace->locks,
                                                &trace->objects,   &trace->variables};
    for (int i = 0; i < MR_DIRECTIVE_COUNT; i++) {
        const mr_names *texts = &builder->directives[i];
        for (uint32_t j = 0; j < texts->count; j++) {
            const mr_name *name = &texts->items[j];
            uint32_t number;
            if (mr_names_find(used[i], name->text, name->length, &number) &&
                !set_text(trace, (mr_directive)i, used[i], number, name->display))
                return false;
        }
    }
    return true;
}

void mr_builder_drop_indexes(mr_builder *builder)
{
    mr_names *names[MR_BUILDER_NAMES];
    all_names(builder->trace, names);
    for (size_t i = 0; i < MR_BUILDER_NAMES; i++)
        mr_names_drop_index(names[i]);
    for (int i = 0; i < MR_DIRECTIVE_COUNT; i++)
        mr_names_free(&builder->directives[i]);
}

/* Without memory for it, the names just stay as they are. */
static void pack_names(mr_trace *trace)
{
    mr_names *names[MR_BUILDER_NAMES];
    all_names(trace, names);
    for (size_t i = 0; i < MR_BUILDER_NAMES; i++)
        (void)mr_names_pack(names[i]);
}

/* A thread makes the outlook while this one derives the indexes. Zero-initialised: there is none. */
typedef struct outlook_maker {
    pthread_t thread;
    mr_outlook *outlook; /* owned; NULL: not started */
    mr_events events;
    const mr_members *members;
    bool done; /* the thread's */
} outlook_maker;

static void *make_outlook(void *argument)
{
    outlook_maker *maker = argument;
    mr_outlook_init(maker->outlook);
    maker->done = mr_outlook_add(maker->outlook, &maker->events) &&
                  mr_outlook_finish(maker->outlook, maker->members);
    return NULL;
}

/* What is too short is done sooner than a thread is started. The links have their room before, so that no column moves. Where
 * columns are in files, one pass at a time goes over them. */
static void start_outlook(const mr_builder *builder, outlook_maker *maker)
{
    enum { LEAST_EVENTS = 1 << 16 };
    mr_trace *trace = builder->trace;
    mr_error unused = {0};
    *maker = (outlook_maker){.members = &trace->members};
    if (!builder->with_outlook || trace->event_count < LEAST_EVENTS || mr_thread_cores() < 2 ||
        mr_columns_reserve_links(trace, (size_t)trace->event_count, &unused) || trace->spill.pager)
        return;
    maker->events = mr_events_of_trace(trace, 0, (uint32_t)trace->event_count);
    maker->outlook = mr_calloc(1, sizeof *maker->outlook);
    if (!maker->outlook || mr_thread_start(&maker->thread, make_outlook, maker))
        return;
    free(maker->outlook);
    maker->outlook = NULL;
}

/* Without memory for it, the trace has none. */
static void take_outlook(outlook_maker *maker, mr_trace *trace)
{
    if (!maker->outlook)
        return;
    pthread_join(maker->thread, NULL);
    if (maker->done) {
        trace->outlook = maker->outlook;
        return;
    }
    mr_outlook_free(maker->outlook);
    free(maker->outlook);
}

mr_status mr_builder_finish(mr_builder *builder, mr_trace **result, mr_error *error)
{
    mr_trace *trace = builder->trace;
    trace->values = (int64_t *)builder->values.items;
    trace->value_count = builder->values.count ? builder->values.count + 1 : 0;
    builder->values.items = NULL;
    if (!mr_builder_name(builder) || (trace->lacks_values && !place_kept(builder)))
        return mr_error_memory(error, "indexing the trace");
    if (trace->spill.pager) /* memory is short */
        pack_names(trace);
    outlook_maker maker;
    start_outlook(builder, &maker);
    mr_status status = mr_index_build(trace, error);
    take_outlook(&maker, trace);
    if (!status)
        status = mr_columns_fit(trace, error);
    if (status)
        return status;
    *result = trace;
    builder->trace = NULL;
    mr_builder_free(builder);
    return MR_OK;
}
