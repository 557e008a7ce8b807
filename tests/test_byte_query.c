/* Z3 on the bytes of an input, against trying all values of two bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solver/byte_query.h"
#include "support/random.h"

#include <string.h>

enum { QUESTIONS = 60, SIZE = 4 };

static mr_byte_sum random_sum(mr_byte_question *question, mr_random *random)
{
    static const uint64_t factors[] = {1, 256, 10, 100, 3, UINT64_MAX, 0x1000000};
    mr_byte_sum sum = mr_byte_sum_begin(question, mr_random_below(random, 600));
    for (uint32_t at = 0; at < 2; at++)
        if (mr_random_percent(random, 60))
            mr_byte_sum_add(question, &sum, 1 + at, factors[mr_random_below(random, 7)]);
    return sum;
}

static void make_question(mr_byte_question *question, mr_random *random)
{
    static const uint8_t bits[] = {8, 16, 32, 64};
    for (uint32_t clauses = mr_random_range(random, 1, 4); clauses; clauses--) {
        mr_byte_clause_begin(question);
        for (uint32_t atoms = mr_random_range(random, 1, 2); atoms; atoms--) {
            mr_byte_atom atom = {.left = random_sum(question, random)};
            atom.right = random_sum(question, random);
            atom.relation = (mr_byte_relation)mr_random_below(random, 4);
            atom.bits = bits[mr_random_below(random, 4)];
            mr_byte_clause_add(question, atom);
        }
    }
}

/* Byte by byte, by the definition of the header. */
static uint64_t slow_sum(const mr_byte_question *question, mr_byte_sum sum, const uint8_t *bytes,
                         unsigned bits)
{
    uint64_t value = sum.constant;
    for (uint32_t i = 0; i < sum.count; i++)
        value += question->terms[sum.first + i].factor * bytes[question->terms[sum.first + i].at];
    return bits < 64 ? value % (UINT64_C(1) << bits) : value;
}

static int64_t as_signed(uint64_t value, unsigned bits)
{
    return bits == 8    ? (int8_t)value
           : bits == 16 ? (int16_t)value
           : bits == 32 ? (int32_t)value
                        : (int64_t)value;
}

static bool slow_holds(const mr_byte_question *question, const uint8_t *bytes)
{
    for (size_t i = 0; i < question->clause_count; i++) {
        bool any = false;
        for (uint32_t k = 0; k < question->clauses[i].count; k++) {
            mr_byte_atom atom = question->atoms[question->clauses[i].first + k];
            uint64_t x = slow_sum(question, atom.left, bytes, atom.bits);
            uint64_t y = slow_sum(question, atom.right, bytes, atom.bits);
            const bool answers[] = {x == y, x != y, x < y,
                                    as_signed(x, atom.bits) < as_signed(y, atom.bits)};
            any = any || answers[atom.relation];
        }
        if (!any)
            return false;
    }
    return true;
}

static bool try_all(const mr_byte_question *question)
{
    uint8_t bytes[SIZE] = {0};
    for (unsigned value = 0; value < 1 << 16; value++) {
        bytes[1] = (uint8_t)value;
        bytes[2] = (uint8_t)(value >> 8);
        if (slow_holds(question, bytes))
            return true;
    }
    return false;
}

static void test_against_all_values(void **state)
{
    (void)state;
    mr_byte_question question = {0};
    mr_random random = {20141107};
    int found = 0;
    for (int i = 0; i < QUESTIONS; i++) {
        uint8_t bytes[SIZE] = {11, 22, 33, 44};
        mr_byte_question_clear(&question);
        make_question(&question, &random);
        mr_answer answer = mr_byte_question_solve(&question, 0, bytes, SIZE);
        assert_int_equal(answer, try_all(&question) ? MR_ANSWER_SAT : MR_ANSWER_UNSAT);
        found += answer == MR_ANSWER_SAT;
        assert_true(answer != MR_ANSWER_SAT || slow_holds(&question, bytes));
        assert_int_equal(bytes[0], 11); /* nobody names them */
        assert_int_equal(bytes[3], 44);
    }
    assert_in_range(found, QUESTIONS / 5, QUESTIONS * 4 / 5);
    mr_byte_question_free(&question);
}

/* The text "0417" as a number is to be 1234, its first constraint that the last byte is a digit. */
static void test_decimal(void **state)
{
    (void)state;
    mr_byte_question question = {0};
    uint8_t bytes[] = "x0417y";
    for (uint32_t at = 1; at < 5; at++) {
        mr_byte_atom atom = {.relation = MR_BYTES_BELOW, .bits = 8};
        atom.left = mr_byte_sum_begin(&question, (uint64_t) - '0');
        mr_byte_sum_add(&question, &atom.left, at, 1);
        atom.right = mr_byte_sum_begin(&question, 10);
        mr_byte_clause_begin(&question);
        mr_byte_clause_add(&question, atom);
    }
    mr_byte_atom atom = {.relation = MR_BYTES_EQUAL, .bits = 32};
    atom.left = mr_byte_sum_begin(&question, (uint64_t)-48 * 1111);
    for (uint32_t at = 1, factor = 1000; at < 5; at++, factor /= 10)
        mr_byte_sum_add(&question, &atom.left, at, factor);
    atom.right = mr_byte_sum_begin(&question, 1234);
    mr_byte_clause_begin(&question);
    mr_byte_clause_add(&question, atom);
    assert_int_equal(mr_byte_question_solve(&question, 10000000, bytes, 6), MR_ANSWER_SAT);
    assert_string_equal((char *)bytes, "x1234y");
    mr_byte_question_free(&question);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_all_values),
        cmocka_unit_test(test_decimal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
