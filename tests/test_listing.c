/* Findings: patterns and files of suppressions, groups, fingerprints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "listing/listing.h"
#include "listing/match.h"
#include "listing/place.h"
#include "support/sample.h"
#include "support/scratch.h"
#include "trace/columns.h"

#include <stdlib.h>
#include <string.h>

static void test_match(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool matches;
    } rows[] = {
        {"foo", "foo", true},
        {"foo", "a foo b", true},
        {"foo", "fo", false},
        {"", "foo", true},
        {"foo", "", false},
        {"*", "", false},
        {"^foo", "foobar", true},
        {"^foo", "a foo", false},
        {"foo$", "a foo", true},
        {"foo$", "foobar", false},
        {"^foo$", "foo", true},
        {"^foo$", "foofoo", false},
        {"f*o", "xf..o", true},
        {"f*o", "of", false},
        {"^f*z$", "fooz", true},
        {"^f*z$", "fozo", false},
        {"^*foo", "a foo", true},
        {"foo*$", "foobar", true},
        {"a*b*c", "a1b2c3", true},
        {"a*b*c", "a1c2b3", false},
        /* Each part at its first occurrence: the rest is then not at the end. */
        {"foo$", "foofoo", false},
        {"*.c$", "x.cc", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (mr_match(rows[i].pattern, rows[i].text) != rows[i].matches)
            fail_msg("'%s' on '%s'", rows[i].pattern, rows[i].text);
}

static void test_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *file;
        uint32_t line, column;
    } rows[] = {
        {"a.c:7:64", "a.c", 7, 64},
        {"a.c:7", "a.c", 7, 0},
        {"dir/a.c:12:3", "dir/a.c", 12, 3},
        {"345", "345", 0, 0},
        {"", "", 0, 0},
        {":7", ":7", 0, 0},
        {"libx.so+0x1f", "libx.so", 0, 0},
        {"a+b.c", "a+b.c", 0, 0},
        {"a:b:3", "a:b", 3, 0},
        {"a.c:", "a.c:", 0, 0},
        {"stl_vector.h:1043:34 < bank.cpp:30:7", "bank.cpp", 30, 7},
        {"libx.so+0x1f < a.c:7", "a.c", 7, 0},
        {"if (a < b)", "if (a < b)", 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mr_place place = mr_place_parse(rows[i].text, strlen(rows[i].text));
        if (place.file_length != strlen(rows[i].file) ||
            memcmp(place.file, rows[i].file, place.file_length) != 0 ||
            place.line != rows[i].line || place.column != rows[i].column)
            fail_msg("%s", rows[i].text);
    }
}

static void test_function_short(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"std::vector<int>::push_back", "std::vector<int>::push_back"},
        {"std::vector<std::pair<int, long>, std::allocator<std::pair<int, long> > >::push_back",
         "std::vector<...>::push_back"},
        {"a::very::long::name::that::reaches::beyond::the::sixty::bytes::and::has::none::of::them",
         "a::very::long::name::that::reaches::beyond::the::sixty::bytes::and::has::none::of::them"},
        {"std::operator<< <std::char_traits<char>, a_rather_long_name_of_an_allocator<char> >",
         "std::operator<< <...>"},
        {"holder<decltype (std::declval<some_pointer>()->member), other_argument>::operator-><int>",
         "holder<...>::operator-><int>"},
        {"broken<std::pair<int, long>, std::allocator<std::pair<int, long, and so on, no end",
         "broken<...>"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *made = mr_function_short(rows[i][0], (uint32_t)strlen(rows[i][0]));
        assert_string_equal(made, rows[i][1]);
        free(made);
    }
}

/* ---- a trace with stacks ---- */

/* T0 starts T1; both access a[1], a[2] and b: push in T1, reset (called by main) in T0. */
static const char text[] = "T0|fork(T1)|m.c:1\n"
                           "T1|w(a[1]=1)|q.c:10:1\nT1|w(a[2]=1)|q.c:10:1\nT1|w(b=1)|q.c:11:1\n"
                           "T0|w(a[1]=2)|q.c:20:1\nT0|w(a[2]=2)|q.c:20:1\nT0|r(b=1)|q.c:21:1\n";
enum { EVENTS = 7, STACKS = 5 };

typedef struct setting {
    mr_trace *trace;
    mr_config *config;
    mr_race races[3];
    mr_result result;
    mr_listing findings;
} setting;

typedef struct code {
    const char *frames[4]; /* of fork; of T1: inner, outer; of T0 */
} code;

static const code usual = {
    {"main\tm.c:1:1", "push\tq.c:10:1", "producer\tp.c:5:1", "reset\tlibq.so+1f"}};

