/* The binary format: contents that are wrong under right checksums, one test a kind of wrong;
 * messages; failing allocations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/mrt/mrt_part.h"
#include "support/mrt_bytes.h"
#include "support/trace_reading.h"

#include "formats/convert.h"
#include "formats/mrt/mrt_write.h"
#include "formats/read.h"
#include "formats/text/text_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Variables z (0, only read), x (1, contended), y (2, of A alone); locks l (0, shared), k (1, of A
 * alone). Blocks of six events. */
static const char text[] =
    "A|r(z=0)|1\nA|w(x=1)|1\nA|w(y=1)|1\nA|acq(l)|1\nA|rel(l)|1\nA|acq(k)|2\n"
    "B|r(z=0)|1\nB|w(x=2)|1\nB|acq(l)|1\nB|rel(l)|1\nA|w(y=2)|1\nA|rel(k)|2\n";
enum { BLOCK = 6, X = 1, L = 0, K = 1 };

static void *payload(mr_bytes bytes, mr_mrt_kind kind, unsigned number)
{
    mr_mrt_chunk *chunk = mr_test_chunk(bytes, kind, number);
    assert_non_null(chunk);
    return chunk + 1;
}

/* The four columns of a block. */
static uint8_t *ops(mr_bytes bytes, unsigned block)
{
    return payload(bytes, MR_MRT_EVENTS, block);
}

static uint32_t *column(mr_bytes bytes, unsigned block, size_t offset)
{
    return (uint32_t *)(void *)(ops(bytes, block) + offset);
}

static uint32_t *threads(mr_bytes bytes, unsigned block)
{
    return column(bytes, block, mr_mrt_columns_of(BLOCK).thread);
}

static uint32_t *operands(mr_bytes bytes, unsigned block)
{
    return column(bytes, block, mr_mrt_columns_of(BLOCK).operand);
}

static uint32_t *locations(mr_bytes bytes, unsigned block)
{
    return column(bytes, block, mr_mrt_columns_of(BLOCK).location);
}

static mr_mrt_index *index_of(mr_bytes bytes)
{
    return payload(bytes, MR_MRT_INDEX, 0);
}

static uint8_t *marks(mr_bytes bytes)
{
    return (uint8_t *)(index_of(bytes) + 1);
}

/* Sets one of the three numbers of a lock use, which stand where they happen to. */
static void set_use(mr_bytes bytes, unsigned use, size_t offset, uint32_t number)
{
    memcpy(marks(bytes) + 5 + use * sizeof(mr_lock_use) + offset, &number, sizeof number);
}

/* The values of the first block: three lengths, then the values. */
static uint32_t *values(mr_bytes bytes)
{
    return payload(bytes, MR_MRT_VALUES, 0);
}

static char *first_names(mr_bytes bytes, unsigned number)
{
    mr_mrt_chunk *chunk = mr_test_chunk(bytes, MR_MRT_NAMES, number);
    return (char *)(chunk + 1) + (size_t)chunk->count * 4;
}

#define CHANGE(name, what)                                                                         \
    static void name(mr_bytes bytes)                                                               \
    {                                                                                              \
        what;                                                                                      \
    }

