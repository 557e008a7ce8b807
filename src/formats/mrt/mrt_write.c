#include "mrt_write.h"

#include "base/assert.h"
#include "base/progress.h"
#include "mrt_format.h"
#include "mrt_states.h"
#include "trace/outlook.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How much of each table of the trace is used or written so far. */
typedef struct table_counts {
    uint32_t names[MR_MRT_SPACE_COUNT];
    uint32_t values, updates, reaches, stacks; /* without the unused first element */
    size_t items, lines;
    uint32_t members;
} table_counts;

struct mr_mrt_writer {
    FILE *file;
    uint64_t offset, chunk_number;
    unsigned char *payload;
    size_t payload_size, payload_capacity;
    table_counts used, written;
    uint64_t event_count;
    uint64_t op_counts[MR_OP_COUNT];
    mr_outlook outlook;
    mr_snapshot snapshot;
    mr_fingerprint fingerprint;
    const char *run;    /* on loan; NULL: nothing is known */
    const char *inputs; /* path, NULL: none */
    uint64_t inputs_bytes;
};

static mr_status write_bytes(mr_mrt_writer *writer, const void *bytes, size_t count,
                             mr_error *error)
{
    errno = 0;
    writer->offset += count;
    if (!count || fwrite(bytes, 1, count, writer->file) == count)
        return MR_OK;
    return mr_error_set(error, MR_ERR_IO, NULL, 0, "cannot write: %s",
                        strerror(errno ? errno : EIO));
}

static mr_status write_header(mr_mrt_writer *writer, mr_error *error)
{
    mr_mrt_header header = {.version = MR_MRT_VERSION,
                            .byte_order = MR_MRT_BYTE_ORDER,
                            .writer = "maxrace " MR_VERSION};
    memcpy(header.magic, mr_mrt_magic, sizeof header.magic);
    header.checksum = mr_mrt_header_checksum(&header);
    return write_bytes(writer, &header, sizeof header, error);
}

mr_status mr_mrt_writer_new(FILE *file, mr_mrt_writer **result, mr_error *error)
{
    *result = NULL;
    mr_status status = mr_mrt_check_machine(error);
    if (status)
        return status;
    mr_mrt_writer *writer = mr_calloc(1, sizeof *writer);
    if (!writer)
        return mr_error_memory(error, "writing the trace");
    writer->file = file;
    mr_outlook_init(&writer->outlook);
    mr_snapshot_init(&writer->snapshot);
    status = mr_fingerprint_init(&writer->fingerprint)
                 ? write_header(writer, error)
                 : mr_error_memory(error, "writing the trace");
    if (status)
        mr_mrt_writer_free(writer);
    else
        *result = writer;
    return status;
}

void mr_mrt_writer_free(mr_mrt_writer *writer)
{
    if (!writer)
        return;
    mr_outlook_free(&writer->outlook);
    mr_snapshot_free(&writer->snapshot);
    mr_fingerprint_free(&writer->fingerprint);
    free(writer->payload);
    free(writer);
}

/* Adds to the payload; NULL: zeros. */
static mr_status put(mr_mrt_writer *writer, const void *bytes, size_t count, mr_error *error)
{
    void *payload = writer->payload;
    if (!mr_grow(&payload, &writer->payload_capacity, writer->payload_size + count, 1))
        return mr_error_memory(error, "writing the trace");
    writer->payload = payload;
    if (count && bytes)
        memcpy(writer->payload + writer->payload_size, bytes, count);
    else if (count)
        memset(writer->payload + writer->payload_size, 0, count);
    writer->payload_size += count;
    return MR_OK;
}

static mr_status put_filling(mr_mrt_writer *writer, mr_error *error)
{
    return put(writer, NULL, (size_t)mr_mrt_filled(writer->payload_size) - writer->payload_size,
               error);
}

