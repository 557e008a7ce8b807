/* The search for inputs: does it find those that programs made for this ask for, and in how many tries?
 * The programs are functions here, which tell what they compare as the runtime would. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hunt/inputs/inputs.h"

#include <stdlib.h>
#include <string.h>

enum { LOG_MOST = 4096 };

typedef struct run {
    const uint8_t *bytes;
    size_t size;
    mr_compared log[LOG_MOST];
    size_t count;
} run;

static bool number(run *r, uint64_t place, mr_operand_kind_of kind, unsigned width, uint64_t a,
                   uint64_t b)
{
    uint64_t mask = width == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * width) - 1;
    if (r->count < LOG_MOST)
        r->log[r->count++] = (mr_compared){.place = place,
                                           .kind = (uint8_t)kind,
                                           .bytes = (uint8_t)width,
                                           .other = (uint8_t)width,
                                           .numbers = {a & mask, b & mask}};
    return (a & mask) == (b & mask);
}

static bool is(run *r, uint64_t place, unsigned width, uint64_t value, uint64_t constant)
{
    return number(r, place, MR_OPERAND_CONSTANT, width, value, constant);
}

static bool below(run *r, uint64_t place, unsigned width, uint64_t value, uint64_t constant)
{
    number(r, place, MR_OPERAND_CONSTANT, width, value, constant);
    return value < constant;
}

static bool text(run *r, uint64_t place, const char *a, const char *b)
{
    mr_compared *item = &r->log[r->count++];
    size_t sizes[2] = {strlen(a) + 1, strlen(b) + 1};
    assert_true(r->count < LOG_MOST);
    *item = (mr_compared){.place = place,
                          .kind = MR_OPERAND_TEXT,
                          .bytes = (uint8_t)(sizes[0] < 32 ? sizes[0] : 32),
                          .other = (uint8_t)(sizes[1] < 32 ? sizes[1] : 32),
                          .numbers = {sizes[0], sizes[1]}};
    memcpy(item->texts[0], a, item->bytes);
    memcpy(item->texts[1], b, item->other);
    return strcmp(a, b) == 0;
}

static uint64_t byte_at(const run *r, size_t at)
{
    return at < r->size ? r->bytes[at] : 0;
}

static uint64_t little(const run *r, size_t at, unsigned width)
{
    uint64_t value = 0;
    for (unsigned i = width; i-- > 0;)
        value = value << 8 | byte_at(r, at + i);
    return value;
}

static uint64_t big(const run *r, size_t at, unsigned width)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < width; i++)
        value = value << 8 | byte_at(r, at + i);
    return value;
}

/* ---- the programs: true where they are to be brought ---- */

static bool magic(run *r)
{
    return is(r, 1, 4, little(r, 3, 4), 0xdeadbeef) && is(r, 2, 2, big(r, 7, 2), 0x1234) &&
           is(r, 3, 8, little(r, 9, 8), UINT64_C(0x0123456789abcdef));
}

static uint64_t parse(const run *r, size_t at)
{
    uint64_t value = 0;
    bool minus = byte_at(r, at) == '-';
    for (at += minus; byte_at(r, at) >= '0' && byte_at(r, at) <= '9'; at++)
        value = value * 10 + (byte_at(r, at) - '0');
    return minus ? 0 - value : value;
}

static bool decimal(run *r)
{
    return is(r, 1, 4, parse(r, 0), 4711000);
}

static bool negative(run *r)
{
    return is(r, 1, 4, parse(r, 2), 0xfffffff9); /* -7 */
}

static bool words(run *r)
{
    char copy[2][64] = {"", ""};
    size_t word = 0, at = 0;
    for (size_t i = 0; i < r->size && word < 2 && at < 63; i++) {
        if (r->bytes[i] == ' ')
            word++, at = 0;
        else
            copy[word][at++] = (char)r->bytes[i], copy[word][at] = '\0';
    }
    return text(r, 1, copy[0], "transfer") && text(r, 2, copy[1], "savings");
}

static bool cases(run *r)
{
    static const uint64_t of[] = {'a', 'q', 0x7f, 200};
    bool found = false;
    for (int i = 0; i < 4; i++)
        found = number(r, 1, MR_OPERAND_CASE, 1, byte_at(r, 2), of[i]) && of[i] == 200;
    return found && is(r, 2, 1, byte_at(r, 0), '{');
}

