#include "convert.h"

#include "base/ceiling.h"
#include "base/ticker.h"
#include "formats/mrt/mrt_format.h"
#include "formats/mrt/mrt_read.h"
#include "formats/mrt/mrt_write.h"
#include "formats/text/text_source.h"

#include <stdlib.h>

/* One block of rows, with their values. */
typedef struct block {
    uint8_t op[MR_MRT_BLOCK_EVENTS];
    uint32_t thread[MR_MRT_BLOCK_EVENTS], operand[MR_MRT_BLOCK_EVENTS],
        location[MR_MRT_BLOCK_EVENTS], value[MR_MRT_BLOCK_EVENTS];
    uint8_t memory_order[MR_MRT_BLOCK_EVENTS];
} block;

static mr_status no_memory(mr_error *error)
{
    return mr_error_memory(error, "converting the trace");
}

/* The rows as the last events of the trace. */
static mr_events events_of(const mr_trace *trace, const mr_rows *rows)
{
    return (mr_events){
        .first = trace->event_count - rows->count,
        .count = rows->count,
        .op = rows->op,
        .thread = rows->thread,
        .operand = rows->operand,
        .location = rows->location,
        .thread_count = trace->threads.count,
        .variable_count = trace->variables.count,
        .lock_count = trace->locks.count,
        .location_count = trace->locations.count,
        .object_count = trace->objects.count,
        .memory_order = rows->memory_order,
    };
}

static mr_status write_rows(mr_mrt_writer *writer, mr_builder *builder, const mr_rows *rows,
                            mr_error *error)
{
    mr_trace *trace = builder->trace;
    mr_events events = events_of(trace, rows);
    trace->values = (int64_t *)builder->values.items; /* on loan */
    mr_status status = mr_mrt_writer_add(writer, trace, &events, rows->value, NULL, error);
    trace->values = NULL;
    return status;
}

/* Reads the rows of a block. */
static mr_status fill(mr_text_source *source, mr_rows *rows, const mr_halt *halt, mr_error *error)
{
    enum { ROWS_A_LOOK = 1 << 13 };
    mr_status status = MR_OK;
    while (!status && !source->ended && rows->room < MR_MRT_BLOCK_EVENTS) {
        rows->room += ROWS_A_LOOK;
        status = mr_text_source_fill(source, rows, error);
        if (!status && mr_halt_asked(halt))
            status = mr_halt_fail(halt, source->place, "converting the trace", error);
    }
    return status;
}

static mr_status convert_blocks(mr_text_source *source, mr_mrt_writer *writer, block *rows_of,
                                const mr_read_options *options, mr_error *error)
{
    mr_ticker ticker = {.progress = options->progress, .stage = "converting"};
    mr_status status = MR_OK;
    while (!status && !source->ended) {
        mr_rows rows = {.op = rows_of->op,
                        .thread = rows_of->thread,
                        .operand = rows_of->operand,
                        .location = rows_of->location,
                        .value = rows_of->value,
                        .memory_order = rows_of->memory_order};
        status = fill(source, &rows, options->halt, error);
        if (!status)
            status = write_rows(writer, &source->builder, &rows, error);
        mr_ticker_tell(&ticker, mr_text_source_done_bytes(source),
                       mr_input_total_bytes(source->input));
    }
    return status;
}

/* Takes the input over. */
static mr_status convert_text(mr_input *input, const char *path, const mr_read_options *options,
                              FILE *file, mr_trace **dictionary, mr_error *error)
{
    mr_text_source source;
    mr_mrt_writer *writer = NULL;
    block *rows_of = mr_malloc(sizeof *rows_of, 0);
    mr_status status =
        mr_text_source_init(&source, input, path, mr_text_source_place(path), options, error);
    if (!status)
        status = rows_of ? mr_mrt_writer_new(file, &writer, error) : no_memory(error);
    if (!status)
        status = convert_blocks(&source, writer, rows_of, options, error);
    if (!status && !mr_builder_name(&source.builder))
        status = no_memory(error);
    if (!status)
        status = mr_mrt_writer_finish(writer, source.builder.trace, error);
    if (!status) {
        *dictionary = source.builder.trace;
        source.builder.trace = NULL;
    }
    mr_mrt_writer_free(writer);
    mr_text_source_free(&source);
    free(rows_of);
    return status;
}

static mr_status convert(const char *path, const mr_read_options *options, FILE *file,
                         mr_trace **dictionary, mr_error *error)
{
    mr_input *input;
    mr_status status = mr_input_open(path, &input, error);
    if (status) {
        if (status != MR_ERR_MEMORY)
            mr_text_source_set_place(error, mr_text_source_place(path), 0);
        return status;
    }
    mr_input_obey(input, options->halt);
    if (!mr_mrt_is(path, input))
        return convert_text(input, path, options, file, dictionary, error);
    status = mr_mrt_read(path, input, options, dictionary, error);
    if (!status)
        status = mr_mrt_write(file, *dictionary, options->progress, error);
    if (status) {
        mr_trace_free(*dictionary);
        *dictionary = NULL;
    }
    return status;
}

mr_status mr_mrt_convert(const char *path, const mr_read_options *options, FILE *file,
                         mr_trace **dictionary, mr_error *error)
{
    mr_error unused = {0};
    mr_read_options all = options ? *options : (mr_read_options){0};
    mr_halt halt = {.deadline_seconds = all.deadline_seconds};
    mr_ceiling *ceiling = all.halt ? NULL : mr_ceiling_start(all.memory_bytes, &halt);
    *dictionary = NULL;
    all.halt = all.halt ? all.halt : &halt;
    mr_status status = convert(path, &all, file, dictionary, error ? error : &unused);
    mr_ceiling_stop(ceiling);
    return status;
}
