/*
 * The fast way of a text source against the exact way: the masks, and whole texts, ordinary, odd
 * and mutated, read both ways: the same events, names, values, lines, drops and messages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/text/marks.h"
#include "formats/text/text_source.h"
#include "support/length.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_masks(void **state)
{
    (void)state;
    mr_random random = {1};
    char bytes[MR_MARKS_BYTES];
    for (int round = 0; round < 20000; round++) {
        uint64_t shape = 0, newlines = 0;
        uint32_t digits = 0;
        for (int i = 0; i < MR_MARKS_BYTES; i++) {
            char c = "|()=\n09/:-"[mr_random_below(&random, 10)];
            if (round < 256)
                c = (char)round;
            else if (mr_random_below(&random, 2))
                c = (char)mr_random_below(&random, 256);
            bytes[i] = c;
            shape |= (uint64_t)(c == '|' || c == '(' || c == ')' || c == '=') << i;
            newlines |= (uint64_t)(c == '\n') << i;
            if (i < MR_DIGITS_BYTES)
                digits |= (uint32_t)(c >= '0' && c <= '9') << i;
        }
        assert_true(mr_shape_of(bytes) == shape);
        assert_true(mr_shape_by_words(bytes) == shape);
        assert_true(mr_newlines_of(bytes) == newlines);
        assert_true(mr_newlines_by_words(bytes) == newlines);
        assert_int_equal(mr_digits_of(bytes), digits);
        assert_int_equal(mr_digits_by_words(bytes), digits);
    }
}

/* What came of a text: a trace up to the end or the error. */
typedef struct reading {
    mr_trace *trace;
    mr_status status;
    mr_error error;
    uint64_t quick_lines; /* that went the fast way */
} reading;

/* A way to read: as text_source.h says. */
typedef struct way {
    bool only_exact, ahead;
    uint64_t ahead_from_bytes;
    size_t ahead_chunk_bytes;
} way;

static reading read_one_way(const char *text, size_t length, bool repair, way how)
{
    reading result = {.status = MR_OK};
    mr_read_options options = {.repair = repair};
    mr_input *input;
    mr_text_source source;
    assert_int_equal(mr_input_open_memory(text, length, &input, NULL), MR_OK);
    assert_int_equal(mr_text_source_init(&source, input, "t", "t", &options, NULL), MR_OK);
    source.only_exact = how.only_exact;
    source.ahead_from_bytes = how.ahead ? how.ahead_from_bytes : UINT64_MAX;
    source.ahead_chunk_bytes = how.ahead_chunk_bytes;
    while (!result.status && !source.ended) {
        mr_rows rows;
        assert_int_equal(mr_builder_rows(&source.builder, 1000, &rows, NULL), MR_OK);
        uint64_t before = source.lines.number;
        if (!how.only_exact) {
            assert_int_equal(mr_text_fast_take(&source.fast, &source.lines, &source.validity,
                                               &source.builder, &rows, NULL),
                             MR_OK);
            result.quick_lines += source.lines.number - before;
        }
        rows.room = rows.count + (rows.room > rows.count);
        result.status = mr_text_source_fill(&source, &rows, &result.error);
    }
    assert_int_equal(mr_builder_finish(&source.builder, &result.trace, NULL), MR_OK);
    mr_text_source_free(&source);
    return result;
}

static void check_names(const mr_names *fast, const mr_names *exact)
{
    assert_int_equal(fast->count, exact->count);
    for (uint32_t i = 0; i < fast->count; i++) {
        assert_int_equal(fast->items[i].length, exact->items[i].length);
        assert_string_equal(fast->items[i].text, exact->items[i].text);
        assert_string_equal(mr_names_display(fast, i), mr_names_display(exact, i));
    }
}

static void check_same(const reading *fast, const reading *exact)
{
    const mr_trace *a = fast->trace, *b = exact->trace;
    size_t count = a->event_count;
    assert_int_equal(fast->status, exact->status);
    if (fast->status) {
        assert_string_equal(fast->error.text, exact->error.text);
        assert_string_equal(fast->error.file, exact->error.file);
        assert_int_equal(fast->error.line, exact->error.line);
    }
    assert_int_equal(a->event_count, b->event_count);
    assert_memory_equal(a->op, b->op, count);
    assert_memory_equal(a->thread, b->thread, 4 * count);
    assert_memory_equal(a->operand, b->operand, 4 * count);
    assert_memory_equal(a->location, b->location, 4 * count);
    assert_memory_equal(a->value, b->value, 4 * count);
    assert_int_equal(a->value_count, b->value_count);
    if (a->value_count)
        assert_memory_equal(a->values + 1, b->values + 1, 8 * ((size_t)a->value_count - 1));
    for (uint32_t event = 0; event < count; event++)
        assert_int_equal(mr_trace_line(a, event), mr_trace_line(b, event));
    assert_int_equal(a->dropped_count, b->dropped_count);
    assert_string_equal(a->first_dropped.text, b->first_dropped.text);
    assert_int_equal(a->first_dropped.line, b->first_dropped.line);
    check_names(&a->threads, &b->threads);
    check_names(&a->variables, &b->variables);
    check_names(&a->locks, &b->locks);
    check_names(&a->locations, &b->locations);
    check_names(&a->calls, &b->calls);
}