/* Writes the chunk with the payload built so far, and empties the payload. */
static mr_status write_chunk(mr_mrt_writer *writer, mr_mrt_chunk chunk, mr_error *error)
{
    chunk.mark = MR_MRT_CHUNK_MARK;
    chunk.number = writer->chunk_number++;
    chunk.size_bytes = writer->payload_size;
    mr_status status = put_filling(writer, error);
    if (status)
        return status;
    chunk.payload_checksum = mr_mrt_checksum(writer->payload, writer->payload_size);
    chunk.checksum = mr_mrt_chunk_checksum(&chunk);
    status = write_bytes(writer, &chunk, sizeof chunk, error);
    if (!status)
        status = write_bytes(writer, writer->payload, writer->payload_size, error);
    writer->payload_size = 0;
    return status;
}

static void reach(uint32_t *count, uint32_t number)
{
    if (number >= *count)
        *count = number + 1;
}

static void use_value(table_counts *used, const mr_trace *trace, mr_op op, uint32_t value)
{
    if (mr_op_calls((uint8_t)op)) {
        mr_reach list = trace->reaches[value];
        for (uint32_t i = list.first; i < list.first + list.count; i++)
            reach(&used->names[MR_MRT_REACHES], trace->reach_items.items[i]);
        if (value > used->reaches)
            used->reaches = value;
        if (list.first + (size_t)list.count > used->items)
            used->items = list.first + (size_t)list.count;
    } else if (mr_op_has_pair((uint8_t)op)) {
        mr_update update = trace->updates[value];
        if (value > used->updates)
            used->updates = value;
        if (update.read_value > used->values)
            used->values = update.read_value;
        if (update.written_value > used->values)
            used->values = update.written_value;
    } else if (value > used->values) {
        used->values = value;
    }
}

/* Numbers are given in the order of first use, so the largest number in use tells their count. */
static bool note_use(mr_mrt_writer *writer, const mr_trace *trace, const mr_events *events,
                     const uint32_t *value)
{
    static const int spaces[] = {
        [MR_OPERAND_NONE] = -1,           [MR_OPERAND_VARIABLE] = MR_MRT_VARIABLES,
        [MR_OPERAND_LOCK] = MR_MRT_LOCKS, [MR_OPERAND_THREAD] = MR_MRT_THREADS,
        [MR_OPERAND_CALL] = MR_MRT_CALLS, [MR_OPERAND_OBJECT] = MR_MRT_OBJECTS};
    table_counts *used = &writer->used;
    bool has_values = false;
    for (uint32_t i = 0; i < events->count; i++) {
        mr_op op = (mr_op)events->op[i];
        int space = spaces[mr_op_operand_kind(op)];
        reach(&used->names[MR_MRT_THREADS], events->thread[i]);
        reach(&used->names[MR_MRT_LOCATIONS], events->location[i]);
        if (space >= 0)
            reach(&used->names[space], events->operand[i]);
        if (value[i]) {
            has_values = true;
            use_value(used, trace, op, value[i]);
        }
        writer->op_counts[op]++;
    }
    uint64_t end = events->first + events->count;
    while (used->lines < trace->line_step_count && trace->line_steps[used->lines].event < end)
        used->lines++;
    return has_values;
}

/* All memberships that are known by now: most of them say something of the block. */
static void note_members(mr_mrt_writer *writer, const mr_trace *trace)
{
    table_counts *used = &writer->used;
    for (; used->members < trace->members.count; used->members++) {
        mr_membership member = trace->members.items[used->members];
        reach(&used->names[MR_MRT_VARIABLES], member.variable);
        reach(&used->names[MR_MRT_OBJECTS], member.object);
    }
}

/* The same for stacks. An event that uses a stack also uses its callers. */
static bool note_stacks(mr_mrt_writer *writer, const mr_trace *trace, const mr_events *events,
                        const uint32_t *stack)
{
    table_counts *used = &writer->used;
    uint32_t last = used->stacks, any = 0;
    for (uint32_t i = 0; stack && i < events->count; i++) {
        any |= stack[i];
        if (stack[i] > used->stacks)
            used->stacks = stack[i];
    }
    while (last < used->stacks)
        reach(&used->names[MR_MRT_FRAMES], trace->stacks[++last].frame);
    return any != 0;
}

