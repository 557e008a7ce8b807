/* Reading: lines → parse → validity → builder, with repair. */
#include "builder.h"
#include "input.h"
#include "lines.h"
#include "trace.h"
#include "validity.h"

#include <string.h>

typedef struct mr_reader {
    const char *place; /* the file's name in messages */
    bool repair;
    mr_lines lines;
    mr_builder builder;
    mr_validity validity;
    uint32_t last_thread; /* of the event before; most events have the same thread */
} mr_reader;

/* Says where the error is; its status and text stay. */
static void set_place(mr_error *error, const char *place, uint64_t line)
{
    char text[sizeof error->text];
    memcpy(text, error->text, sizeof text);
    mr_error_set(error, error->status, place, line, "%s", text);
}

/* What the file says is wrong: fails, or counts it and goes on. `error` has a text and no place. */
static mr_status drop(mr_reader *reader, mr_error *error)
{
    mr_trace *trace = reader->builder.trace;
    set_place(error, reader->place, reader->lines.number);
    if (!reader->repair)
        return MR_ERR_TRACE;
    if (!trace->dropped_count++)
        trace->first_dropped = *error;
    return MR_OK;
}

/* Puts the event before the rule that it breaks, and what to do after it. */
static void describe(const mr_reader *reader, mr_slice line, mr_error *error)
{
    char quote[MR_QUOTE_SIZE], text[sizeof error->text];
    memcpy(text, error->text, sizeof text);
    mr_error_set(error, error->status, NULL, 0, "%s: %s%s", mr_slice_quote(line, quote), text,
                 reader->repair ? "" : "; fix the recorder, or drop the event with --repair");
}

static bool add_thread(mr_reader *reader, mr_slice name, uint32_t *number)
{
    mr_names *threads = &reader->builder.trace->threads;
    if (reader->last_thread < threads->count) {
        const mr_name *last = &threads->items[reader->last_thread];
        if (last->length == name.length && !memcmp(last->text, name.text, name.length)) {
            *number = reader->last_thread;
            return true;
        }
    }
    if (!mr_names_add(threads, name.text, name.length, number))
        return false;
    reader->last_thread = *number;
    return true;
}

static mr_status read_event(mr_reader *reader, mr_slice line, mr_error *error)
{
    mr_parsed parsed;
    if (mr_parse_event(line, &parsed, error))
        return drop(reader, error);
    mr_trace *trace = reader->builder.trace;
    /* The trace is still ours to fill. */
    mr_names *names = (mr_names *)mr_trace_operand_names(trace, parsed.op);
    uint32_t thread_count = trace->threads.count, name_count = names ? names->count : 0;
    mr_step step = {.op = parsed.op, .line = reader->lines.number};
    if (!add_thread(reader, parsed.thread, &step.thread) ||
        (names && !mr_names_add(names, parsed.name.text, parsed.name.length, &step.operand)))
        return mr_error_memory(error, "reading the trace");
    mr_status status = mr_validity_step(&reader->validity, &step, error);
    if (!status)
        return mr_builder_append(&reader->builder, &parsed, step.thread, step.operand, step.line,
                                 error);
    if (status != MR_ERR_TRACE)
        return status;
    describe(reader, line, error);
    if (names) /* a dropped event leaves no names behind */
        mr_names_truncate(names, name_count);
    mr_names_truncate(&trace->threads, thread_count);
    return drop(reader, error);
}

static mr_status read_line(mr_reader *reader, mr_slice line, mr_error *error)
{
    if (!line.length)
        return MR_OK;
    if (*line.text != '#')
        return read_event(reader, line, error);
    mr_directive directive;
    mr_slice name, text;
    if (mr_parse_directive(line, &directive, &name, &text) &&
        !mr_builder_directive(&reader->builder, directive, name, text))
        return mr_error_memory(error, "reading the trace");
    return MR_OK;
}

/* The input failed: damage is something the file says, all else is fatal. */
static mr_status input_failed(mr_reader *reader, mr_error *error)
{
    if (error->status == MR_ERR_TRACE)
        return drop(reader, error);
    set_place(error, reader->place, reader->lines.number);
    return error->status;
}

static mr_status read_lines(mr_reader *reader, mr_error *error)
{
    for (;;) {
        mr_slice line;
        mr_status status = MR_OK;
        switch (mr_lines_next(&reader->lines, &line, error)) {
        case MR_LINE_TEXT:
            status = read_line(reader, line, error);
            break;
        case MR_LINE_TOO_LONG:
            mr_error_set(error, MR_ERR_TRACE, NULL, 0, "the line is longer than %d bytes",
                         MR_LINE_MAX_BYTES);
            status = drop(reader, error);
            break;
        case MR_LINE_NUL:
            mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                         "the line contains a NUL byte; this is not a text trace");
            status = drop(reader, error);
            break;
        case MR_LINE_FAILED:
            return input_failed(reader, error);
        case MR_LINE_END:
            return MR_OK;
        }
        if (status)
            return status;
    }
}

static mr_status read_input(mr_input *input, const char *path, const char *place,
                            const mr_read_options *options, mr_trace **result, mr_error *error)
{
    mr_reader reader = {.place = place, .repair = options && options->repair};
    mr_status status = MR_OK;
    if (!mr_builder_init(&reader.builder, path) || !mr_lines_init(&reader.lines, input)) {
        status = mr_error_memory(error, "reading the trace");
    } else {
        mr_trace *trace = reader.builder.trace;
        mr_validity_init(&reader.validity, &trace->threads, &trace->calls);
        status = read_lines(&reader, error);
    }
    mr_validity_free(&reader.validity);
    mr_lines_free(&reader.lines);
    if (!status)
        status = mr_builder_finish(&reader.builder, result, error);
    mr_builder_free(&reader.builder);
    return status;
}

mr_status mr_trace_read(const char *path, const mr_read_options *options, mr_trace **trace,
                        mr_error *error)
{
    mr_error unused = {0};
    error = error ? error : &unused;
    *trace = NULL;
    const char *place = strcmp(path, "-") ? path : "<stdin>";
    mr_input *input;
    mr_status status = mr_input_open(path, &input, error);
    if (!status) {
        status = read_input(input, path, place, options, trace, error);
    } else if (status != MR_ERR_MEMORY) {
        set_place(error, place, 0);
    }
    mr_input_close(input);
    return status;
}

mr_status mr_trace_read_text(const char *name, const char *text, size_t length_bytes,
                             const mr_read_options *options, mr_trace **trace, mr_error *error)
{
    mr_error unused = {0};
    error = error ? error : &unused;
    *trace = NULL;
    mr_input *input;
    mr_status status = mr_input_open_memory(text, length_bytes, &input, error);
    if (!status)
        status = read_input(input, name, name, options, trace, error);
    mr_input_close(input);
    return status;
}
