/* exclude: which events go, what stands in their place, and that the rest is a trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exclude/choose.h"
#include "exclude/exclude.h"
#include "formats/text/text_write.h"
#include "support/trace_reading.h"
#include "trace/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text_of(const mr_trace *trace)
{
    char *text = NULL;
    size_t size = 0;
    mr_error error;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(mr_text_write(stream, MR_PACKING_NONE, trace, NULL, &error), MR_OK);
    fclose(stream);
    return text;
}

static mr_trace *exclude(const mr_trace *trace, const mr_exclude_options *options,
                         mr_exclude_counts *counts)
{
    mr_trace *remaining = NULL;
    mr_error error = {0};
    if (mr_exclude(trace, options, &remaining, counts, &error) != MR_OK)
        fail_msg("%s", error.text);
    return remaining;
}

/* Takes the locations whose names match "x*" out. */
static char *exclude_text(const char *in, bool whole_runs, bool no_calls)
{
    mr_trace *trace = mr_test_read(in, false);
    bool *chosen = calloc(trace->locations.count + 1, sizeof *chosen);
    assert_non_null(chosen);
    assert_int_equal(mr_places_match(trace, "x*", chosen, &(bool){0}, NULL), MR_OK);
    mr_exclude_options options = {.chosen = chosen, .whole_runs = whole_runs, .no_calls = no_calls};
    mr_trace *remaining = exclude(trace, &options, NULL);
    char *text = text_of(remaining);
    mr_trace_free(mr_test_read(text, false));
    mr_trace_free(remaining);
    mr_trace_free(trace);
    free(chosen);
    return text;
}