CHANGE(nothing, (void)bytes)
CHANGE(operation, ops(bytes, 1)[2] = MR_OP_COUNT)
CHANGE(operation_far, ops(bytes, 1)[2] = 200)
CHANGE(thread, threads(bytes, 0)[3] = 1)
CHANGE(thread_far, threads(bytes, 0)[3] = UINT32_MAX)
CHANGE(location, locations(bytes, 1)[5] = 2)
CHANGE(variable, operands(bytes, 0)[1] = 3)
CHANGE(lock, operands(bytes, 0)[3] = 2)
CHANGE(held, operands(bytes, 1)[2] = K)
CHANGE(released, ops(bytes, 0)[3] = MR_OP_RELEASE)
CHANGE(comment_thread, first_names(bytes, 0)[0] = '#')
CHANGE(bar, first_names(bytes, 0)[0] = '|')
CHANGE(twice, first_names(bytes, 1)[0] = 'y')
CHANGE(name_end, ((uint32_t *)payload(bytes, MR_MRT_NAMES, 0))[0] = 1 << 30)
CHANGE(name_count, mr_test_chunk(bytes, MR_MRT_NAMES, 0)->count = 1 << 30)
CHANGE(name_first, mr_test_chunk(bytes, MR_MRT_NAMES, 0)->first = 1)
CHANGE(name_space, mr_test_chunk(bytes, MR_MRT_NAMES, 0)->space = 99)
CHANGE(no_such_kind, mr_test_chunk(bytes, MR_MRT_EVENTS, 1)->kind = 99)
CHANGE(chunk_order, mr_test_chunk(bytes, MR_MRT_EVENTS, 1)->number++)
CHANGE(block_first, mr_test_chunk(bytes, MR_MRT_EVENTS, 1)->first--)
CHANGE(block_count, mr_test_chunk(bytes, MR_MRT_EVENTS, 1)->count--)
CHANGE(block_empty, mr_test_chunk(bytes, MR_MRT_EVENTS, 1)->count = 0)
CHANGE(no_values, mr_test_chunk(bytes, MR_MRT_EVENTS, 0)->has_values = 0)
CHANGE(early_end, mr_test_chunk(bytes, MR_MRT_EVENTS, 1)->kind = MR_MRT_END)
CHANGE(line_zero, ((mr_mrt_line *)payload(bytes, MR_MRT_LINES, 0))->offset = 0)
CHANGE(line_late, ((mr_mrt_line *)payload(bytes, MR_MRT_LINES, 0))->event = 1)
CHANGE(not_contended, marks(bytes)[X] = 0)
CHANGE(mark_of_two, marks(bytes)[X] = 2)
CHANGE(not_shared, marks(bytes)[3 + L] = 0; index_of(bytes)->use_count = 0;
       index_of(bytes)->text_length = 2 * sizeof(mr_lock_use))
CHANGE(shared_unused, marks(bytes)[3 + K] = 1)
CHANGE(use_too_few, set_use(bytes, 1, offsetof(mr_lock_use, sections), 0))
CHANGE(use_too_many, set_use(bytes, 1, offsetof(mr_lock_use, sections), 2))
CHANGE(use_order, set_use(bytes, 0, offsetof(mr_lock_use, thread), 1))
CHANGE(use_lock, set_use(bytes, 0, offsetof(mr_lock_use, lock), 9))
CHANGE(use_thread, set_use(bytes, 1, offsetof(mr_lock_use, thread), 9))
CHANGE(use_count, index_of(bytes)->use_count = UINT32_MAX)
CHANGE(event_count, index_of(bytes)->event_count = 13)
CHANGE(fewer_events, index_of(bytes)->event_count = 11)
CHANGE(op_counts, index_of(bytes)->op_counts[MR_OP_READ]--)
CHANGE(fewer_variables, index_of(bytes)->name_counts[MR_MRT_VARIABLES]--;
       index_of(bytes)->file_length = 1)
CHANGE(other_calls, index_of(bytes)->name_counts[MR_MRT_CALLS]++)
CHANGE(other_rules, index_of(bytes)->outlook_rules++)
CHANGE(value, values(bytes)[4 + 2 * 2] = 9)
CHANGE(value_next, values(bytes)[4 + 2 * 2] = 3) /* there are two */
CHANGE(value_of_lock, values(bytes)[4 + 2 * 2 + 3] = 1)
CHANGE(value_twice, values(bytes)[4] = values(bytes)[6])
CHANGE(value_count, values(bytes)[0] = UINT32_MAX)
CHANGE(update_count, values(bytes)[1] = UINT32_MAX)

/* What is said, and how many events come before it in a stream and in the whole trace. `outlook`:
 * is there one? */