static mr_status write_names(mr_mrt_writer *writer, const mr_names *names, unsigned space,
                             mr_error *error)
{
    uint32_t first = writer->written.names[space], end = writer->used.names[space];
    mr_status status = MR_OK;
    MR_ASSERT(first <= end && end <= names->count);
    if (first == end)
        return MR_OK;
    for (uint32_t i = first; i < end && !status; i++)
        status = put(writer, &names->items[i].length, sizeof names->items[i].length, error);
    for (uint32_t i = first; i < end && !status; i++)
        status = put(writer, names->items[i].text, (size_t)names->items[i].length + 1, error);
    if (status)
        return status;
    writer->written.names[space] = end;
    return write_chunk(
        writer,
        (mr_mrt_chunk){.kind = MR_MRT_NAMES, .first = first, .count = end - first, .space = space},
        error);
}

static mr_status write_lines(mr_mrt_writer *writer, const mr_trace *trace, mr_error *error)
{
    size_t first = writer->written.lines, end = writer->used.lines;
    mr_status status = MR_OK;
    if (first == end)
        return MR_OK;
    for (size_t i = first; i < end && !status; i++) {
        mr_mrt_line line = {trace->line_steps[i].event, trace->line_steps[i].offset};
        status = put(writer, &line, sizeof line, error);
    }
    if (status)
        return status;
    writer->written.lines = end;
    return write_chunk(
        writer, (mr_mrt_chunk){.kind = MR_MRT_LINES, .count = (uint32_t)(end - first)}, error);
}

static mr_status write_members(mr_mrt_writer *writer, const mr_trace *trace, mr_error *error)
{
    uint32_t first = writer->written.members, end = writer->used.members;
    if (first == end)
        return MR_OK;
    mr_status status = put(writer, trace->members.items + first,
                           (end - first) * sizeof *trace->members.items, error);
    if (status)
        return status;
    writer->written.members = end;
    return write_chunk(writer,
                       (mr_mrt_chunk){.kind = MR_MRT_MEMBERS, .first = first, .count = end - first},
                       error);
}

/* Zeros, after which the payload of the next chunk begins at a multiple of MR_MRT_PAGE_BYTES. */
static mr_status write_gap(mr_mrt_writer *writer, mr_error *error)
{
    const uint64_t page = MR_MRT_PAGE_BYTES, head = sizeof(mr_mrt_chunk);
    if ((writer->offset + head) % page == 0)
        return MR_OK;
    mr_status status =
        put(writer, NULL, (size_t)((page - (writer->offset + 2 * head) % page) % page), error);
    return status ? status : write_chunk(writer, (mr_mrt_chunk){.kind = MR_MRT_GAP}, error);
}

static mr_status write_events(mr_mrt_writer *writer, const mr_events *events, bool has_values,
                              mr_error *error)
{
    const void *const columns[] = {events->thread, events->operand, events->location};
    mr_status status = events->count == MR_MRT_BLOCK_EVENTS ? write_gap(writer, error) : MR_OK;
    if (!status)
        status = put(writer, events->op, events->count, error);
    for (size_t i = 0; i < sizeof columns / sizeof *columns && !status; i++) {
        status = put_filling(writer, error);
        if (!status)
            status = put(writer, columns[i], (size_t)events->count * 4, error);
    }
    if (!status)
        status = put_filling(writer, error);
    return status ? status
                  : write_chunk(writer,
                                (mr_mrt_chunk){.kind = MR_MRT_EVENTS,
                                               .first = (uint32_t)events->first,
                                               .count = events->count,
                                               .has_values = has_values},
                                error);
}