static const struct {
    const char *name, *in, *out;
} rows[] = {
    {"one run of a thread is one call; the kept accesses of what it writes lose their values",
     "A|w(x=1)|1\nA|r(x=1)|x1\nA|w(y=5)|x2\nA|r(x=1)|2\nB|r(y=5)|3\n",
     "A|w(x=1)|1\nA|mbegin(x1:x,y)|x1\nA|mend(x1)|x2\nA|r(x=1)|2\nB|r(y)|3\n"},
    {"events of other threads do not end a run", "A|w(x=1)|x1\nB|w(z=1)|1\nA|w(y=1)|x2\n",
     "A|mbegin(x1:x,y)|x1\nB|w(z=1)|1\nA|mend(x1)|x2\n"},
    {"a kept event of the thread does", "A|w(x=1)|x1\nA|w(z=1)|1\nA|w(y=1)|x2\n",
     "A|mbegin(x1:x)|x1\nA|mend(x1)|x1\nA|w(z=1)|1\nA|mbegin(x2:y)|x2\nA|mend(x2)|x2\n"},
    {"a chosen acquire takes its release along",
     "A|acq(l)|x1\nA|w(x=1)|1\nA|rel(l)|2\nB|acq(l)|3\nB|rel(l)|4\n",
     "A|mbegin(x1:l)|x1\nA|mend(x1)|x1\nA|w(x=1)|1\nA|mbegin(x2:l)|2\nA|mend(x2)|2\n"
     "B|acq(l)|3\nB|rel(l)|4\n"},
    {"a chosen release takes its acquire along, and of nested ones only its own",
     "A|acq(l)|1\nA|acq(l)|2\nA|rel(l)|x1\nA|w(x=1)|3\nA|rel(l)|4\nB|acq(l)|5\nB|rel(l)|6\n",
     "A|acq(l)|1\nA|mbegin(x1:l)|2\nA|mend(x1)|x1\nA|w(x=1)|3\nA|rel(l)|4\nB|acq(l)|5\n"
     "B|rel(l)|6\n"},
    {"shared and exclusive holds of one lock are told apart",
     "A|racq(l)|1\nA|acq(l)|x1\nA|w(x=1)|2\nA|rrel(l)|3\nA|w(x=2)|4\nA|rel(l)|5\n",
     "A|racq(l)|1\nA|mbegin(x1:l)|x1\nA|mend(x1)|x1\nA|w(x=1)|2\nA|rrel(l)|3\nA|w(x=2)|4\n"
     "A|mbegin(x2:l)|5\nA|mend(x2)|5\n"},
    {"an acquire that is never released goes alone", "A|acq(l)|x1\nA|w(x=1)|1\n",
     "A|mbegin(x1:l)|x1\nA|mend(x1)|x1\nA|w(x=1)|1\n"},
    {"post and wait of a unit go together", "A|post(s)|x1\nB|post(s)|1\nC|wait(s)|2\nC|wait(s)|3\n",
     "A|mbegin(x1:s)|x1\nA|mend(x1)|x1\nB|post(s)|1\nC|mbegin(x2:s)|2\nC|mend(x2)|2\n"
     "C|wait(s)|3\n"},
    {"fork and join reach the thread; begin and end reach nothing",
     "A|fork(B)|x1\nB|begin()|x2\nB|w(x=1)|1\nB|end()|x3\nA|join(B)|x4\n",
     "A|mbegin(x1:B)|x1\nA|mend(x1)|x1\nB|mbegin(x2:)|x2\nB|mend(x2)|x2\nB|w(x=1)|1\n"
     "B|mbegin(x3:)|x3\nB|mend(x3)|x3\nA|mbegin(x4:B)|x4\nA|mend(x4)|x4\n"},
    {"recorded calls stay, and their identifiers are not used again",
     "A|mbegin(x1:x,q)|x1\nA|w(x=1)|x2\nA|mend(x1)|x3\n",
     "A|mbegin(x1:x,q)|x1\nA|mbegin(x2:x)|x2\nA|mend(x2)|x2\nA|mend(x1)|x3\n"},
    {"a name with a comma is everything", "A|w(x)|x1\nA|w(a[1,2])|x2\n",
     "A|mbegin(x1:*)|x1\nA|mend(x1)|x2\n"},
    {"(1) a call ends before another thread touched what it goes on with",
     "A|w(x=1)|x1\nB|w(y=1)|1\nA|w(y=2)|x2\n",
     "A|mbegin(x1:x)|x1\nA|mend(x1)|x1\nB|w(y)|1\nA|mbegin(x2:y)|x2\nA|mend(x2)|x2\n"},
    {"(1) and when another thread touched what it did before",
     "A|w(x=1)|x1\nB|w(x=3)|1\nA|w(y=2)|x2\n",
     "A|mbegin(x1:x)|x1\nA|mend(x1)|x1\nB|w(x)|1\nA|mbegin(x2:y)|x2\nA|mend(x2)|x2\n"},
    {"(1) a thread that begins touches itself", "A|fork(B)|x1\nB|r(y)|1\nA|w(x=1)|x2\n",
     "A|mbegin(x1:B)|x1\nA|mend(x1)|x1\nB|r(y)|1\nA|mbegin(x2:x)|x2\nA|mend(x2)|x2\n"},
    {"(1) within a recorded call anything may be touched",
     "A|w(x=1)|x1\nB|mbegin(m:q)|1\nB|mend(m)|2\nA|w(x=2)|x2\n",
     "A|mbegin(x1:x)|x1\nA|mend(x1)|x1\nB|mbegin(m:q)|1\nB|mend(m)|2\nA|mbegin(x2:x)|x2\n"
     "A|mend(x2)|x2\n"},
    {"(2) a write goes, too, when another could take its place",
     "A|w(x=1)|1\nB|w(x=2)|2\nC|r(x=2)|x1\n",
     "A|w(x)|1\nB|mbegin(x1:x)|2\nB|mend(x1)|2\nC|mbegin(x2:x)|x1\nC|mend(x2)|x1\n"},
    {"(2) an update that goes takes the write that it reads",
     "A|aw(x=1)|1\nB|au(x=1>2)|2\nC|r(x=2)|x1\n",
     "A|mbegin(x1:x)|1\nA|mend(x1)|1\nB|mbegin(x2:x)|2\nB|mend(x2)|2\nC|mbegin(x3:x)|x1\n"
     "C|mend(x3)|x1\n"},
    {"(2) writes of one thread stay", "A|w(x=1)|1\nA|w(x=2)|2\nC|r(x=2)|x1\n",
     "A|w(x=1)|1\nA|w(x=2)|2\nC|mbegin(x1:x)|x1\nC|mend(x1)|x1\n"},
    {"(2) not when the trace has branches", "A|w(x=2)|2\nC|r(x=2)|x1\nC|branch()|1\n",
     "A|mbegin(x1:x)|2\nA|mend(x1)|2\nC|mbegin(x2:x)|x1\nC|mend(x2)|x1\nC|branch()|1\n"},
    {"(3) a variable that is treated by its sources stays so",
     "A|r(x=1)|x1\nA|r(x=0)|1\nA|w(y=1)|2\n",
     "A|mbegin(x1:x)|x1\nA|mend(x1)|x1\nA|r(x)|1\nA|w(y=1)|2\n"},
    {"names for people stay", "#@loc 2 a.c:2\n#@var x the balance\nA|w(x=1)|2\nA|w(y=1)|x1\n",
     "#@loc 2 a.c:2\n#@var x the balance\nA|w(x=1)|2\nA|mbegin(x1:y)|x1\nA|mend(x1)|x1\n"},
    {"types stay, of variables that are left",
     "#@type x int32\n#@type z bool\n#@type y double\nA|w(x=1)|2\nA|w(z=1)|x1\nA|r(y=1)|3\n",
     "#@type x int32\n#@type y double\nA|w(x=1)|2\nA|mbegin(x1:z)|x1\nA|mend(x1)|x1\nA|r(y=1)|3\n"},
    {"values of every kind stay", "A|au(x=-1>2)|1\nA|ar(x)|2\nA|w(y=-9223372036854775808)|3\n",
     "A|au(x=-1>2)|1\nA|ar(x)|2\nA|w(y=-9223372036854775808)|3\n"},
    {"all of a trace", "A|w(x=1)|x1\nB|r(z)|x1\n",
     "A|mbegin(x1:x)|x1\nA|mend(x1)|x1\nB|mbegin(x2:z)|x1\nB|mend(x2)|x1\n"},
    {"an empty trace", "", ""},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = exclude_text(rows[i].in, false, false);
        if (strcmp(text, rows[i].out) != 0)
            fail_msg("%s:\n%s-- instead of\n%s", rows[i].name, text, rows[i].out);
        free(text);
    }
}