static const struct {
    void (*change)(mr_bytes bytes);
    const char *message; /* a part of it; NULL: no error */
    uint32_t streamed, whole;
    bool outlook;
} cases[] = {
    {nothing, NULL, 12, 12, true},
    {operation, "event 8 has an operation that there is not", 8, 8, true},
    {operation_far, "event 8 has an operation that there is not", 8, 8, true},
    {thread, "event 3 has a thread without a name", 3, 3, true},
    {thread_far, "event 3 has a thread without a name", 3, 3, true},
    {location, "event 11 has a location without a name", 11, 11, true},
    {variable, "event 1 has an operand without a name", 1, 1, true},
    {lock, "event 3 has an operand without a name", 3, 3, true},
    {held, "event 8 acquires a lock that A holds (acquired on line 6)", 8, 8, true},
    {released, "event 3 releases a lock that no thread holds", 3, 3, true},
    {comment_thread, "event 0 is by a thread whose name begins like a comment", 0, 0, true},
    {bar, "a name that no text can have", 0, 0, true},
    {name_end, "a name does not end where it should", 0, 0, true},
    {name_count, "names without a place", 0, 0, true},
    {name_first, "names that are out of order", 0, 0, true},
    {name_space, "names without a place", 0, 0, true},
    {no_such_kind, "a chunk of an unknown kind", 6, 6, true},
    {chunk_order, "no chunk begins there", 6, 6, true},
    {block_first, "events that are out of order", 6, 6, true},
    {block_count, "its index does not say what is in it", 11, 6, true},
    {block_empty, "events that are out of order", 6, 6, true},
    {no_values, "a chunk that is out of order", 6, 6, true},
    {early_end, "it ends without an index", 6, 6, true},
    {line_zero, "line numbers that go backwards", 0, 0, true},
    {line_late, "line numbers that go backwards", 0, 0, true},
    {not_contended, "event 7 contradicts the index", 7, 7, true},
    {mark_of_two, "the index of the .mrt file contradicts itself", 12, 12, false},
    {not_shared, "event 8 contradicts the index", 8, 8, true},
    {shared_unused, "the index of the .mrt file contradicts itself", 12, 12, false},
    {use_too_few, "the index of the .mrt file contradicts itself", 12, 12, false},
    {use_too_many, "its index does not say what is in it", 12, 12, true},
    {use_order, "the index of the .mrt file contradicts itself", 12, 12, false},
    {use_lock, "the index of the .mrt file contradicts itself", 12, 12, false},
    {use_thread, "the index of the .mrt file contradicts itself", 12, 12, false},
    {use_count, "the index of the .mrt file contradicts itself", 12, 12, false},
    {event_count, "its index does not say what is in it", 12, 12, true},
    {fewer_events, "more events than the index says", 6, 6, true},
    {op_counts, "its index does not say what is in it", 12, 12, true},
    {fewer_variables, "the .mrt file", 12, 12, false},
    {other_calls, "its index does not say what is in it", 12, 12, true},
    {other_rules, NULL, 12, 12, false},
};

static mr_bytes sample(void)
{
    mr_trace *trace = mr_test_read(text, false);
    mr_bytes bytes = mr_test_mrt(trace, BLOCK);
    mr_trace_free(trace);
    return bytes;
}

static void test_wrong_contents(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mr_bytes bytes = sample();
        mr_trace *trace;
        mr_error error = {0};
        cases[i].change(bytes);
        mr_test_seal(bytes);
        mr_streamed streamed = mr_test_stream(bytes, NULL, false, false);
        mr_status status = mr_test_read_mrt(bytes, false, &trace, &error);
        if (cases[i].message &&
            (!streamed.status || !strstr(streamed.error.text, cases[i].message)))
            fail_msg("case %zu: '%s' lacks '%s'", i, streamed.error.text, cases[i].message);
        if (streamed.status != (cases[i].message ? MR_ERR_TRACE : MR_OK) ||
            streamed.event_count != cases[i].streamed || streamed.had_outlook != cases[i].outlook)
            fail_msg("case %zu: status %d, %u events, outlook %d", i, streamed.status,
                     (unsigned)streamed.event_count, streamed.had_outlook);
        if (status != streamed.status || trace->event_count != cases[i].whole)
            fail_msg("case %zu: whole: '%s', %u events", i, error.text,
                     (unsigned)trace->event_count);
        mr_trace_free(trace);
        free(bytes.items);
    }
}

