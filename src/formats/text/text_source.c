#include "text_source.h"

#include "parse.h"

#include "base/thread.h"
#include "trace/columns.h"
#include "trace/members.h"

#include <string.h>

/* A text of this length takes some milliseconds, a thread to start some hundredths of one. */
enum { AHEAD_FROM_BYTES = 1 << 20 };

static bool may_read_ahead(const mr_read_options *options)
{
    return !(options && options->one_thread) && mr_thread_cores() > 1;
}

mr_status mr_text_source_init(mr_text_source *source, mr_input *input, const char *path,
                              const char *place, const mr_read_options *options, mr_error *error)
{
    *source =
        (mr_text_source){.place = place, .repair = options && options->repair, .input = input};
    if (!mr_builder_init(&source->builder, path) ||
        !mr_columns_limit(source->builder.trace, options) || !mr_lines_init(&source->lines, input))
        return mr_error_memory(error, "reading the trace");
    const mr_trace *trace = source->builder.trace;
    mr_validity_init(&source->validity, trace);
    mr_text_fast_init(&source->fast);
    source->ahead_from_bytes = may_read_ahead(options) ? AHEAD_FROM_BYTES : UINT64_MAX;
    return MR_OK;
}

void mr_text_source_free(mr_text_source *source)
{
    mr_text_ahead_stop(source->ahead);
    mr_validity_free(&source->validity);
    mr_lines_free(&source->lines);
    mr_builder_free(&source->builder);
    mr_input_close(source->input);
    *source = (mr_text_source){0};
}

uint64_t mr_text_source_done_bytes(const mr_text_source *source)
{
    return source->ahead ? mr_text_ahead_done_bytes(source->ahead)
                         : mr_input_done_bytes(source->input);
}

const char *mr_text_source_place(const char *path)
{
    return strcmp(path, "-") ? path : "<stdin>";
}

void mr_text_source_set_place(mr_error *error, const char *place, uint64_t line)
{
    char text[sizeof error->text];
    memcpy(text, error->text, sizeof text);
    mr_error_set(error, error->status, place, line, "%s", text);
}

/* A line is wrong: fails, or with --repair counts it and goes on. `error` has a text and no place.
 */
static mr_status drop(mr_text_source *source, mr_error *error)
{
    mr_trace *trace = source->builder.trace;
    mr_text_source_set_place(error, source->place, source->lines.number);
    if (!source->repair)
        return MR_ERR_TRACE;
    if (!trace->dropped_count++)
        trace->first_dropped = *error;
    return MR_OK;
}

/* Adds to the error the event, in front, and what to do, at the end. */
static void describe(const mr_text_source *source, mr_slice line, mr_error *error)
{
    char quote[MR_QUOTE_SIZE], text[sizeof error->text];
    memcpy(text, error->text, sizeof text);
    mr_error_set(error, error->status, NULL, 0, "%s: %s%s", mr_slice_quote(line, quote), text,
                 source->repair ? "" : "; fix the recorder, or drop the event with --repair");
}

static mr_status read_event(mr_text_source *source, mr_slice line, mr_rows *rows, mr_error *error)
{
    mr_parsed parsed;
    if (mr_parse_event(line, &parsed, error))
        return drop(source, error);
    mr_trace *trace = source->builder.trace;
    /* The names are constant for users of the trace only; here it is being built. */
    mr_names *names = (mr_names *)mr_trace_operand_names(trace, parsed.op);
    uint32_t thread_count = trace->threads.count, name_count = names ? names->count : 0;
    mr_step step = {.op = parsed.op, .line = source->lines.number};
    if (!mr_names_add(&trace->threads, parsed.thread.text, parsed.thread.length, &step.thread) ||
        (names && !mr_names_add(names, parsed.name.text, parsed.name.length, &step.operand)))
        return mr_error_memory(error, "reading the trace");
    mr_status status = mr_validity_step(&source->validity, &step, error);
    if (!status)
        return mr_builder_append(&source->builder, rows, &parsed, step.thread, step.operand,
                                 step.line, error);
    if (status != MR_ERR_TRACE)
        return status;
    describe(source, line, error);
    if (names) /* a dropped event leaves no names behind */
        mr_names_truncate(names, name_count);
    mr_names_truncate(&trace->threads, thread_count);
    return drop(source, error);
}

