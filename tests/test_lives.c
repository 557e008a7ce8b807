/* Lives of memory and memory orders in the event store: what is derived, and both formats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/mrt_bytes.h"
#include "support/trace_reading.h"

#include "exclude/choose.h"
#include "exclude/exclude.h"
#include "formats/convert.h"
#include "formats/mrt/mrt_write.h"
#include "formats/read.h"
#include "formats/text/text_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 3 };

/* o: allocated and freed; p: alive from before; q: lives on, its variable is told late. */
static const char text[] = "#@object o the block\n#@in x o\n#@in y o\n#@in z p\n"
                           "A|alloc(o=0x5000+16)|1\nA|w(x=1)|2\nA|ar.acq(f=0)|3\n"
                           "B|fence.rel()|4\nB|aw.rlx(f=1)|5\nB|r(z=0)|6\n"
                           "B|deref(z)|7\nA|free(o)|8\nB|free(p)|9\n"
                           "A|alloc(q)|1\nA|w(v=1)|2\nB|r(y=1)|3\n#@in v q\n";

/* Numbers are in the order of first appearance: o p q, and x y z f v. */
enum { O, P, Q, OBJECTS };
enum { X, Y, Z, F, V };

static void check(const mr_trace *trace)
{
    assert_int_equal(trace->event_count, 12);
    assert_int_equal(trace->objects.count, OBJECTS);
    assert_int_equal(mr_trace_object(trace, X), O);
    assert_int_equal(mr_trace_object(trace, Y), O);
    assert_int_equal(mr_trace_object(trace, Z), P);
    assert_int_equal(mr_trace_object(trace, F), MR_NONE);
    assert_int_equal(mr_trace_object(trace, V), Q);
    const mr_object_info *o = &trace->object_info[O];
    assert_int_equal(o->alloc, 0);
    assert_int_equal(o->free, 7);
    assert_true(o->has_extent);
    assert_int_equal(o->address, 0x5000);
    assert_int_equal(o->bytes, 16);
    assert_int_equal(o->variable_count, 2);
    assert_int_equal(trace->object_variables[o->first_variable], X);
    assert_int_equal(trace->object_variables[o->first_variable + 1], Y);
    assert_int_equal(trace->object_info[P].alloc, MR_NONE);
    assert_int_equal(trace->object_info[P].free, 8);
    assert_int_equal(trace->object_info[Q].alloc, 9);
    assert_int_equal(trace->object_info[Q].free, MR_NONE);
    assert_false(trace->object_info[Q].has_extent);
    assert_int_equal(trace->link[0], 7);
    assert_int_equal(trace->link[7], 0);
    assert_int_equal(trace->link[8], MR_NONE);
    assert_int_equal(trace->link[9], MR_NONE);
    static const mr_memory_order orders[] = {
        MR_ORDER_SC, MR_ORDER_SC, MR_ORDER_ACQ, MR_ORDER_REL, MR_ORDER_RLX, MR_ORDER_SC,
        MR_ORDER_SC, MR_ORDER_SC, MR_ORDER_SC,  MR_ORDER_SC,  MR_ORDER_SC,  MR_ORDER_SC,
    };
    for (uint32_t event = 0; event < trace->event_count; event++)
        assert_int_equal(mr_trace_memory_order(trace, event), orders[event]);
}

static void test_text(void **state)
{
    (void)state;
    char line[MR_TEST_LINE_SIZE];
    mr_trace *trace = mr_test_read(text, false);
    check(trace);
    assert_string_equal(mr_test_event(trace, 0, line), "A|alloc(o=0x5000+16)|1");
    assert_string_equal(mr_test_event(trace, 3, line), "B|fence.rel()|4");
    assert_string_equal(mr_test_event(trace, 4, line), "B|aw.rlx(f=1)|5");
    assert_string_equal(mr_names_display(&trace->objects, O), "the block");
    mr_trace_free(trace);
    /* No column where every event is sc. */
    trace = mr_test_read("A|aw.sc(x)|1\nA|fence.sc()|1\n", false);
    assert_null(trace->memory_order);
    assert_string_equal(mr_test_event(trace, 0, line), "A|aw(x)|1");
    assert_string_equal(mr_test_event(trace, 1, line), "A|fence.sc()|1");
    mr_trace_free(trace);
}

/* The column is made when the first event needs it, and grows. */
static void test_many_orders(void **state)
{
    (void)state;
    enum { EVENTS = 3000, LINE = 16 };
    char *many = calloc(EVENTS, LINE), *at = many;
    assert_non_null(many);
    for (int i = 0; i < EVENTS; i++)
        at += sprintf(at, i % 7 == 5 ? "A|aw.rel(x)|1\n" : "A|aw(x)|1\n");
    mr_trace *trace = mr_test_read(many, false);
    for (uint32_t i = 0; i < EVENTS; i++)
        assert_int_equal(mr_trace_memory_order(trace, i), i % 7 == 5 ? MR_ORDER_REL : MR_ORDER_SC);
    mr_trace_free(trace);
    free(many);
}