/* What a stream does not look at. */
static void test_wrong_values_and_names(void **state)
{
    (void)state;
    static const struct {
        void (*change)(mr_bytes bytes);
        const char *message;
    } rows[] = {
        {value, "an event with a value that there is not"},
        {value_next, "an event with a value that there is not"},
        {value_of_lock, "an event with a value that there is not"},
        {value_twice, "a value comes twice"},
        {value_count, "values of another size"},
        {update_count, "values of another size"},
        {twice, "a name comes twice"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mr_bytes bytes = sample();
        mr_trace *trace;
        mr_error error = {0};
        rows[i].change(bytes);
        mr_test_seal(bytes);
        assert_int_equal(mr_test_stream(bytes, NULL, false, false).status, MR_OK);
        assert_int_equal(mr_test_read_mrt(bytes, false, &trace, &error), MR_ERR_TRACE);
        if (!strstr(error.text, rows[i].message))
            fail_msg("case %zu: '%s'", i, error.text);
        assert_int_equal(trace->event_count, 0);
        mr_trace_free(trace);
        free(bytes.items);
    }
}

static mr_mrt_types *types(mr_bytes bytes)
{
    return payload(bytes, MR_MRT_TYPES, 0);
}

static mr_mrt_type *type_pairs(mr_bytes bytes)
{
    return (mr_mrt_type *)(void *)(types(bytes) + 1);
}

/* The texts of the types: "bool", NUL, "int32", NUL. */
static char *type_texts(mr_bytes bytes)
{
    return (char *)(type_pairs(bytes) + 3);
}

CHANGE(type_variable, type_pairs(bytes)[1].variable = 3)
CHANGE(type_number, type_pairs(bytes)[2].type = 2)
CHANGE(type_twice, type_pairs(bytes)[1].variable = 0)
CHANGE(type_blank, type_texts(bytes)[0] = ' ')
CHANGE(type_line, type_texts(bytes)[1] = '\n')
CHANGE(type_end, type_texts(bytes)[4] = 'x')
CHANGE(type_more, type_texts(bytes)[2] = '\0')
CHANGE(type_none, types(bytes)->type_count = 0)
CHANGE(type_count, types(bytes)->type_count = UINT32_MAX)
CHANGE(type_pair_count, mr_test_chunk(bytes, MR_MRT_TYPES, 0)->count = 1 << 30)
CHANGE(type_again, mr_test_chunk(bytes, MR_MRT_TEXTS, 0)->kind = MR_MRT_TYPES)

/* All events come before the error. */
static void test_wrong_types(void **state)
{
    (void)state;
    static const struct {
        void (*change)(mr_bytes bytes);
        const char *message; /* NULL: no error */
    } rows[] = {
        {nothing, NULL},
        {type_variable, "a type of a variable that there is not"},
        {type_number, "a type of a variable that there is not"},
        {type_twice, "a type that no line can give"},
        {type_blank, "a type that no line can give"},
        {type_line, "a type that no line can give"},
        {type_end, "a type does not end where it should"},
        {type_more, "more text than types"},
        {type_none, "more text than types"},
        {type_count, "types of another size"},
        {type_pair_count, "types of another size"},
        {type_again, "types of another size"},
    };
    char typed[sizeof text + 80];
    snprintf(typed, sizeof typed, "#@type z bool\n#@type x int32\n#@type y bool\n#@loc 1 a\n%s",
             text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mr_trace *made = mr_test_read(typed, false), *trace;
        mr_bytes bytes = mr_test_mrt(made, BLOCK);
        mr_error error = {0};
        rows[i].change(bytes);
        mr_test_seal(bytes);
        mr_streamed streamed = mr_test_stream(bytes, NULL, false, false);
        mr_status status = mr_test_read_mrt(bytes, false, &trace, &error);
        if ((status != MR_OK) != (rows[i].message != NULL) || streamed.status != status ||
            (rows[i].message && !strstr(error.text, rows[i].message)))
            fail_msg("case %zu: status %d, '%s'", i, status, error.text);
        assert_true(streamed.event_count == 12 && trace->event_count == 12);
        mr_trace_free(trace);
        mr_trace_free(made);
        free(bytes.items);
    }
}

/* ---- STATE and FACTS ---- */

static uint32_t *payload_of(mr_bytes bytes, mr_mrt_kind kind, unsigned number)
{
    mr_mrt_chunk *chunk = mr_test_chunk(bytes, kind, number);
    assert_non_null(chunk);
    return (uint32_t *)(void *)(chunk + 1);
}

static bool wants_later(void *context, uint32_t event_count, uint32_t first, uint32_t end)
{
    (void)context;
    (void)first;
    return end > event_count / 2;
}

/* Can a part of the file be read? */
static bool read_part(mr_bytes bytes)
{
    const mr_part_wish wish = {.wants = wants_later, .always = true};
    char *path = mr_test_file(bytes.items, bytes.count);
    mr_mrt_part *part = mr_mrt_part_open(path, NULL, &wish);
    bool done = part != NULL;
    if (done)
        assert_true(mr_mrt_part_trace(part)->run_count > 0);
    mr_mrt_part_close(part);
    unlink(path);
    free(path);
    return done;
}

static mr_status read_path(const char *path, bool check, mr_error *error)
{
    const mr_read_options options = {.check_states = check};
    mr_trace *trace = NULL;
    mr_status status = mr_trace_read(path, &options, &trace, error);
    mr_trace_free(trace);
    return status;
}

/* From a pipe: the outlook comes last. */
static mr_status read_piped(mr_bytes bytes, mr_error *error)
{
    int ends[2];
    char path[32];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], bytes.items, bytes.count), bytes.count);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    mr_status status = read_path(path, true, error);
    close(ends[0]);
    return status;
}

