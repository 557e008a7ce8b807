#include "text_write.h"

#include "base/ticker.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The bytes that are written at once; the longest number; the events between looks at the clock. */
enum {
    MR_TEXT_ROOM_BYTES = 1 << 17,
    MR_TEXT_NUMBER_BYTES = 24,
    MR_TEXT_EVENTS_A_TICK = 1 << 14,
};

typedef struct text_writer {
    mr_packer *packer;
    const mr_trace *trace;
    char *room;
    size_t used;
    mr_error failure; /* status MR_OK: none so far */
} text_writer;

static void flush(text_writer *writer)
{
    if (!writer->failure.status)
        mr_packer_write(writer->packer, writer->room, writer->used, &writer->failure);
    writer->used = 0;
}

static void put(text_writer *writer, const char *text, size_t length)
{
    while (length > MR_TEXT_ROOM_BYTES - writer->used) {
        size_t part = MR_TEXT_ROOM_BYTES - writer->used;
        memcpy(writer->room + writer->used, text, part);
        writer->used += part;
        text += part;
        length -= part;
        flush(writer);
    }
    memcpy(writer->room + writer->used, text, length);
    writer->used += length;
}

static void put_char(text_writer *writer, char c)
{
    put(writer, &c, 1);
}

static void put_word(text_writer *writer, const char *text)
{
    put(writer, text, strlen(text));
}

static void put_name(text_writer *writer, const mr_names *names, uint32_t number)
{
    put(writer, names->items[number].text, names->items[number].length);
}

static void put_number(text_writer *writer, int64_t number)
{
    char digits[MR_TEXT_NUMBER_BYTES];
    size_t at = sizeof digits;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (number < 0)
        digits[--at] = '-';
    put(writer, digits + at, sizeof digits - at);
}

/* A reader takes "\r\n" for the end of a line. A text that ends with '\r' gets another one. */
static void end_line(text_writer *writer, const char *text, size_t length)
{
    if (length && text[length - 1] == '\r')
        put_char(writer, '\r');
    put_char(writer, '\n');
}

static void put_texts(text_writer *writer, const mr_names *names, const char *directive)
{
    for (uint32_t i = 0; i < names->count; i++) {
        const char *text = names->items[i].display;
        if (!text)
            continue;
        put_word(writer, directive);
        put_char(writer, ' ');
        put_name(writer, names, i);
        put_char(writer, ' ');
        put_word(writer, text);
        end_line(writer, text, strlen(text));
    }
}

static void put_types(text_writer *writer)
{
    const mr_trace *trace = writer->trace;
    for (uint32_t i = 0; i < trace->types.count; i++) {
        const char *type = mr_value_types_text(&trace->types, i);
        if (!type)
            continue;
        put_word(writer, "#@type ");
        put_name(writer, &trace->variables, i);
        put_char(writer, ' ');
        put_word(writer, type);
        end_line(writer, type, strlen(type));
    }
}

static void put_ending(text_writer *writer)
{
    char *lines = mr_ending_lines(&writer->trace->ending);
    if (!lines && !writer->failure.status)
        mr_error_memory(&writer->failure, "writing the trace");
    for (const char *at = lines; at && *at;) {
        size_t length = strcspn(at, "\n");
        put_word(writer, "#@end ");
        put(writer, at, length);
        put_char(writer, '\n');
        at += length + 1;
    }
    free(lines);
}

static void put_value(text_writer *writer, mr_op op, uint32_t value)
{
    const mr_trace *trace = writer->trace;
    if (!value)
        return;
    put_char(writer, '=');
    if (mr_op_updates((uint8_t)op)) {
        put_number(writer, trace->values[trace->updates[value].read_value]);
        put_char(writer, '>');
        put_number(writer, trace->values[trace->updates[value].written_value]);
    } else {
        put_number(writer, trace->values[value]);
    }
}

static void put_address(text_writer *writer, uint64_t address)
{
    char text[MR_TEXT_NUMBER_BYTES];
    int length = snprintf(text, sizeof text, "0x%" PRIx64, address);
    put(writer, text, (size_t)length);
}