/* No operand stands in the input: only probes tell. */
static bool check_sum(run *r)
{
    uint64_t sum = 7;
    for (size_t i = 0; i < r->size && i < 8; i++)
        sum += 3 * r->bytes[i];
    return is(r, 1, 1, byte_at(r, 0), 'A') && is(r, 2, 4, sum, 3001);
}

/* The conditions before it must stay: each of them alone is easy. */
static bool path(run *r)
{
    uint64_t x = little(r, 1, 2), y = little(r, 3, 2);
    return !below(r, 1, 4, x, 1001) && below(r, 2, 4, x, 1017) && !below(r, 3, 4, y, x + 5) &&
           is(r, 4, 4, 2 * x + y, 3 * 1010 + 7);
}

static bool length(run *r)
{
    return is(r, 1, 8, r->size, 13) && is(r, 2, 1, byte_at(r, 12), 'z');
}

static bool never(run *r)
{
    uint64_t x = byte_at(r, 0);
    return below(r, 1, 4, x, 5) && !below(r, 2, 4, x, 10);
}

static const struct {
    const char *name;
    bool (*program)(run *r);
    const char *first; /* input, of `size` bytes */
    size_t size;
    uint32_t most;  /* tries */
    bool is_chance; /* mutations alone may find it */
} programs[] = {
    {"magic", magic, "0123456789abcdefghij", 20, 120, false},
    {"decimal", decimal, "12", 2, 40, false},
    {"negative", negative, "x:55;", 5, 40, false},
    {"words", words, "hello world", 11, 60, false},
    {"cases", cases, "01234", 5, 60, true},
    {"check_sum", check_sum, "BBBBBBBB", 8, 60, false},
    {"path", path, "abcdefg", 7, 120, false},
    {"length", length, "12345678", 8, 60, false},
};

enum { PROGRAMS = sizeof programs / sizeof *programs };

/* The tries until the program is where it is to be; `most` + 1: it never was. */
static uint32_t search(size_t program, bool solves, uint64_t seed, uint32_t most)
{
    mr_inputs_settings settings = {
        .seed = seed, .most_bytes = 64, .solves = solves, .mutates = true};
    mr_inputs *inputs = mr_inputs_new(&settings);
    run *r = calloc(1, sizeof *r);
    uint32_t tries = 0;
    bool found = false;
    assert_true(inputs && r);
    assert_true(
        mr_inputs_add(inputs, (const uint8_t *)programs[program].first, programs[program].size));
    while (!found && tries < most) {
        mr_input_try next;
        bool is_new;
        assert_true(mr_inputs_next(inputs, &next));
        assert_in_range(next.size, 0, 64);
        tries++;
        r->bytes = next.bytes;
        r->size = next.size;
        r->count = 0;
        found = programs[program].program(r);
        const mr_input_seen seen = {.comparisons = r->log, .comparison_count = r->count};
        assert_true(mr_inputs_feedback(inputs, next.number, &seen, &is_new));
        assert_true(is_new || tries > 1); /* the first one is always kept */
    }
    free(r);
    mr_inputs_free(inputs);
    return found ? tries : most + 1;
}

static void test_programs(void **state)
{
    (void)state;
    for (size_t i = 0; i < PROGRAMS; i++) {
        for (uint64_t seed = 1; seed <= 2; seed++) {
            uint32_t tries = search(i, true, seed, 2000);
            if (tries > programs[i].most)
                fail_msg("%s, seed %d: %u tries", programs[i].name, (int)seed, tries);
            if (seed == 1)
                print_message("  %s: %u tries\n", programs[i].name, tries);
        }
        if (!programs[i].is_chance)
            assert_true(search(i, false, 1, programs[i].most) > programs[i].most);
    }
}

/* What cannot be is not found, and the search goes on. */
static void test_never(void **state)
{
    (void)state;
    mr_inputs *inputs = mr_inputs_new(&(mr_inputs_settings){.solves = true, .mutates = true});
    run *r = calloc(1, sizeof *r);
    assert_true(inputs && r && mr_inputs_add(inputs, (const uint8_t *)"x", 1));
    for (int i = 0; i < 200; i++) {
        mr_input_try next;
        bool is_new;
        assert_true(mr_inputs_next(inputs, &next));
        *r = (run){.bytes = next.bytes, .size = next.size};
        assert_false(never(r));
        const mr_input_seen seen = {.comparisons = r->log, .comparison_count = r->count};
        assert_true(mr_inputs_feedback(inputs, next.number, &seen, &is_new));
    }
    assert_in_range(mr_inputs_corpus_count(inputs), 2, 20);
    free(r);
    mr_inputs_free(inputs);
}