/* Everything is owned by the setting. */
static void make(setting *self, const char *trace, const code *names)
{
    static const uint32_t frame_of[STACKS] = {0, 0, 2, 1, 3}, caller[STACKS] = {0, 0, 0, 2, 1};
    uint32_t number;
    memset(self, 0, sizeof *self);
    self->trace = mr_sample_trace(trace);
    self->config = mr_config_new();
    assert_non_null(self->trace);
    assert_non_null(self->config);
    assert_int_equal(mr_columns_reserve_stacks(self->trace, EVENTS, NULL), MR_OK);
    self->trace->stacks = calloc(STACKS, sizeof *self->trace->stacks);
    for (int i = 0; i < 4; i++)
        assert_true(mr_names_add(&self->trace->frames, names->frames[i],
                                 (uint32_t)strlen(names->frames[i]), &number));
    self->trace->stack_count = STACKS;
    for (uint32_t i = 1; i < STACKS; i++)
        self->trace->stacks[i] = (mr_stack){caller[i], frame_of[i]};
    static const uint32_t stacks[EVENTS] = {1, 3, 3, 3, 4, 4, 4};
    memcpy(self->trace->stack, stacks, sizeof stacks);
    for (uint32_t i = 0; i < 3; i++)
        self->races[i].witness = (mr_witness){.first = 1 + i, .second = 4 + i};
    self->result = (mr_result){.races = self->races, .race_count = 3};
}

static void discard(setting *self)
{
    mr_listing_free(&self->findings);
    mr_config_free(self->config);
    mr_trace_free(self->trace);
}

static mr_status find(setting *self, mr_error *error)
{
    return mr_listing_make(&self->findings, self->trace, self->config, &self->result, error);
}

/* The write-write races on the elements of the array are one group, before that of the read. */
static void test_groups(void **state)
{
    (void)state;
    setting self;
    mr_error error;
    make(&self, text, &usual);
    assert_int_equal(find(&self, &error), MR_OK);
    const mr_listing *found = &self.findings;
    assert_int_equal(found->count, 3);
    assert_int_equal(found->group_count, 2);
    assert_int_equal(found->groups[0].count, 2);
    assert_int_equal(found->groups[1].first, 2);
    assert_int_equal(found->items[2].index, 2);
    assert_ptr_equal(found->of_race[2], &found->items[2]);
    char *title = mr_listed_title(&found->items[0], found, self.trace);
    /* reset is in a library, main has called it. */
    assert_string_equal(title, "race on a[1] between push and main");
    assert_string_equal(mr_listed_place(&found->items[0], self.trace), "q.c:10:1");
    free(title);
    discard(&self);
}

/* Races of 12 places with one, on x, and two on y: the groups know how many there are. */
static void test_ranks(void **state)
{
    (void)state;
    enum { PLACES = 12 };
    char trace[1000] = "B|w(x=0)|0\nB|w(y=0)|1\n";
    setting self = {.config = mr_config_new()};
    mr_race races[PLACES + 2];
    mr_error error;
    for (int i = 0; i < PLACES + 2; i++) {
        size_t used = strlen(trace);
        bool on_y = i == 3 || i == 7;
        snprintf(trace + used, sizeof trace - used, "A|w(%s=1)|%d\n", on_y ? "y" : "x", 100 + i);
        races[i] = (mr_race){.witness = {.first = on_y, .second = 2 + (uint32_t)i}};
    }
    self.trace = mr_sample_trace(trace);
    self.result = (mr_result){.races = races, .race_count = PLACES + 2};
    assert_int_equal(find(&self, &error), MR_OK);
    assert_int_equal(self.findings.group_count, PLACES + 2);
    size_t on_x = 0, on_y = 0;
    for (size_t i = 0; i < self.findings.group_count; i++) {
        const mr_listed_group *group = &self.findings.groups[i];
        const mr_listed *finding = &self.findings.items[group->first];
        bool is_y = strcmp(mr_listed_subject(finding, self.trace), "y") == 0;
        size_t rank = is_y ? on_y++ : on_x++, of = is_y ? 2 : PLACES;
        assert_int_equal(group->rank, rank);
        assert_int_equal(group->groups_behind, of - 1 - rank);
        assert_int_equal(group->findings_behind, of - 1 - rank);
    }
    assert_true(on_x == PLACES && on_y == 2);
    discard(&self);
}

static uint64_t fingerprint_of(const char *trace, const code *names)
{
    setting self;
    mr_error error;
    make(&self, trace, names);
    assert_int_equal(find(&self, &error), MR_OK);
    uint64_t fingerprint = self.findings.of_race[0]->fingerprint;
    discard(&self);
    return fingerprint;
}