/* From a file and from a pipe. */
static mr_status read_with_states(mr_bytes bytes, bool check, mr_error *error)
{
    mr_error pipe_error = {0};
    char *path = mr_test_file(bytes.items, bytes.count);
    mr_status status = read_path(path, check, error);
    unlink(path);
    free(path);
    if (check)
        assert_int_equal(read_piped(bytes, &pipe_error), status);
    (void)read_part(bytes);
    return status;
}

/* Every number of STATE and FACTS, but for the fingerprint, which is of no matter here. */
static void test_wrong_states(void **state)
{
    (void)state;
    static const mr_mrt_kind kinds[] = {MR_MRT_STATE, MR_MRT_FACTS};
    unsigned changed = 0;
    for (int kind = 0; kind < 2; kind++)
        for (unsigned number = 0;; number++) {
            mr_bytes bytes = sample();
            mr_error error = {0};
            const mr_mrt_chunk *chunk = mr_test_chunk(bytes, kinds[kind], number);
            size_t words = chunk ? (size_t)chunk->size_bytes / sizeof(uint32_t) : 0;
            assert_int_equal(read_with_states(bytes, true, &error), MR_OK);
            for (size_t i = kind ? 2 : 0; i < words; i++, changed++) {
                uint32_t *word = payload_of(bytes, kinds[kind], number) + i, old = *word;
                *word ^= 1;
                mr_test_seal(bytes);
                assert_int_equal(read_with_states(bytes, false, &error), MR_OK);
                assert_int_equal(read_with_states(bytes, true, &error), MR_ERR_TRACE);
                assert_non_null(strstr(error.text, "what it says for parts of it is not so"));
                *word = old;
            }
            free(bytes.items);
            if (!words)
                break;
        }
    assert_true(changed > 10);
}

/* Who reads a part relies on the outlook, too. */
static void test_outlook_of_a_pipe(void **state)
{
    (void)state;
    mr_bytes bytes = sample();
    mr_error error = {0};
    marks(bytes)[X] = 0;
    mr_test_seal(bytes);
    assert_int_equal(read_piped(bytes, &error), MR_ERR_TRACE);
    assert_non_null(strstr(error.text, "what it says for parts of it is not so"));
    free(bytes.items);
}

/* The file with the chunk FACTS once more behind it. */
static mr_bytes with_facts_twice(mr_bytes bytes)
{
    const mr_mrt_chunk *facts = mr_test_chunk(bytes, MR_MRT_FACTS, 0);
    size_t size = sizeof *facts + (size_t)mr_mrt_filled(facts->size_bytes),
           before = (size_t)((const unsigned char *)facts - bytes.items);
    mr_bytes longer = {malloc(bytes.count + size), bytes.count + size};
    assert_non_null(longer.items);
    memcpy(longer.items, bytes.items, before + size);
    memcpy(longer.items + before + size, facts, bytes.count - before);
    mr_test_chunk(longer, MR_MRT_FACTS, 1)->number++;
    mr_test_chunk(longer, MR_MRT_INDEX, 0)->number++;
    mr_test_chunk(longer, MR_MRT_END, 0)->number++;
    mr_test_chunk(longer, MR_MRT_END, 0)->index_offset += size;
    mr_test_seal(longer);
    return longer;
}