static mr_status write_values(mr_mrt_writer *writer, const mr_trace *trace, const mr_events *events,
                              const uint32_t *value, mr_error *error)
{
    table_counts *old = &writer->written;
    const table_counts *now = &writer->used;
    MR_ASSERT(old->values <= now->values && old->updates <= now->updates);
    MR_ASSERT(old->reaches <= now->reaches && old->items <= now->items);
    mr_mrt_values head = {now->values - old->values, now->updates - old->updates,
                          now->reaches - old->reaches, (uint32_t)(now->items - old->items)};
    const struct {
        const void *table;
        size_t first, count, size_bytes;
    } parts[] = {
        {&head, 0, 1, sizeof head},
        {trace->values, old->values + 1ull, head.value_count, sizeof *trace->values},
        {trace->updates, old->updates + 1ull, head.update_count, sizeof *trace->updates},
        {trace->reaches, old->reaches + 1ull, head.reach_count, sizeof *trace->reaches},
        {trace->reach_items.items, old->items, head.item_count, sizeof(uint32_t)},
        {value, 0, events->count, sizeof *value},
    };
    mr_status status = MR_OK;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !status; i++)
        if (parts[i].count)
            status =
                put(writer, (const char *)parts[i].table + parts[i].first * parts[i].size_bytes,
                    parts[i].count * parts[i].size_bytes, error);
    if (status)
        return status;
    old->values = now->values;
    old->updates = now->updates;
    old->reaches = now->reaches;
    old->items = now->items;
    return write_chunk(writer,
                       (mr_mrt_chunk){.kind = MR_MRT_VALUES,
                                      .first = (uint32_t)events->first,
                                      .count = events->count},
                       error);
}

static mr_status write_stacks(mr_mrt_writer *writer, const mr_trace *trace, const mr_events *events,
                              const uint32_t *stack, mr_error *error)
{
    uint32_t old = writer->written.stacks, now = writer->used.stacks;
    MR_ASSERT(old <= now && (now == old || now < trace->stack_count));
    mr_mrt_stacks head = {.stack_count = now - old};
    mr_status status = put(writer, &head, sizeof head, error);
    if (!status && now > old)
        status = put(writer, trace->stacks + old + 1, (now - old) * sizeof *trace->stacks, error);
    if (!status)
        status = put(writer, stack, events->count * sizeof *stack, error);
    if (status)
        return status;
    writer->written.stacks = now;
    return write_chunk(writer,
                       (mr_mrt_chunk){.kind = MR_MRT_STACKS,
                                      .first = (uint32_t)events->first,
                                      .count = events->count},
                       error);
}

/* When an event of the block has another memory order than sc. */
static mr_status write_orders(mr_mrt_writer *writer, const mr_events *events, mr_error *error)
{
    uint8_t any = 0;
    for (uint32_t i = 0; events->memory_order && i < events->count; i++)
        any |= events->memory_order[i];
    if (!any)
        return MR_OK;
    mr_status status = put(writer, events->memory_order, events->count, error);
    return status ? status
                  : write_chunk(writer,
                                (mr_mrt_chunk){.kind = MR_MRT_ORDERS,
                                               .first = (uint32_t)events->first,
                                               .count = events->count},
                                error);
}

/* What a part that begins with the block needs of the events before it. */
static mr_status write_state(mr_mrt_writer *writer, const mr_trace *trace, const mr_events *events,
                             const uint32_t *value, mr_error *error)
{
    const table_counts *used = &writer->used;
    const mr_value_counts counts = {used->values, used->updates, used->reaches, used->items};
    const mr_snapshot *snapshot = &writer->snapshot;
    mr_fingerprint_add(&writer->fingerprint, events, value, trace, &counts);
    if (!mr_snapshot_add(&writer->snapshot, events, value, trace->updates))
        return mr_error_memory(error, "writing the trace");
    mr_mrt_state_head head = mr_mrt_state_of(snapshot);
    mr_status status = put(writer, &head, sizeof head, error);
    if (!status)
        status = put(writer, snapshot->open, head.open_count * sizeof *snapshot->open, error);
    if (!status)
        status =
            put(writer, snapshot->carried, head.carried_count * sizeof *snapshot->carried, error);
    return status ? status
                  : write_chunk(writer,
                                (mr_mrt_chunk){.kind = MR_MRT_STATE,
                                               .first = (uint32_t)events->first,
                                               .count = events->count},
                                error);
}