/* "=address+bytes" */
static void put_extent(text_writer *writer, uint32_t value)
{
    const mr_trace *trace = writer->trace;
    if (!value)
        return;
    char bytes[MR_TEXT_NUMBER_BYTES];
    mr_update extent = trace->updates[value];
    put_char(writer, '=');
    put_address(writer, (uint64_t)trace->values[extent.read_value]);
    int length =
        snprintf(bytes, sizeof bytes, "+%" PRIu64, (uint64_t)trace->values[extent.written_value]);
    put(writer, bytes, (size_t)length);
}

/* Before the events, because a reader that goes over them once needs to know. */
static void put_members(text_writer *writer)
{
    const mr_trace *trace = writer->trace;
    for (uint32_t i = 0; i < trace->members.count; i++) {
        const mr_name *object = &trace->objects.items[trace->members.items[i].object];
        put_word(writer, "#@in ");
        put_name(writer, &trace->variables, trace->members.items[i].variable);
        put_char(writer, ' ');
        put(writer, object->text, object->length);
        end_line(writer, object->text, object->length);
    }
}

static void put_reach(text_writer *writer, uint32_t number)
{
    const mr_trace *trace = writer->trace;
    mr_reach reach = trace->reaches[number];
    put_char(writer, ':');
    for (uint32_t i = 0; i < reach.count; i++) {
        if (i)
            put_char(writer, ',');
        put_name(writer, &trace->reach_names, trace->reach_items.items[reach.first + i]);
    }
}

static void put_event(text_writer *writer, uint32_t event)
{
    const mr_trace *trace = writer->trace;
    mr_op op = (mr_op)trace->op[event];
    const mr_names *names = mr_trace_operand_names(trace, op);
    const mr_name *location = &trace->locations.items[trace->location[event]];
    put_name(writer, &trace->threads, trace->thread[event]);
    put_char(writer, '|');
    put_word(writer, mr_op_name(op));
    mr_memory_order order = mr_trace_memory_order(trace, event);
    if (mr_op_fences((uint8_t)op) || order != MR_ORDER_SC)
        put_word(writer, mr_memory_order_suffix(order));
    put_char(writer, '(');
    if (names)
        put_name(writer, names, trace->operand[event]);
    if (mr_op_calls((uint8_t)op))
        put_reach(writer, trace->value[event]);
    else if (mr_op_starts_life((uint8_t)op))
        put_extent(writer, trace->value[event]);
    else if (names == &trace->variables)
        put_value(writer, op, trace->value[event]);
    put(writer, ")|", 2);
    put(writer, location->text, location->length);
    end_line(writer, location->text, location->length);
}

static void put_trace(text_writer *writer, const mr_progress *progress)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    const mr_trace *trace = writer->trace;
    mr_ticker ticker = {.progress = progress, .stage = "writing"};
    put_texts(writer, &trace->locations, "#@loc");
    put_texts(writer, &trace->variables, "#@var");
    put_texts(writer, &trace->threads, "#@thread");
    put_texts(writer, &trace->locks, "#@lock");
    put_texts(writer, &trace->objects, "#@object");
    put_types(writer);
    put_members(writer);
    put_ending(writer);
    /* A reader skips one mark at the start of a file. A name that begins with one keeps its own. */
    if (trace->event_count && !writer->used &&
        !strncmp(trace->threads.items[trace->thread[0]].text, byte_order_mark, 3))
        put_word(writer, byte_order_mark);
    for (uint32_t event = 0; event < trace->event_count && !writer->failure.status; event++) {
        put_event(writer, event);
        if (event % MR_TEXT_EVENTS_A_TICK == 0)
            mr_ticker_tell(&ticker, event, trace->event_count);
    }
    flush(writer);
}

mr_status mr_text_write(FILE *file, mr_packing packing, const mr_trace *trace,
                        const mr_progress *progress, mr_error *error)
{
    text_writer writer = {.trace = trace,
                          .packer = mr_packer_new(packing, file),
                          .room = mr_malloc(MR_TEXT_ROOM_BYTES, 0)};
    if (writer.packer && writer.room) {
        put_trace(&writer, progress);
        if (!writer.failure.status)
            mr_packer_finish(writer.packer, &writer.failure);
    } else {
        mr_error_memory(&writer.failure, "writing the trace");
    }
    mr_packer_free(writer.packer);
    free(writer.room);
    if (writer.failure.status)
        *error = writer.failure;
    return writer.failure.status;
}