static void test_what_comes_after_facts(void **state)
{
    (void)state;
    mr_bytes bytes = sample(), longer = with_facts_twice(bytes);
    mr_error error = {0};
    assert_true(read_part(bytes));
    assert_false(read_part(longer));
    assert_int_equal(read_with_states(longer, true, &error), MR_OK);
    mr_test_chunk(longer, MR_MRT_END, 0)->index_offset -= 64;
    mr_test_seal(longer);
    assert_int_equal(read_with_states(longer, true, &error), MR_ERR_TRACE);
    free(bytes.items);
    free(longer.items);
}

/* A part of a file that was written wrong is refused or read, and nothing else happens. */
static void test_parts_of_wrong_files(void **state)
{
    (void)state;
    enum { CHANGES = 400 };
    uint32_t seed = 1;
    for (int i = 0; i < CHANGES; i++) {
        mr_bytes bytes = sample();
        for (int change = 0; change < 1 + i % 3; change++) {
            seed = seed * 1664525 + 1013904223;
            bytes.items[64 + (seed >> 8) % (bytes.count - 64)] ^=
                (unsigned char)(1u << (seed >> 29));
        }
        mr_test_seal(bytes);
        (void)read_part(bytes);
        free(bytes.items);
    }
}

static void test_headers_and_ends(void **state)
{
    (void)state;
    mr_bytes bytes = sample();
    mr_mrt_header *header = (mr_mrt_header *)(void *)bytes.items;
    header->version = MR_MRT_VERSION + 1;
    mr_test_seal(bytes);
    mr_streamed streamed = mr_test_stream(bytes, NULL, false, false);
    assert_int_equal(streamed.status, MR_ERR_TRACE);
    assert_non_null(
        strstr(streamed.error.text, "has format version 9, this maxrace reads versions 2 to 8"));
    header->version = MR_MRT_VERSION - 1; /* the layout without STATE */
    mr_test_seal(bytes);
    assert_int_equal(mr_test_stream(bytes, NULL, false, false).status, MR_OK);
    header->version = MR_MRT_VERSION;
    header->byte_order = 0x04030201;
    mr_test_seal(bytes);
    streamed = mr_test_stream(bytes, NULL, true, false);
    assert_non_null(strstr(streamed.error.text, "another byte order"));
    header->byte_order = MR_MRT_BYTE_ORDER;
    mr_test_seal(bytes);

    mr_bytes longer = {malloc(bytes.count + 64), bytes.count + 64};
    assert_non_null(longer.items);
    memset(longer.items, 0, longer.count);
    memcpy(longer.items, bytes.items, bytes.count);
    for (int from_input = 0; from_input < 2; from_input++) {
        streamed = mr_test_stream(longer, NULL, from_input, false);
        assert_non_null(strstr(streamed.error.text, "there are bytes after the end"));
        assert_int_equal(streamed.event_count, 12);
    }
    free(longer.items);
    free(bytes.items);
}

/* A claim of 2^60 bytes takes no memory. */
static void test_claimed_sizes(void **state)
{
    (void)state;
    for (int kind = MR_MRT_NAMES; kind <= MR_MRT_INDEX; kind++) {
        mr_bytes bytes = sample();
        mr_mrt_chunk *chunk = mr_test_chunk(bytes, (mr_mrt_kind)kind, 0);
        for (int bits = 20; chunk && bits < 64; bits += 20) {
            chunk->size_bytes = UINT64_C(1) << bits;
            chunk->checksum = mr_mrt_chunk_checksum(chunk);
            for (int from_input = 0; from_input < 2; from_input++) {
                mr_streamed streamed = mr_test_stream(bytes, NULL, from_input, false);
                assert_int_equal(streamed.status, MR_ERR_TRACE);
                assert_non_null(strstr(streamed.error.text, "ends too early"));
            }
        }
        free(bytes.items);
    }
}

static void test_an_empty_file_called_mrt(void **state)
{
    (void)state;
    char *path = mr_test_file("", 0), *named = malloc(strlen(path) + 5);
    mr_trace *trace;
    mr_error error = {0};
    assert_non_null(named);
    strcat(strcpy(named, path), ".mrt");
    assert_int_equal(rename(path, named), 0);
    assert_int_equal(mr_trace_read(named, NULL, &trace, &error), MR_ERR_TRACE);
    assert_non_null(strstr(error.text, "ends too early"));
    unlink(named);
    free(named);
    free(path);
}