/* After the last block. The outlook is finished. */
static mr_status write_facts(mr_mrt_writer *writer, const mr_trace *trace, mr_error *error)
{
    mr_mrt_facts head =
        mr_mrt_facts_of(&writer->snapshot, &writer->fingerprint, &writer->outlook, trace);
    mr_status status = put(writer, &head, sizeof head, error);
    for (uint32_t i = 0; !status && i < head.variable_count; i++) {
        uint32_t value = mr_snapshot_variable(&writer->snapshot, i).initial_value;
        status = put(writer, &value, sizeof value, error);
    }
    for (uint32_t i = 0; !status && i < head.variable_count; i++) {
        uint8_t by_source = (uint8_t)mr_snapshot_variable(&writer->snapshot, i).by_source;
        status = put(writer, &by_source, sizeof by_source, error);
    }
    return status ? status
                  : write_chunk(writer, (mr_mrt_chunk){.kind = MR_MRT_FACTS, .count = 1}, error);
}

static mr_status write_all_names(mr_mrt_writer *writer, const mr_trace *trace, mr_error *error)
{
    mr_status status = MR_OK;
    for (unsigned space = 0; space < MR_MRT_SPACE_COUNT && !status; space++)
        status = write_names(writer, mr_mrt_names_of((mr_trace *)trace, space), space, error);
    return status;
}

mr_status mr_mrt_writer_add(mr_mrt_writer *writer, const mr_trace *trace, const mr_events *events,
                            const uint32_t *value, const uint32_t *stack, mr_error *error)
{
    if (!events->count)
        return MR_OK;
    MR_REQUIRE(events->first == writer->event_count && events->count <= MR_MRT_BLOCK_EVENTS &&
               value);
    bool has_values = note_use(writer, trace, events, value);
    bool has_stacks = note_stacks(writer, trace, events, stack);
    note_members(writer, trace);
    if (!mr_outlook_add(&writer->outlook, events))
        return mr_error_memory(error, "writing the trace");
    mr_status status = write_all_names(writer, trace, error);
    if (!status)
        status = write_lines(writer, trace, error);
    if (!status)
        status = write_members(writer, trace, error);
    if (!status)
        status = write_events(writer, events, has_values, error);
    if (!status && has_values)
        status = write_values(writer, trace, events, value, error);
    if (!status && has_stacks)
        status = write_stacks(writer, trace, events, stack, error);
    if (!status)
        status = write_orders(writer, events, error);
    if (!status)
        status = write_state(writer, trace, events, value, error);
    writer->event_count = events->first + events->count;
    return status;
}

mr_status mr_mrt_writer_positions(mr_mrt_writer *writer, const mr_events *events,
                                  const uint64_t *codes, uint32_t code_count, const void *columns,
                                  size_t column_bytes, mr_error *error)
{
    mr_mrt_positions head = {.code_count = code_count};
    MR_REQUIRE(events->first + events->count == writer->event_count);
    mr_status status = put(writer, &head, sizeof head, error);
    if (!status && code_count)
        status = put(writer, codes, code_count * sizeof *codes, error);
    if (!status)
        status = put(writer, columns, column_bytes, error);
    return status ? status
                  : write_chunk(writer,
                                (mr_mrt_chunk){.kind = MR_MRT_POSITIONS,
                                               .first = (uint32_t)events->first,
                                               .count = events->count},
                                error);
}

void mr_mrt_writer_run(mr_mrt_writer *writer, const char *lines)
{
    writer->run = lines;
}

void mr_mrt_writer_inputs(mr_mrt_writer *writer, const char *path, uint64_t size_bytes)
{
    writer->inputs = path;
    writer->inputs_bytes = size_bytes;
}