/* Reads in all ways, with and without repair; the number of lines that went the fast way in this
 * thread alone. `from_bytes`, `chunk_bytes`: for the thread that reads ahead; UINT64_MAX: none. */
static uint64_t check_ways(const char *text, size_t length, uint64_t from_bytes, size_t chunk_bytes)
{
    int count = from_bytes == UINT64_MAX ? 1 : 2;
    const way ways[] = {
        {0}, {.ahead = true, .ahead_from_bytes = from_bytes, .ahead_chunk_bytes = chunk_bytes}};
    uint64_t quick_lines = 0;
    for (int repair = 0; repair < 2; repair++) {
        reading exact = read_one_way(text, length, repair, (way){.only_exact = true});
        for (int i = 0; i < count; i++) {
            reading fast = read_one_way(text, length, repair, ways[i]);
            check_same(&fast, &exact);
            quick_lines += ways[i].ahead ? 0 : fast.quick_lines;
            mr_trace_free(fast.trace);
        }
        mr_trace_free(exact.trace);
    }
    return quick_lines;
}

static uint64_t check_text(const char *text, size_t length)
{
    /* Threads cost time: one text in three has one. */
    return check_ways(text, length, length % 3 ? UINT64_MAX : 0, 1 + length % 97);
}

/* Each line stands alone between ordinary ones, so that it meets the fast way. */
static const char *const odd_lines[] = {
    "A|r(x=0)|1",
    "A|r(x=-0)|1",
    "A|r(x=-)|1",
    "A|r(x=)|1",
    "A|r(x=1234567890123456)|1",
    "A|r(x=12345678901234567)|1",
    "A|w(x=9223372036854775807)|1",
    "A|w(x=9223372036854775808)|1",
    "A|w(x=-9223372036854775808)|1",
    "A|w(x=-9223372036854775809)|1",
    "A|w(x=00000000000000000000000000001)|1",
    "A|r(x=1=2)|1",
    "A|r(x=1>2)|1",
    "A|r(=1)|1",
    "A|r(x= 1)|1",
    "A|r(x=1 )|1",
    "A|r()|1",
    "A|r(x)|",
    "A|r(x)|\r",
    "A|r(x)|\r\r",
    "A|r(x)|a|b(c)=d",
    "A|r(x)",
    "A|r(x))|1",
    "A|r((x)|1",
    "A|r(x)1|1",
    "A|r(x|1",
    "A|rx)|1",
    "A|(x)|1",
    "A||1",
    "|r(x)|1",
    "#|r(x)|1",
    "#@var|r(x)|1",
    "#@loc 1 one",
    "A#|r(x)|1",
    "A=|r(x)|1",
    "A(|r(x)|1",
    "A|acq(l=1)|1",
    "A|acq(l)|1",
    "A|rel(l)|1",
    "A|acq()|1",
    "B|acq(l)|1",
    "A|post(s)|1",
    "A|wait(s)|1",
    "A|wait(never)|1",
    "A|racq(k)|1",
    "A|rrel(k)|1",
    "A|branch()|1",
    "A|branch(x)|1",
    "A|branch(=)|1",
    "Z|branch()|1",
    "A|branchy()|1",
    "A|rr(x)|1",
    "A|R(x)|1",
    "A|au(x=1>2)|1",
    "A|ar(x=1)|1",
    "A|aw(x)|1",
    "A|mbegin(m:x)|1",
    "A|mend(m)|1",
    "a thread whose name is long|r(x)|1",
    "a thread whose name is so long that no mark is where the masks of the line end|r(x)|1",
    "seven77|r(x)|1",
    "eight888|r(x)|1",
    "nine99999|r(x)|1",
    "A|r(a.variable.of.24.bytes..)|1",
    "A|r(a.variable.of.25.bytes...)|1",
    "A|r(a.variable.of.25.bytes..!)|1",
    "A|r(a.variable.that.ends.just.before.the.end.of.the.masks......)|1",
    "A|r(a.variable.that.ends.just.before.the.end.of.the.masks.......)|1",
    "A|r(a.variable.that.ends.just.before.the.end.of.the.masks........)|1",
    "A|r(a.variable.that.ends.just.before.the.end.of.the.masks.....=1)|1",
    "A|r(a.variable.that.ends.just.before.the.end.of.the.masks......=1)|1",
    "A|r(a.variable.that.ends.just.before.the.end.of.the.masks.......=1)|1",
    "A|r(a.variable.that.ends.just.before.the.end.of.the.masks........=1)|1",
    "A|r(x)|a location that goes on for longer than the masks, from the first to the last byte",
    "A|r(x)|a location that goes on for longer than the masks, from the first to the last bit\r",
    "",
    "\r",
    " ",
};