/* "#@in VARIABLE OBJECT" */
static mr_status read_member(mr_text_source *source, mr_slice line, mr_error *error)
{
    mr_slice variable, object;
    if (mr_parse_member(line, &variable, &object, error))
        return drop(source, error);
    mr_trace *trace = source->builder.trace;
    uint32_t variable_count = trace->variables.count, object_count = trace->objects.count;
    mr_membership member;
    if (!mr_names_add(&trace->variables, variable.text, variable.length, &member.variable) ||
        !mr_names_add(&trace->objects, object.text, object.length, &member.object))
        return mr_error_memory(error, "reading the trace");
    bool used = member.variable < variable_count;
    mr_status status =
        mr_validity_member(&source->validity, member.variable, member.object, used, error);
    if (!status && mr_trace_object(trace, member.variable) == MR_NONE &&
        !mr_members_put(trace, member.variable, member.object))
        return mr_error_memory(error, "reading the trace");
    if (status != MR_ERR_TRACE)
        return status;
    describe(source, line, error);
    mr_names_truncate(&trace->variables, variable_count);
    mr_names_truncate(&trace->objects, object_count);
    return drop(source, error);
}

static mr_status read_line(mr_text_source *source, mr_slice line, mr_rows *rows, mr_error *error)
{
    if (!line.length)
        return MR_OK;
    if (*line.text != '#')
        return read_event(source, line, rows, error);
    static const char end[] = "#@end ";
    enum { END_BYTES = sizeof end - 1 };
    mr_directive directive;
    mr_slice name, text;
    if (line.length > END_BYTES && memcmp(line.text, end, END_BYTES) == 0)
        return mr_ending_take(&source->builder.trace->ending, line.text + END_BYTES,
                              line.length - END_BYTES)
                   ? MR_OK
                   : mr_error_memory(error, "reading the trace");
    if (mr_parse_is_member(line))
        return read_member(source, line, error);
    if (mr_parse_directive(line, &directive, &name, &text) &&
        !mr_builder_directive(&source->builder, directive, name, text))
        return mr_error_memory(error, "reading the trace");
    return MR_OK;
}

/* The input failed. Damage is like a wrong line; every other failure is final. */
static mr_status input_failed(mr_text_source *source, mr_error *error)
{
    source->ended = true;
    if (error->status == MR_ERR_TRACE)
        return drop(source, error);
    mr_text_source_set_place(error, source->place, source->lines.number);
    return error->status;
}

/* Takes the next line, whatever it is. */
static mr_status next_line(mr_text_source *source, mr_rows *rows, mr_error *error)
{
    mr_slice line;
    switch (mr_lines_next(&source->lines, &line, error)) {
    case MR_LINE_TEXT:
        return read_line(source, line, rows, error);
    case MR_LINE_TOO_LONG:
        mr_error_set(error, MR_ERR_TRACE, NULL, 0, "the line is longer than %d bytes",
                     MR_LINE_MAX_BYTES);
        return drop(source, error);
    case MR_LINE_NUL:
        mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                     "the line contains a NUL byte; this is not a text trace");
        return drop(source, error);
    case MR_LINE_FAILED:
        return input_failed(source, error);
    case MR_LINE_END:
        break;
    }
    source->ended = true;
    return MR_OK;
}

/* Asked once: when no thread can be made, this one goes on. */
static void read_ahead(mr_text_source *source, bool keep_values)
{
    source->ahead_from_bytes = UINT64_MAX;
    source->ahead =
        mr_text_ahead_start(&source->lines, &source->fast.ops, &source->builder.trace->locations,
                            keep_values, source->ahead_chunk_bytes);
    source->fast.ahead = source->ahead;
}

mr_status mr_text_source_fill(mr_text_source *source, mr_rows *rows, mr_error *error)
{
    mr_error unused = {0};
    mr_status status = MR_OK;
    error = error ? error : &unused;
    if (source->lines.read_bytes >= source->ahead_from_bytes)
        read_ahead(source, rows->value != NULL);
    while (!status && !source->ended && rows->count < rows->room) {
        if (!source->only_exact)
            status = mr_text_fast_take(&source->fast, &source->lines, &source->validity,
                                       &source->builder, rows, error);
        if (!status && rows->count < rows->room)
            status = next_line(source, rows, error);
    }
    return status;
}