/* In chunks, because one is in memory at a time. */
static mr_status write_inputs(mr_mrt_writer *writer, mr_error *error)
{
    enum { PART = 1 << 20 };
    FILE *file = fopen(writer->inputs, "rb");
    mr_status status = MR_OK;
    if (!file)
        return mr_error_set(error, MR_ERR_IO, writer->inputs, 0, "cannot read: %s",
                            strerror(errno));
    for (uint64_t left = writer->inputs_bytes; left && !status;) {
        size_t part = left < PART ? (size_t)left : (size_t)PART;
        status = put(writer, NULL, part, error);
        if (!status && fread(writer->payload, 1, part, file) != part)
            status = mr_error_set(error, MR_ERR_IO, writer->inputs, 0, "the file is too short");
        if (!status)
            status = write_chunk(writer, (mr_mrt_chunk){.kind = MR_MRT_INPUTS, .count = 1}, error);
        left -= part;
    }
    fclose(file);
    return status;
}

static mr_status write_run(mr_mrt_writer *writer, mr_error *error)
{
    mr_status status = put(writer, writer->run, strlen(writer->run), error);
    return status ? status
                  : write_chunk(writer, (mr_mrt_chunk){.kind = MR_MRT_RUN, .count = 1}, error);
}

static mr_status write_texts(mr_mrt_writer *writer, const mr_names *names, unsigned space,
                             mr_error *error)
{
    mr_status status = MR_OK;
    uint32_t count = 0;
    for (uint32_t i = 0; i < names->count && !status; i++) {
        if (!names->items[i].display)
            continue;
        mr_mrt_text text = {i, (uint32_t)strlen(names->items[i].display)};
        status = put(writer, &text, sizeof text, error);
        count++;
    }
    for (uint32_t i = 0; i < names->count && !status; i++) {
        const char *text = names->items[i].display;
        if (text)
            status = put(writer, text, strlen(text) + 1, error);
    }
    if (status || !count)
        return status;
    return write_chunk(writer, (mr_mrt_chunk){.kind = MR_MRT_TEXTS, .count = count, .space = space},
                       error);
}

static mr_status put_type_pairs(mr_mrt_writer *writer, const mr_value_types *types, uint32_t *count,
                                mr_error *error)
{
    mr_status status = MR_OK;
    for (uint32_t i = 0; i < types->count && !status; i++) {
        mr_mrt_type pair = {i, types->number[i] - 1};
        if (!types->number[i])
            continue;
        status = put(writer, &pair, sizeof pair, error);
        (*count)++;
    }
    return status;
}

static mr_status write_types(mr_mrt_writer *writer, const mr_value_types *types, mr_error *error)
{
    mr_mrt_types head = {.type_count = types->texts.count};
    uint32_t count = 0;
    mr_status status = put(writer, &head, sizeof head, error);
    if (!status)
        status = put_type_pairs(writer, types, &count, error);
    for (uint32_t i = 0; i < types->texts.count && !status; i++)
        status = put(writer, types->texts.items[i].text, types->texts.items[i].length + 1, error);
    return status
               ? status
               : write_chunk(writer, (mr_mrt_chunk){.kind = MR_MRT_TYPES, .count = count}, error);
}

static mr_status write_ending(mr_mrt_writer *writer, const mr_ending *ending, mr_error *error)
{
    char *lines = mr_ending_lines(ending);
    mr_status status = lines ? put(writer, lines, strlen(lines), error)
                             : mr_error_memory(error, "writing the trace");
    free(lines);
    return status ? status
                  : write_chunk(writer, (mr_mrt_chunk){.kind = MR_MRT_ENDING, .count = 1}, error);
}

static mr_status put_outlook(mr_mrt_writer *writer, mr_error *error)
{
    const mr_outlook *outlook = &writer->outlook;
    mr_status status = put(writer, outlook->contended, outlook->variable_count, error);
    if (!status)
        status = put(writer, outlook->lock_shared, outlook->lock_count, error);
    if (!status && outlook->use_count)
        status = put(writer, outlook->uses, outlook->use_count * sizeof *outlook->uses, error);
    return status;
}