static mr_status use_all(const char *path, bool standard_input, mr_error *error)
{
    mr_stream *stream;
    mr_events events = {.count = 1};
    mr_trace *trace = NULL;
    mr_status status = mr_stream_open(path, NULL, &stream, error);
    if (status)
        return status;
    while (!status && events.count)
        status = mr_stream_next(stream, &events, error);
    mr_stream_close(stream);
    if (!status && !standard_input)
        status = mr_trace_read(path, NULL, &trace, error);
    mr_trace_free(trace);
    return status;
}

static void test_failing_allocations(void **state)
{
    (void)state;
    mr_bytes bytes = sample();
    char *path = mr_test_file(bytes.items, bytes.count);
    mr_trace *trace = mr_test_read(text, false);
    mr_status status = MR_ERR_MEMORY;
    FILE *file = fopen("/dev/null", "w");
    uint64_t n = 0;
    for (; status; n++) {
        mr_error error = {0};
        mr_memory_fail_after(n + 1);
        status = use_all(path, false, &error);
        mr_memory_fail_after(0);
        assert_int_equal(status, status ? MR_ERR_MEMORY : MR_OK);
        assert_int_equal(error.status, status);
    }
    assert_true(n > 40);
    for (n = 0, status = MR_ERR_MEMORY; status; n++) {
        mr_error error = {0};
        mr_memory_fail_after(n + 1);
        status = mr_mrt_write(file, trace, NULL, &error);
        mr_memory_fail_after(0);
        assert_int_equal(error.status, status);
        assert_int_equal(status, status ? MR_ERR_MEMORY : MR_OK);
    }
    assert_true(n > 8);
    fclose(file);
    mr_trace_free(trace);
    unlink(path);
    free(path);
    free(bytes.items);
}

typedef mr_status (*converting)(const char *path, FILE *file, mr_error *error);

static mr_status to_binary(const char *path, FILE *file, mr_error *error)
{
    mr_read_options options = {.repair = true};
    mr_trace *dictionary;
    mr_status status = mr_mrt_convert(path, &options, file, &dictionary, error);
    assert_int_equal(dictionary == NULL, status != MR_OK);
    if (dictionary)
        assert_true(dictionary->event_count == 12 && dictionary->dropped_count == 1);
    mr_trace_free(dictionary);
    return status;
}

static mr_status to_text(const char *path, FILE *file, mr_error *error)
{
    mr_read_options options = {.repair = true};
    mr_trace *trace;
    mr_status status = mr_trace_read(path, &options, &trace, error);
    if (!status)
        status = mr_text_write(file, MR_PACKING_GZIP, trace, NULL, error);
    mr_trace_free(trace);
    return status;
}

static void test_failing_allocations_of_convert(void **state)
{
    (void)state;
    static const converting ways[] = {to_binary, to_text};
    char longer[sizeof text + 48];
    snprintf(longer, sizeof longer, "%sA|rel(l)|1\n#@var x the x\n#@type x int8\n", text);
    char *path = mr_test_file(longer, strlen(longer));
    FILE *file = fopen("/dev/null", "w");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        mr_status status = MR_ERR_MEMORY;
        uint64_t n = 0;
        for (; status; n++) {
            mr_error error = {0};
            mr_memory_fail_after(n + 1);
            status = ways[i](path, file, &error);
            mr_memory_fail_after(0);
            assert_int_equal(status, status ? MR_ERR_MEMORY : MR_OK);
            assert_true(!status || error.status == MR_ERR_MEMORY);
        }
        assert_true(n > 20);
    }
    fclose(file);
    unlink(path);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_contents),
        cmocka_unit_test(test_wrong_values_and_names),
        cmocka_unit_test(test_wrong_types),
        cmocka_unit_test(test_wrong_states),
        cmocka_unit_test(test_outlook_of_a_pipe),
        cmocka_unit_test(test_what_comes_after_facts),
        cmocka_unit_test(test_parts_of_wrong_files),
        cmocka_unit_test(test_headers_and_ends),
        cmocka_unit_test(test_claimed_sizes),
        cmocka_unit_test(test_an_empty_file_called_mrt),
        cmocka_unit_test(test_failing_allocations),
        cmocka_unit_test(test_failing_allocations_of_convert),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