static void test_whole_runs(void **state)
{
    (void)state;
    char *text = exclude_text("B|w(x=5)|0\nA|w(x=1)|x1\nB|w(x=3)|1\nA|r(x=3)|x2\n", true, false);
    assert_string_equal(text, "B|w(x=5)|0\nA|mbegin(x1:x)|x1\nB|w(x=3)|1\nA|mend(x1)|x2\n");
    free(text);
}

static void test_no_calls(void **state)
{
    (void)state;
    char *text = exclude_text("A|w(x=1)|x1\nB|w(x=3)|1\nA|w(y=3)|x2\n", false, true);
    assert_string_equal(text, "B|w(x)|1\n");
    free(text);
}

static void test_counts(void **state)
{
    (void)state;
    mr_trace *trace = mr_test_read("A|acq(l)|1\nA|w(x=1)|2\nA|rel(l)|2\nB|r(x=1)|3\n", false);
    static const bool acquire[3] = {true, false, false}, middle[3] = {false, true, false};
    mr_exclude_options options = {.chosen = acquire};
    mr_exclude_counts counts;
    mr_trace_free(exclude(trace, &options, &counts));
    assert_int_equal(counts.events, 2);
    assert_int_equal(counts.locations, 2);
    assert_int_equal(counts.calls, 2);
    assert_int_equal(counts.without, 0);
    options.chosen = middle;
    mr_trace_free(exclude(trace, &options, &counts));
    assert_int_equal(counts.events, 3);
    assert_int_equal(counts.locations, 2);
    assert_int_equal(counts.calls, 1);
    assert_int_equal(counts.without, 1);
    mr_trace_free(trace);
}

/* A call whose reach set does not fit into a line is more than one call. */
static void test_long_reach(void **state)
{
    (void)state;
    enum { NAMES = 6000, NAME_BYTES = 100 };
    mr_exclude_counts counts;
    char *in = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&in, &size);
    assert_non_null(stream);
    for (int i = 0; i < 2 * NAMES; i++)
        fprintf(stream, "A|r(%0*d)|x1\n", NAME_BYTES, i % NAMES);
    fclose(stream);
    char *text = exclude_text(in, true, false);
    mr_trace *again = mr_test_read(text, false);
    assert_in_range(again->op_counts[MR_OP_CALL_BEGIN], 2, 4);
    assert_int_equal(again->reach_names.count, NAMES);
    mr_trace_free(again);
    mr_trace *trace = mr_test_read("A|r(a)|x1\nA|r(a)|x1\n", false);
    bool chosen = true;
    mr_exclude_options options = {.chosen = &chosen};
    mr_trace_free(exclude(trace, &options, &counts));
    assert_int_equal(counts.calls, 1);
    mr_trace_free(trace);
    free(text);
    free(in);
}