static void test_mrt(void **state)
{
    (void)state;
    mr_trace *trace = mr_test_read(text, false);
    mr_bytes bytes = mr_test_mrt(trace, BLOCK);
    assert_int_equal(mr_test_chunk(bytes, MR_MRT_ORDERS, 0)->first, 0);
    assert_int_equal(mr_test_chunk(bytes, MR_MRT_ORDERS, 1)->first, 3);
    assert_null(mr_test_chunk(bytes, MR_MRT_ORDERS, 2));
    for (int standard_input = 0; standard_input < 2; standard_input++) {
        mr_trace *again = NULL;
        mr_error error = {0};
        assert_int_equal(mr_test_read_mrt(bytes, standard_input, &again, &error), MR_OK);
        check(again);
        mr_test_same(again, trace, true);
        mr_trace_free(again);
        assert_int_equal(mr_test_stream(bytes, trace, standard_input, false).status, MR_OK);
    }
    free(bytes.items);
    mr_trace_free(trace);
}

/* A text goes to .mrt block by block: what it says late stands in the file late. */
static void test_conversion(void **state)
{
    (void)state;
    char *path = mr_test_file(text, strlen(text)), *items = NULL, *written = NULL;
    size_t size = 0;
    mr_bytes bytes = {0};
    mr_error error = {0};
    mr_trace *dictionary = NULL, *again = NULL;
    FILE *file = open_memstream(&items, &bytes.count);
    assert_int_equal(mr_mrt_convert(path, NULL, file, &dictionary, &error), MR_OK);
    fclose(file);
    bytes.items = (unsigned char *)items;
    assert_int_equal(mr_test_read_mrt(bytes, false, &again, &error), MR_OK);
    check(again);
    file = open_memstream(&written, &size);
    assert_int_equal(mr_text_write(file, MR_PACKING_NONE, again, NULL, &error), MR_OK);
    fclose(file);
    assert_non_null(strstr(written, "#@object o the block\n"));
    assert_non_null(strstr(written, "#@in v q\n"));
    assert_non_null(strstr(written, "B|aw.rlx(f=1)|5\n"));
    mr_trace_free(again);
    again = mr_test_read(written, false);
    assert_int_equal(again->members.count, 4);
    mr_trace_free(again);
    mr_trace_free(dictionary);
    free(written);
    free(items);
    unlink(path);
    free(path);
}

typedef struct wrong_file {
    void (*change)(mr_bytes bytes);
    const char *message;
    bool streams; /* a stream does not see it */
} wrong_file;

static unsigned char *payload(mr_bytes bytes, mr_mrt_kind kind, unsigned number)
{
    mr_mrt_chunk *chunk = mr_test_chunk(bytes, kind, number);
    assert_non_null(chunk);
    return (unsigned char *)(chunk + 1);
}

static void unfit_order(mr_bytes bytes)
{
    payload(bytes, MR_MRT_ORDERS, 0)[2] = MR_ORDER_REL;
}

static void unknown_order(mr_bytes bytes)
{
    payload(bytes, MR_MRT_ORDERS, 0)[2] = MR_MEMORY_ORDER_COUNT;
}

static void order_of_access(mr_bytes bytes)
{
    payload(bytes, MR_MRT_ORDERS, 0)[1] = MR_ORDER_RLX;
}

static void member_twice(mr_bytes bytes)
{
    mr_membership *members = (mr_membership *)(void *)payload(bytes, MR_MRT_MEMBERS, 0);
    members[1] = members[0];
}

static void no_object(mr_bytes bytes)
{
    ((mr_membership *)(void *)payload(bytes, MR_MRT_MEMBERS, 0))[1].object = OBJECTS;
}

/* The last alloc, of q, becomes one of o. */
static void alloc_twice(mr_bytes bytes)
{
    unsigned char *block = payload(bytes, MR_MRT_EVENTS, 3);
    ((uint32_t *)(void *)(block + mr_mrt_columns_of(BLOCK).operand))[0] = O;
}

static void free_unforeseen(mr_bytes bytes)
{
    mr_mrt_index *index = (mr_mrt_index *)(void *)payload(bytes, MR_MRT_INDEX, 0);
    uint8_t *contended = (uint8_t *)(index + 1);
    assert_int_equal(contended[Y], 1); /* read by B, freed by A */
    assert_int_equal(contended[X], 0);
    assert_int_equal(contended[Z], 0);
    contended[Y] = 0;
}

static void test_wrong_files(void **state)
{
    (void)state;
    static const wrong_file rows[] = {
        {unfit_order, "a memory order that it cannot have", true},
        {unknown_order, "a memory order that it cannot have", true},
        {order_of_access, "a memory order that it cannot have", true},
        {member_twice, "a variable that is put into an object twice", false},
        {no_object, "a variable of an object that there is not", false},
        {alloc_twice, "allocates an object that was allocated before", false},
        {free_unforeseen, "its index does not say what is in it", false},
    };
    mr_trace *trace = mr_test_read(text, false);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mr_bytes bytes = mr_test_mrt(trace, BLOCK);
        mr_trace *read = NULL;
        mr_error error = {0};
        rows[i].change(bytes);
        mr_test_seal(bytes);
        assert_int_equal(mr_test_stream(bytes, NULL, false, false).status,
                         rows[i].streams ? MR_OK : MR_ERR_TRACE);
        assert_int_equal(mr_test_read_mrt(bytes, false, &read, &error), MR_ERR_TRACE);
        if (!strstr(error.text, rows[i].message))
            fail_msg("case %zu: '%s'", i, error.text);
        mr_trace_free(read);
        free(bytes.items);
    }
    mr_trace_free(trace);
}