/* Several are out at a time, answers come in another order, some never; no bytes come twice; and the
 * same again gives the same. */
static void test_out_of_order(void **state)
{
    (void)state;
    enum { OUT = 5, ROUNDS = 120 };
    uint64_t sums[2] = {0, 0};
    for (int again = 0; again < 2; again++) {
        mr_inputs *inputs =
            mr_inputs_new(&(mr_inputs_settings){.seed = 9, .solves = true, .mutates = true});
        run *r = calloc(1, sizeof *r);
        struct {
            uint8_t *bytes;
            size_t size;
        } *all = calloc(OUT * ROUNDS, sizeof *all);
        size_t count = 0;
        assert_true(inputs && r && all);
        assert_true(mr_inputs_add(inputs, (const uint8_t *)"abcdefghijklm", 13));
        assert_true(mr_inputs_add(inputs, (const uint8_t *)"abcdefghijklm", 13)); /* dropped */
        for (int round = 0; round < ROUNDS; round++) {
            mr_input_try out[OUT];
            int given = 0;
            while (given < OUT && mr_inputs_next(inputs, &out[given])) {
                all[count].size = out[given].size;
                all[count].bytes = malloc(out[given].size + 1);
                memcpy(all[count].bytes, out[given].bytes, out[given].size);
                for (size_t i = 0; i < out[given].size; i++)
                    sums[again] = sums[again] * 31 + out[given].bytes[i];
                for (size_t i = 0; i < count; i++)
                    assert_true(all[i].size != all[count].size ||
                                memcmp(all[i].bytes, all[count].bytes, all[i].size) != 0);
                count++;
                given++;
            }
            assert_int_equal(given, round == 0 ? 1 : OUT);
            while (given-- > 0) {
                bool is_new;
                if (round % 7 == 6 && given == 2)
                    continue; /* its run came to nothing */
                *r = (run){.bytes = out[given].bytes, .size = out[given].size};
                path(r);
                const mr_input_seen seen = {.comparisons = r->log, .comparison_count = r->count};
                assert_true(mr_inputs_feedback(inputs, out[given].number, &seen, &is_new));
            }
        }
        for (size_t i = 0; i < count; i++)
            free(all[i].bytes);
        free(all);
        free(r);
        mr_inputs_free(inputs);
    }
    assert_true(sums[0] == sums[1]);
}

/* What covers something keeps its input; nothing new does not. */
static void test_coverage(void **state)
{
    (void)state;
    mr_inputs *inputs = mr_inputs_new(&(mr_inputs_settings){.mutates = true});
    const uint64_t keys[] = {10, 20, 30};
    mr_input_try next;
    bool is_new;
    assert_non_null(inputs);
    assert_false(mr_inputs_next(inputs, &next)); /* nothing was added */
    for (uint8_t i = 0; i < 4; i++)
        assert_true(mr_inputs_add(inputs, &i, 1));
    const size_t counts[] = {2, 2, 3, 1};
    for (int i = 0; i < 4; i++) {
        assert_true(mr_inputs_next(inputs, &next));
        assert_int_equal(next.why, MR_INPUT_WHY_GIVEN);
        assert_int_equal(next.bytes[0], i);
        const mr_input_seen seen = {.keys = keys, .key_count = counts[i]};
        assert_true(mr_inputs_feedback(inputs, next.number, &seen, &is_new));
        assert_int_equal(is_new, i == 0 || i == 2);
    }
    assert_int_equal(mr_inputs_corpus_count(inputs), 2);
    assert_int_equal(mr_inputs_corpus_at(inputs, 1).bytes[0], 2);
    assert_true(mr_inputs_next(inputs, &next));
    assert_int_equal(next.why, MR_INPUT_WHY_MUTATED);
    mr_inputs_free(inputs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs),
        cmocka_unit_test(test_never),
        cmocka_unit_test(test_out_of_order),
        cmocka_unit_test(test_coverage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