enum { ODD_LINES = sizeof odd_lines / sizeof *odd_lines };

static void test_odd_lines(void **state)
{
    (void)state;
    char text[400];
    int step = mr_length_full() ? 1 : 2;
    for (int i = 0; i < ODD_LINES; i++) {
        for (int before = i % step; before < 20;
             before += step) { /* at each place of what is looked at ahead */
            char *at = text;
            for (int j = 0; j < before; j++)
                at += sprintf(at, "A|r(x)|%d\n", j);
            at += sprintf(at, "%s\n%s\nA|w(x)|2\n", odd_lines[i], odd_lines[i]);
            check_text(text, (size_t)(at - text));
            check_text(text, (size_t)(at - text - 1));
        }
    }
}

static void test_random_texts(void **state)
{
    (void)state;
    enum { LINES = 60 };
    static const char *const usual[] = {"A|r(x=1)|1",  "A|w(y)|2",   "B|r(x)|1",   "B|w(y=-3)|2",
                                        "A|acq(l)|3",  "A|rel(l)|4", "B|acq(l)|3", "B|rel(l)|4",
                                        "A|fork(C)|1", "C|r(z)|5"};
    mr_random random = {2};
    uint64_t quick_lines = 0, lines = 0;
    char text[LINES * 100];
    for (uint64_t left = mr_length("FAST_TEXTS", 1200, 3000); left; left--) {
        size_t length = 0;
        for (int i = 0; i < LINES; i++) {
            const char *line = mr_random_below(&random, 10)
                                   ? usual[mr_random_below(&random, sizeof usual / sizeof *usual)]
                                   : odd_lines[mr_random_below(&random, ODD_LINES)];
            length += (size_t)sprintf(text + length, "%s\n", line);
        }
        for (uint32_t changes = mr_random_below(&random, 4); changes; changes--) {
            char c = "|()=\n\r-0A#\xFF"[mr_random_below(&random, 12)]; /* also NUL */
            text[mr_random_below(&random, (uint32_t)length)] = c;
        }
        quick_lines += check_text(text, length);
        lines += 2 * LINES;
    }
    assert_true(quick_lines > lines / 10); /* or the test says little */
}

