#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mrt_bytes.h"
#include "trace_reading.h"

#include "formats/mrt/mrt_write.h"
#include "formats/read.h"
#include "trace/validity.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

mr_bytes mr_test_mrt(const mr_trace *trace, uint32_t block)
{
    char *items = NULL;
    size_t count = 0;
    mr_error error = {0};
    mr_mrt_writer *writer;
    FILE *file = open_memstream(&items, &count);
    assert_non_null(file);
    assert_int_equal(mr_mrt_writer_new(file, &writer, &error), MR_OK);
    for (uint32_t first = 0; first < trace->event_count; first += block) {
        uint32_t left = trace->event_count - first;
        mr_events events = mr_events_of_trace(trace, first, left < block ? left : block);
        assert_int_equal(mr_mrt_writer_add(writer, trace, &events, trace->value + first,
                                           trace->stack ? trace->stack + first : NULL, &error),
                         MR_OK);
    }
    assert_int_equal(mr_mrt_writer_finish(writer, trace, &error), MR_OK);
    mr_mrt_writer_free(writer);
    fclose(file);
    return (mr_bytes){(unsigned char *)items, count};
}

mr_bytes mr_test_copy(mr_bytes bytes)
{
    mr_bytes copy = {malloc(bytes.count + 1), bytes.count};
    assert_non_null(copy.items);
    memcpy(copy.items, bytes.items, bytes.count);
    return copy;
}

/* The chunk at an offset, or NULL when it is not whole. */
static mr_mrt_chunk *chunk_at(mr_bytes bytes, size_t offset)
{
    if (bytes.count < offset + sizeof(mr_mrt_chunk))
        return NULL;
    mr_mrt_chunk *chunk = (mr_mrt_chunk *)(void *)(bytes.items + offset);
    size_t left = bytes.count - offset - sizeof *chunk;
    return chunk->size_bytes <= left && mr_mrt_filled(chunk->size_bytes) <= left ? chunk : NULL;
}

static size_t after(size_t offset, const mr_mrt_chunk *chunk)
{
    return offset + sizeof *chunk + (size_t)mr_mrt_filled(chunk->size_bytes);
}

mr_mrt_chunk *mr_test_chunk(mr_bytes bytes, mr_mrt_kind kind, unsigned number)
{
    size_t offset = sizeof(mr_mrt_header);
    for (mr_mrt_chunk *chunk; (chunk = chunk_at(bytes, offset)); offset = after(offset, chunk))
        if (chunk->kind == (uint32_t)kind && !number--)
            return chunk;
    return NULL;
}

void mr_test_seal(mr_bytes bytes)
{
    mr_mrt_header *header = (mr_mrt_header *)(void *)bytes.items;
    header->checksum = mr_mrt_header_checksum(header);
    size_t offset = sizeof *header;
    for (mr_mrt_chunk *chunk; (chunk = chunk_at(bytes, offset)); offset = after(offset, chunk)) {
        chunk->payload_checksum =
            mr_mrt_checksum(chunk + 1, (size_t)mr_mrt_filled(chunk->size_bytes));
        chunk->checksum = mr_mrt_chunk_checksum(chunk);
    }
}

/* Makes the file standard input; gives back what that was. */
static int redirect(const char *path)
{
    int kept = dup(STDIN_FILENO), file = open(path, O_RDONLY);
    assert_true(kept >= 0 && file >= 0 && dup2(file, STDIN_FILENO) == STDIN_FILENO);
    close(file);
    return kept;
}

static void redirect_back(int kept)
{
    assert_int_equal(dup2(kept, STDIN_FILENO), STDIN_FILENO);
    close(kept);
}

static void compare_block(const mr_events *events, const mr_trace *trace)
{
    assert_true(events->first + (uint64_t)events->count <= trace->event_count);
    for (uint32_t i = 0; i < events->count; i++) {
        uint32_t event = events->first + i;
        assert_int_equal(events->op[i], trace->op[event]);
        assert_int_equal(events->thread[i], trace->thread[event]);
        assert_int_equal(events->operand[i], trace->operand[event]);
        assert_int_equal(events->location[i], trace->location[event]);
    }
}

static void check_block(const mr_events *events, mr_validity *validity)
{
    for (uint32_t i = 0; i < events->count; i++) {
        mr_error error;
        assert_true(events->op[i] < MR_OP_COUNT && events->thread[i] < events->thread_count &&
                    events->location[i] < events->location_count);
        const uint32_t bounds[] = {
            1,          events->variable_count, events->lock_count, events->thread_count,
            UINT32_MAX, events->object_count};
        mr_step step = {(mr_op)events->op[i], events->thread[i], events->operand[i], 1};
        assert_true(step.operand < bounds[mr_op_operand_kind(step.op)]);
        assert_int_equal(mr_validity_step(validity, &step, &error), MR_OK);
    }
}

static void compare_names(const mr_names *one, const mr_names *two, bool all)
{
    assert_true(all ? one->count == two->count : one->count <= two->count);
    for (uint32_t i = 0; i < one->count; i++) {
        const mr_name *x = &one->items[i], *y = &two->items[i];
        assert_int_equal(x->length, y->length);
        assert_string_equal(x->text, y->text);
        assert_true(x->display ? y->display && !strcmp(x->display, y->display)
                               : !all || !y->display);
    }
}