static void check_choice(const mr_trace *trace, const bool *chosen, const char *expected)
{
    char text[64] = "";
    for (uint32_t i = 0; i < trace->locations.count; i++)
        if (chosen[i])
            strncat(text, trace->locations.items[i].text, sizeof text - strlen(text) - 1);
    assert_string_equal(text, expected);
}

static void test_choose(void **state)
{
    (void)state;
    mr_trace *trace = mr_test_read("#@loc b lib/x.c:1\nA|r(x)|a\nA|r(x)|b\nA|r(x)|#c\nA|r(x)|\n"
                                   "A|r(x)|dd\n",
                                   false);
    static const char names[] = "dd\r\nunknown\n\n#c\nb";
    bool chosen[5] = {false};
    mr_choose_named(trace, names, strlen(names), chosen);
    check_choice(trace, chosen, "b#cdd");
    assert_false(chosen[3]);
    memset(chosen, 0, sizeof chosen);
    assert_int_equal(mr_places_match(trace, "lib/*", chosen, &(bool){0}, NULL), MR_OK);
    assert_int_equal(mr_places_match(trace, "d?", chosen, &(bool){0}, NULL), MR_OK);
    check_choice(trace, chosen, "bdd");
    for (uint32_t count = 0; count <= 7; count++) {
        uint32_t found = 0;
        memset(chosen, 0, sizeof chosen);
        assert_true(mr_choose_random(trace, count, 7, chosen));
        for (int i = 0; i < 5; i++)
            found += chosen[i];
        assert_int_equal(found, count < 5 ? count : 5);
    }
    mr_trace_free(trace);
}

/* The same seed, the same choice; and every location is chosen now and then. */
static void test_seeds(void **state)
{
    (void)state;
    mr_trace *trace = mr_test_read("A|r(x)|1\nA|r(x)|2\nA|r(x)|3\nA|r(x)|4\n", false);
    int times[4] = {0};
    for (uint64_t seed = 0; seed < 400; seed++) {
        bool one[4] = {false}, other[4] = {false};
        assert_true(mr_choose_random(trace, 1, seed, one));
        assert_true(mr_choose_random(trace, 1, seed, other));
        assert_memory_equal(one, other, sizeof one);
        for (int i = 0; i < 4; i++)
            times[i] += one[i];
    }
    for (int i = 0; i < 4; i++)
        assert_in_range(times[i], 60, 140);
    mr_trace_free(trace);
}

static void test_memory(void **state)
{
    (void)state;
    mr_trace *trace = mr_test_read("#@loc x1 name\nA|acq(l)|x1\nA|au(x=1>2)|x1\nB|aw(x=3)|1\n"
                                   "A|w(y=1)|x2\nB|mbegin(m:x,y)|3\nA|rel(l)|4\nB|mend(m)|5\n",
                                   false);
    mr_status status = MR_ERR_MEMORY;
    uint64_t n = 0;
    while (status != MR_OK) {
        bool chosen[6] = {false};
        mr_trace *remaining = NULL;
        mr_error error = {0};
        mr_memory_fail_after(++n);
        status = mr_places_match(trace, "x*", chosen, &(bool){0}, &error);
        mr_exclude_options options = {.chosen = chosen};
        if (status == MR_OK)
            status = mr_exclude(trace, &options, &remaining, NULL, &error);
        mr_memory_fail_after(0);
        assert_true(status == MR_OK ? remaining != NULL
                                    : status == MR_ERR_MEMORY && remaining == NULL);
        mr_trace_free(remaining);
        assert_in_range(n, 1, 1000);
    }
    assert_in_range(n, 15, 1000);
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),       cmocka_unit_test(test_whole_runs),
        cmocka_unit_test(test_no_calls),   cmocka_unit_test(test_counts),
        cmocka_unit_test(test_long_reach), cmocka_unit_test(test_choose),
        cmocka_unit_test(test_seeds),      cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests_name("exclude", tests, NULL, NULL);
}