/* A fingerprint survives moved lines, and tells apart variables, functions and operations. */
static void test_fingerprint(void **state)
{
    (void)state;
    static const char moved[] = "T0|fork(T1)|m.c:9\n"
                                "T1|w(a[7]=1)|q.c:33:4\nT1|w(a[2]=1)|q.c:9:1\nT1|w(b=1)|q.c:9:1\n"
                                "T0|w(a[7]=2)|q.c:44:5\nT0|w(a[2]=2)|q.c:9:1\nT0|r(b=1)|q.c:9:1\n";
    static const code moved_code = {
        {"main\tm.c:8:1", "push\tq.c:33:4", "producer\tp.c:9:1", "reset\tlibq.so+2e"}};
    static const code other_code = {
        {"main\tm.c:1:1", "put\tq.c:10:1", "producer\tp.c:5:1", "reset\tlibq.so+1f"}};
    char other[sizeof text], read[sizeof text];
    memcpy(other, text, sizeof text);
    for (char *at = other; (at = strstr(at, "a[1]")) != NULL;)
        *at = 'c';
    memcpy(read, text, sizeof text);
    memcpy(strstr(read, "w(a[1]=2)"), "r(a[1]=1)", 9);
    uint64_t usual_one = fingerprint_of(text, &usual);
    assert_true(fingerprint_of(moved, &moved_code) == usual_one);
    assert_true(fingerprint_of(text, &other_code) != usual_one);
    assert_true(fingerprint_of(other, &usual) != usual_one);
    assert_true(fingerprint_of(read, &usual) != usual_one);
}

/* How many findings are left with the one suppression. */
static void test_rules(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        size_t left;
    } rows[] = {
        {"race:push", 0},
        {"race:^producer$", 0},
        {"race:q.c", 0},
        {"race:libq", 0},
        {"race:main", 0}, /* the caller of reset, and the start of T1 */
        {"race:^b$", 2},
        {"race:a[*]", 1},
        {"race:nothing", 3},
        {"race_top:push", 0},
        {"race_top:producer", 3},
        {"race_top:^b$", 3},
        {"race_top:main", 0}, /* the top of where T1 was started */
        {"called_from_lib:libq.so", 0},
        {"called_from_lib:q.c", 3},
        {"mutex:push", 3},
        {"deadlock:push", 3},
        {"thread:push", 3},
        {"signal:push", 3},
        {"  race:push  ", 0},
        {"# race:push", 3},
    };
    mr_scratch scratch;
    char path[512];
    mr_scratch_make(&scratch);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        setting self;
        mr_error error = {0};
        make(&self, text, &usual);
        mr_scratch_write(&scratch, "rules", rows[i].line, path);
        assert_int_equal(mr_config_set(self.config, "suppressions", path, NULL, 0, NULL), MR_OK);
        assert_int_equal(find(&self, &error), MR_OK);
        if (self.findings.count != rows[i].left)
            fail_msg("%s: %zu left", rows[i].line, self.findings.count);
        assert_int_equal(self.findings.suppressed_count, 3 - rows[i].left);
        if (self.findings.suppressions.count > 0)
            assert_int_equal(self.findings.suppressions.items[0].count, 3 - rows[i].left);
        discard(&self);
    }
    mr_scratch_remove(&scratch);
}

static void test_bad_files(void **state)
{
    (void)state;
    static const struct {
        const char *key, *content;
        uint64_t line;
        const char *part;
    } rows[] = {
        {"suppressions", "race:a\n\nrace b\n", 3, "'race b' is no suppression"},
        {"suppressions", "leak:a\n", 1, "'leak:a' is no suppression"},
        {"baseline", "{", 0, "cannot read the baseline: "},
        {"baseline", "{\"traces\":[]}", 0, "no report of 'predict', 'merge' or 'run' in JSON"},
    };
    mr_scratch scratch;
    char path[512];
    mr_scratch_make(&scratch);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mr_config *config = mr_config_new();
        mr_error error = {0};
        mr_scratch_write(&scratch, "file", rows[i].content, path);
        assert_int_equal(mr_config_set(config, rows[i].key, path, NULL, 0, NULL), MR_OK);
        assert_int_equal(mr_listing_check(config, &error), MR_ERR_CONFIG);
        assert_string_equal(error.file, path);
        assert_int_equal(error.line, rows[i].line);
        if (!strstr(error.text, rows[i].part))
            fail_msg("%s", error.text);
        assert_int_equal(mr_config_set(config, rows[i].key, "/nowhere/file", NULL, 0, NULL), MR_OK);
        assert_int_equal(mr_listing_check(config, &error), MR_ERR_CONFIG);
        mr_config_free(config);
    }
    mr_scratch_remove(&scratch);
}

static void test_no_memory(void **state)
{
    (void)state;
    mr_scratch scratch;
    char path[512];
    mr_error error;
    mr_status status = MR_ERR_MEMORY;
    mr_scratch_make(&scratch);
    mr_scratch_write(&scratch, "rules", "race:^b$\n", path);
    for (uint64_t n = 1; status != MR_OK; n++) {
        setting self;
        make(&self, text, &usual);
        assert_int_equal(mr_config_set(self.config, "suppressions", path, NULL, 0, NULL), MR_OK);
        mr_memory_fail_after(n);
        status = find(&self, &error);
        mr_memory_fail_after(0);
        assert_true(status == MR_OK || status == MR_ERR_MEMORY);
        discard(&self);
    }
    mr_scratch_remove(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_match),          cmocka_unit_test(test_place),
        cmocka_unit_test(test_function_short), cmocka_unit_test(test_groups),
        cmocka_unit_test(test_ranks),          cmocka_unit_test(test_fingerprint),
        cmocka_unit_test(test_rules),          cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