static mr_status write_index(mr_mrt_writer *writer, const mr_trace *trace, mr_error *error)
{
    const mr_error *dropped = &trace->first_dropped;
    mr_mrt_index index = {.event_count = writer->event_count,
                          .dropped_count = trace->dropped_count,
                          .outlook_rules = MR_MRT_OUTLOOK_RULES,
                          .use_count = (uint32_t)writer->outlook.use_count,
                          .stack_count = writer->written.stacks,
                          .member_count = writer->written.members};
    if (trace->dropped_count) {
        index.dropped_line = dropped->line;
        index.file_length = (uint32_t)strlen(dropped->file);
        index.text_length = (uint32_t)strlen(dropped->text);
    }
    memcpy(index.op_counts, writer->op_counts, sizeof index.op_counts);
    memcpy(index.name_counts, writer->written.names, sizeof index.name_counts);
    mr_status status = put(writer, &index, sizeof index, error);
    if (!status)
        status = put_outlook(writer, error);
    if (!status)
        status = put(writer, dropped->file, index.file_length, error);
    if (!status)
        status = put(writer, dropped->text, index.text_length, error);
    return status ? status
                  : write_chunk(writer, (mr_mrt_chunk){.kind = MR_MRT_INDEX, .count = 1}, error);
}

mr_status mr_mrt_writer_finish(mr_mrt_writer *writer, const mr_trace *trace, mr_error *error)
{
    /* Names that no event uses stay names; their numbers are in the outlook, too. */
    mr_events none = {.first = writer->event_count};
    for (unsigned space = 0; space < MR_MRT_SPACE_COUNT; space++)
        writer->used.names[space] = mr_mrt_names_of((mr_trace *)trace, space)->count;
    none.thread_count = trace->threads.count;
    none.variable_count = trace->variables.count;
    none.lock_count = trace->locks.count;
    none.location_count = trace->locations.count;
    none.object_count = trace->objects.count;
    if (!mr_outlook_add(&writer->outlook, &none) ||
        !mr_outlook_finish(&writer->outlook, &trace->members))
        return mr_error_memory(error, "writing the trace");
    note_members(writer, trace);
    mr_status status = write_all_names(writer, trace, error);
    if (!status)
        status = write_members(writer, trace, error);
    for (unsigned space = 0; space < MR_MRT_SPACE_COUNT && !status; space++)
        status = write_texts(writer, mr_mrt_names_of((mr_trace *)trace, space), space, error);
    if (!status && trace->types.texts.count)
        status = write_types(writer, &trace->types, error);
    if (!status && mr_ending_is_known(&trace->ending))
        status = write_ending(writer, &trace->ending, error);
    if (!status && writer->run)
        status = write_run(writer, error);
    if (!status && writer->inputs)
        status = write_inputs(writer, error);
    if (!status)
        status = write_facts(writer, trace, error);
    uint64_t index_offset = writer->offset;
    if (!status)
        status = write_index(writer, trace, error);
    return status ? status
                  : write_chunk(writer,
                                (mr_mrt_chunk){.kind = MR_MRT_END, .index_offset = index_offset},
                                error);
}

mr_status mr_mrt_write(FILE *file, const mr_trace *trace, const mr_progress *progress,
                       mr_error *error)
{
    mr_mrt_writer *writer;
    mr_status status = mr_mrt_writer_new(file, &writer, error);
    uint32_t first = 0;
    if (!writer)
        return status;
    while (!status && first < trace->event_count) {
        uint32_t left = trace->event_count - first;
        uint32_t count = left < MR_MRT_BLOCK_EVENTS ? left : (uint32_t)MR_MRT_BLOCK_EVENTS;
        mr_events events = mr_events_of_trace(trace, first, count);
        status = mr_mrt_writer_add(writer, trace, &events, trace->value + first,
                                   trace->stack ? trace->stack + first : NULL, error);
        first += count;
        mr_progress_tell(progress, "writing", first, trace->event_count);
    }
    if (!status)
        status = mr_mrt_writer_finish(writer, trace, error);
    mr_mrt_writer_free(writer);
    return status;
}