/* Only the whole trace shows that the variable of a late line was accessed before the alloc. */
static void test_late_member(void **state)
{
    (void)state;
    mr_trace *trace = mr_test_read("#@in x o\nA|w(y)|1\nA|alloc(o)|1\n", false), *read = NULL;
    mr_bytes bytes = {0};
    char *items = NULL;
    mr_mrt_writer *writer;
    mr_error error = {0};
    FILE *file = open_memstream(&items, &bytes.count);
    mr_events events = mr_events_of_trace(trace, 0, 2);
    assert_non_null(file);
    trace->members.count = 0;
    assert_int_equal(mr_mrt_writer_new(file, &writer, &error), MR_OK);
    assert_int_equal(mr_mrt_writer_add(writer, trace, &events, trace->value, NULL, &error), MR_OK);
    trace->members.count = 1;
    trace->members.items[0].variable = 1; /* y */
    assert_int_equal(mr_mrt_writer_finish(writer, trace, &error), MR_OK);
    mr_mrt_writer_free(writer);
    fclose(file);
    bytes.items = (unsigned char *)items;
    assert_int_equal(mr_test_stream(bytes, NULL, false, false).status, MR_OK);
    assert_int_equal(mr_test_read_mrt(bytes, false, &read, &error), MR_ERR_TRACE);
    assert_non_null(strstr(error.text, "an access of an object before its alloc"));
    mr_trace_free(read);
    mr_trace_free(trace);
    free(bytes.items);
}

static void test_older_version(void **state)
{
    (void)state;
    mr_trace *trace = NULL;
    mr_error error = {0};
    char line[MR_TEST_LINE_SIZE];
    assert_int_equal(mr_trace_read("tests/traces/version3.mrt", NULL, &trace, &error), MR_OK);
    assert_int_equal(trace->event_count, 8);
    assert_int_equal(trace->objects.count, 0);
    assert_string_equal(mr_test_event(trace, 4, line), "T2|mbegin(m:x,l)|5");
    mr_bytes bytes = mr_test_mrt(trace, BLOCK); /* as this version */
    mr_trace_free(trace);
    ((mr_mrt_header *)(void *)bytes.items)->version = MR_MRT_OLDEST_VERSION - 1;
    mr_test_seal(bytes);
    assert_int_equal(mr_test_read_mrt(bytes, false, &trace, &error), MR_ERR_TRACE);
    assert_non_null(strstr(error.text, "has format version 1, this maxrace reads versions 2 to 8"));
    mr_trace_free(trace);
    free(bytes.items);
}

/* What ends and begins lives stays, and accesses that another thread's alloc or free concerns. */
static void test_exclude(void **state)
{
    (void)state;
    static const char full[] = "#@in x o\n#@in y p\nA|alloc(o=16+8)|lib\nA|w(x=1)|lib\n"
                               "A|alloc(p)|lib\nA|w(y=1)|lib\nB|r(x=1)|lib\nB|fence.acq()|lib\n"
                               "A|free(p)|a\nA|free(o)|lib\n";
    mr_trace *trace = mr_test_read(full, false), *small = NULL;
    bool *chosen = calloc(trace->locations.count, sizeof *chosen);
    assert_non_null(chosen);
    chosen[0] = true;
    mr_exclude_options options = {.chosen = chosen};
    mr_error error = {0};
    assert_int_equal(mr_exclude(trace, &options, &small, NULL, &error), MR_OK);
    char *written = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&written, &size);
    assert_int_equal(mr_text_write(file, MR_PACKING_NONE, small, NULL, &error), MR_OK);
    fclose(file);
    assert_non_null(strstr(written, "A|alloc(o=0x10+8)|lib\n"));
    assert_non_null(strstr(written, "A|alloc(p)|lib\n"));
    assert_non_null(strstr(written, "B|r(x)|lib\n")); /* A frees it */
    assert_non_null(strstr(written, "B|fence.acq()|lib\n"));
    assert_non_null(strstr(written, "A|free(p)|a\nA|free(o)|lib\n"));
    assert_non_null(strstr(written, "#@in x o\n"));
    assert_null(strstr(written, "w(y"));
    free(written);
    free(chosen);
    mr_trace_free(small);
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),          cmocka_unit_test(test_many_orders),
        cmocka_unit_test(test_mrt),           cmocka_unit_test(test_conversion),
        cmocka_unit_test(test_wrong_files),   cmocka_unit_test(test_late_member),
        cmocka_unit_test(test_older_version), cmocka_unit_test(test_exclude),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