/* What looks ordinary, and is not because of what came before. */
static void test_what_came_before(void **state)
{
    (void)state;
    static const char *const texts[] = {
        /* a forked thread whose events would be comments */
        "A|acq(l)|1\nA|rel(l)|2\nA|fork(#x)|3\n#x|acq(l)|4\n#x|r(y)|5\nA|acq(l)|6\n",
        /* a short name that is how a long one begins */
        "nine99999|r(x)|1\nn|r(x)|2\nnine99999|r(x)|3\nn|r(x)|4\nnine99999|w(x)|5\nn|w(x)|6\n",
        "n|r(x)|1\nnine99999|r(x)|2\nn|r(x)|3\nnine99999|r(x)|4\nn|w(x)|5\nnine99999|w(x)|6\n",
        /* threads that are at their end */
        "A|r(x)|1\nA|r(x)|2\nB|r(x)|3\nB|join(A)|4\nA|r(x)|5\nB|r(x)|6\nA|branch()|7\n",
        "A|r(x)|1\nA|r(x)|2\nB|r(x)|3\nA|end()|4\nA|r(x)|5\nB|r(x)|6\nA|branch()|7\n",
        /* refused: a new location of a lock operation is forgotten */
        "A|acq(l)|1\nB|r(x)|2\nB|acq(l)|new\nB|rel(l)|newer\nA|rel(l)|3\nB|acq(l)|4\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_text(texts[i], strlen(texts[i]));
}

/* `refused`: names come with events that are refused, and again with others: their numbers, which the threads that read ahead
 * may have found, are given to other names. Else names are new again and again, a lock and a variable of one name. */
static char *put_new_names(char *at, int line, bool refused, mr_random *random)
{
    static const char *const ops[] = {"acq", "rel", "r", "w", "r", "w"};
    uint32_t near = (uint32_t)line / 100, op = mr_random_below(random, 6);
    uint32_t thread = mr_random_below(random, 3) + near / 10;
    uint32_t name = near + mr_random_below(random, op < 2 ? 3 : 30);
    if (op < 2 && !refused)
        return at + sprintf(at, "T%u|acq(x%u)|1\nT%u|rel(x%u)|2\n", thread, name, thread, name);
    return at + sprintf(at, "T%u|%s(x%u)|%u\n", thread, ops[op], name,
                        near + mr_random_below(random, 20));
}

static void test_new_names(void **state)
{
    (void)state;
    enum { LINES = 20000 };
    mr_random random = {4};
    char *text = malloc(LINES * 60);
    assert_non_null(text);
    for (int refused = 0; refused < 2; refused++) {
        char *at = text;
        for (int i = 0; i < LINES; i++)
            at = put_new_names(at, i, refused, &random);
        for (size_t chunk = 300; chunk < 100000; chunk *= 7)
            check_ways(text, (size_t)(at - text), 0, chunk);
    }
    free(text);
}

/* A thread goes on after its end, when every name is long known. */
static void test_after_the_end(void **state)
{
    (void)state;
    enum { LINES = 12000 };
    mr_random random = {5};
    char *text = malloc(LINES * 20), *at = text;
    assert_non_null(text);
    for (int i = 0; i < LINES; i++)
        at += sprintf(at, i == LINES / 2 ? "T1|end()|1\n" : "T%u|r(x%u)|%u\n",
                      mr_random_below(&random, 3), mr_random_below(&random, 30),
                      mr_random_below(&random, 20));
    check_ways(text, (size_t)(at - text), 0, 1000);
    free(text);
}

/* Longer than the buffer of lines, with lines of all lengths across its ends. */
static void test_long_text(void **state)
{
    (void)state;
    enum { LINES = 40000 };
    mr_random random = {3};
    char *text = malloc(LINES * 80), *at = text;
    assert_non_null(text);
    for (int i = 0; i < LINES; i++)
        at += sprintf(at, "T%u|%s(V%u.%u=%u)|%.*s%u\n", mr_random_below(&random, 30),
                      mr_random_below(&random, 2) ? "r" : "w", mr_random_below(&random, 5000),
                      mr_random_below(&random, 1000), mr_random_below(&random, 1u << 31),
                      (int)mr_random_below(&random, 30), "com/example/File.java:ffffffff",
                      (unsigned)i % 700);
    for (uint64_t from = 0; from < 2 << 20; from = from ? 2 * from : 1 << 17) {
        uint64_t quick_lines = check_ways(text, (size_t)(at - text), from, from % 3 ? 0 : 4001);
        assert_true(quick_lines > 2 * LINES * 99 / 100);
    }
    free(text);
}

/* Lines about as long as a line may be, and much longer, at the start, in the middle and at the end. */
static void test_longest_lines(void **state)
{
    (void)state;
    static const int lengths[] = {MR_LINE_MAX_BYTES - 1, MR_LINE_MAX_BYTES, MR_LINE_MAX_BYTES + 1,
                                  MR_LINE_MAX_BYTES + 2, 5 * MR_LINE_MAX_BYTES / 2};
    static const size_t chunks[] = {0, 100000, 77777};
    char *text = malloc(3 * MR_LINE_MAX_BYTES + 1000);
    assert_non_null(text);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (int place = 0; place < 3; place++) {
            char *at = text;
            at += place ? sprintf(at, "A|w(x)|1\nB|r(x)|2\n") : 0;
            memset(at, 'y', (size_t)lengths[i]);
            memcpy(at, "A|r(x)|", strlen("A|r(x)|"));
            at += lengths[i];
            at += place < 2 ? sprintf(at, "\nA|w(x)|3\nB|r(z=1)|4\n") : 0;
            check_ways(text, (size_t)(at - text), place == 2 ? 1 << 18 : 0, chunks[i % 3]);
        }
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_masks),        cmocka_unit_test(test_odd_lines),
        cmocka_unit_test(test_random_texts), cmocka_unit_test(test_what_came_before),
        cmocka_unit_test(test_new_names),    cmocka_unit_test(test_after_the_end),
        cmocka_unit_test(test_long_text),    cmocka_unit_test(test_longest_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