static void compare_tables(const mr_trace *one, const mr_trace *two, bool all)
{
    for (unsigned space = 0; space < MR_MRT_SPACE_COUNT; space++)
        compare_names(mr_mrt_names_of((mr_trace *)one, space),
                      mr_mrt_names_of((mr_trace *)two, space), all);
    for (uint32_t event = 0; event < one->event_count; event++)
        assert_int_equal(mr_trace_line(one, event), mr_trace_line(two, event));
    if (!all)
        return;
    assert_int_equal(one->event_count, two->event_count);
    assert_memory_equal(one->op_counts, two->op_counts, sizeof one->op_counts);
    for (uint32_t i = 0; i < one->variables.count; i++) {
        const char *x = mr_value_types_text(&one->types, i);
        const char *y = mr_value_types_text(&two->types, i);
        assert_true(x ? y && !strcmp(x, y) : !y);
    }
    assert_int_equal(one->dropped_count, two->dropped_count);
    assert_string_equal(one->first_dropped.text, two->first_dropped.text);
    assert_int_equal(one->first_dropped.line, two->first_dropped.line);
}

/* The reader's thread is ahead, so its names are not looked at while it runs. */
static const mr_trace no_names;

mr_streamed mr_test_stream(mr_bytes bytes, const mr_trace *trace, bool standard_input, bool repair)
{
    char *path = mr_test_file(bytes.items, bytes.count);
    int kept = standard_input ? redirect(path) : -1;
    mr_read_options options = {.repair = repair};
    mr_streamed result = {.status = MR_OK};
    mr_stream *stream;
    mr_validity validity;
    mr_events events = {.count = 1};
    result.status = mr_stream_open(standard_input ? "-" : path, &options, &stream, &result.error);
    if (!result.status) {
        const mr_trace *dictionary = mr_stream_dictionary(stream);
        mr_validity_init(&validity, &no_names);
        result.had_outlook = mr_stream_outlook(stream) != NULL;
        while (!(result.status = mr_stream_next(stream, &events, &result.error)) && events.count) {
            assert_int_equal(events.first, result.event_count);
            if (trace)
                compare_block(&events, trace);
            else
                check_block(&events, &validity);
            result.event_count += events.count;
        }
        assert_int_equal(dictionary->event_count, result.event_count);
        result.dropped_count = dictionary->dropped_count;
        if (trace)
            compare_tables(dictionary, trace, !result.status && !repair);
        if (result.status) /* again and again */
            assert_int_equal(mr_stream_next(stream, &events, NULL), result.status);
        mr_validity_free(&validity);
        mr_stream_close(stream);
    }
    if (standard_input)
        redirect_back(kept);
    unlink(path);
    free(path);
    return result;
}

/* Byte by byte, but for names and paddings. */
mr_status mr_test_read_mrt(mr_bytes bytes, bool standard_input, mr_trace **trace, mr_error *error)
{
    char *path = mr_test_file(bytes.items, bytes.count);
    int kept = standard_input ? redirect(path) : -1;
    mr_read_options options = {.keep_partial = true};
    mr_status status = mr_trace_read(standard_input ? "-" : path, &options, trace, error);
    if (standard_input)
        redirect_back(kept);
    unlink(path);
    free(path);
    return status;
}

static void compare_columns(const mr_trace *one, const mr_trace *two)
{
    size_t count = one->event_count, bytes = count * sizeof(uint32_t);
    assert_int_equal(count, two->event_count);
    assert_memory_equal(one->op, two->op, count);
    assert_memory_equal(one->thread, two->thread, bytes);
    assert_memory_equal(one->operand, two->operand, bytes);
    assert_memory_equal(one->location, two->location, bytes);
    assert_memory_equal(one->value, two->value, bytes);
    assert_memory_equal(one->link, two->link, bytes);
    assert_memory_equal(one->op_counts, two->op_counts, sizeof one->op_counts);
    assert_memory_equal(one->thread_info, two->thread_info,
                        one->threads.count * sizeof *one->thread_info);
    for (uint32_t i = 0; i < one->variables.count; i++) {
        assert_int_equal(one->variable_info[i].initial_value, two->variable_info[i].initial_value);
        assert_int_equal(one->variable_info[i].by_source, two->variable_info[i].by_source);
    }
    assert_int_equal(one->by_source_count, two->by_source_count);
    assert_int_equal(one->value_count, two->value_count);
    assert_int_equal(one->dropped_count, two->dropped_count);
}

void mr_test_same(const mr_trace *part, const mr_trace *whole, bool all)
{
    char one[MR_TEST_LINE_SIZE], two[MR_TEST_LINE_SIZE];
    assert_true(part->event_count <= whole->event_count);
    for (uint32_t event = 0; event < part->event_count; event++)
        assert_string_equal(mr_test_event(part, event, one), mr_test_event(whole, event, two));
    assert_memory_equal(part->thread, whole->thread, part->event_count * sizeof *part->thread);
    compare_tables(part, whole, all);
    if (all)
        compare_columns(part, whole);
}
